-- Settings of the campaign and what it noted once: key, and value as JSON.
--   format_version, system, package, seed, cases, source_hash, memory_bytes, baseline_steps, baseline_events, pruning,
--   hang_ns, sites (the source, its requirements and mutants), criteria (black-box), trace_criteria (names), limits (of runs on mutants),
--   fingerprint (of the source, by function), identity (of a campaign that was prepared for shards), kept_limits, kept_reseeding_limits (of the runs that are kept),
--   kept_criteria (of the recordings that are kept), cost (the cost oracle, and whether its kills count as kills), rounds (of re-seedings: how many were asked for, how many were drawn, what is chance in a test case), adopted (the test cases whose recordings were kept, until a sample of them has been checked).
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The universe, or before it is drawn (there are no criteria then) that of before an edit. All rows come in one transaction.
-- Re-seedings follow: of n test cases, re-seeding k of number i is number k * n + i, here and in all other tables.
CREATE TABLE cases (
    number INTEGER PRIMARY KEY,
    input TEXT NOT NULL -- JSON, in the system's own form
) STRICT;

-- What the original did on a test case. A test case is recorded when its row is here; its coverage came with it.
CREATE TABLE recordings (
    test_case INTEGER PRIMARY KEY REFERENCES cases,
    events INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    virtual_time_ns INTEGER NOT NULL,
    digest INTEGER NOT NULL, -- of the events
    memory_bytes INTEGER NOT NULL, -- the most that was in use
    entered INTEGER NOT NULL, -- the functions that were called: number n is bit n % 64
    reached BLOB NOT NULL, -- a bit for each mutant
    infected BLOB NOT NULL, -- a bit for each mutant
    messages INTEGER, -- packets that it sent; null if a release recorded it that did not count them
    late_faults INTEGER -- faults of the test case that come after its end; null in the same way
) STRICT;

CREATE TABLE coverage (
    test_case INTEGER NOT NULL REFERENCES cases,
    criterion INTEGER NOT NULL, -- 0 all-blocks, 1 all-branches, then the system's own
    covered BLOB NOT NULL, -- a bit for each requirement
    PRIMARY KEY (test_case, criterion)
) STRICT, WITHOUT ROWID;

-- Requirements of the criteria that look at traces: what at least one test case covers, or did before an edit.
CREATE TABLE labels (
    number INTEGER PRIMARY KEY,
    criterion INTEGER NOT NULL, -- in the order of trace_criteria
    text TEXT NOT NULL,
    UNIQUE (criterion, text)
) STRICT;

-- What the original covered of them on a test case. The row came with that of its recording.
CREATE TABLE traced (
    test_case INTEGER PRIMARY KEY REFERENCES cases,
    labels BLOB NOT NULL -- their numbers, four bytes each, the lowest byte first
) STRICT;

-- Test cases that were run on all the mutants that they are to run on, with these runs: in JSON, an array of arrays, one for each mutant in
-- ascending order. Its numbers are what the columns of the view executions are made of, in their order; causes are
-- numbered from 1 on.
CREATE TABLE units (
    test_case INTEGER PRIMARY KEY REFERENCES cases,
    executions INTEGER NOT NULL, -- how many
    runs ANY NOT NULL -- text; or a blob, packed: the same numbers, seven bits a byte (LEB128), in the zlib format (RFC 1950)
) STRICT;

-- Runs from before an edit of the source, or before the universe grew, that are the same after it, as far as is known: they have the new numbers,
-- and go to units when their test cases are finished.
CREATE TABLE kept (
    test_case INTEGER PRIMARY KEY,
    digest INTEGER NOT NULL, -- of the original's events then
    runs TEXT NOT NULL -- as in units
) STRICT;

-- No two texts are the same, of which whoever adds one makes sure: an index of them would be as large as they are.
CREATE TABLE reasons (
    number INTEGER PRIMARY KEY,
    text TEXT NOT NULL
) STRICT;
