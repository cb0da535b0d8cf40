-- The result of a shard.
--   format, identity (of the bundle), shard, machine, digest (of the other tables)
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL -- JSON
) STRICT, WITHOUT ROWID;

-- Test cases and re-seedings, numbered as in a journal, that were run on all the mutants that they are to run on.
CREATE TABLE units (
    test_case INTEGER PRIMARY KEY,
    runs BLOB NOT NULL -- as a blob in a journal
) STRICT;

-- One row with the reasons that runs name, which may be longer than the runs.
CREATE TABLE reasons (
    texts BLOB NOT NULL -- a JSON object of texts by their numbers, in the zlib format
) STRICT;
