-- The result of a shard.
--   format, identity (of the bundle), shard, machine, digest (of the other tables)
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL -- JSON
) STRICT, WITHOUT ROWID;

-- Test cases and re-seedings, numbered as in a journal, that were run on all the mutants that they are to run on.
CREATE TABLE units (
    test_case INTEGER PRIMARY KEY,
    runs BLOB NOT NULL -- as in a journal, packed
) STRICT;

-- The reasons that runs name.
CREATE TABLE reasons (
    number INTEGER PRIMARY KEY,
    text TEXT NOT NULL
) STRICT;
