-- Summaries of the audit, for searches and sums. A row has what they need of 2,048 records, and the hash of the last one.
-- Both tables can be emptied at any time: they are written again from the audit, which alone is authoritative.

CREATE TABLE audit_block (
  number INTEGER PRIMARY KEY,         -- its records are 2048 * number + 1 to 2048 * (number + 1)
  hash   BLOB NOT NULL,               -- of the last of these records, or x'' if it is in an archive
  first  INTEGER NOT NULL,            -- the first and the last time of its records
  last   INTEGER NOT NULL,
  body   BLOB NOT NULL
) STRICT;

-- The words of a block: a letter for the kind, and a name in lower case.
CREATE TABLE audit_word (word TEXT NOT NULL, block INTEGER NOT NULL, PRIMARY KEY (word, block)) STRICT, WITHOUT ROWID;

-- The words of audit_word in which parts are found.
CREATE TABLE audit_name (word TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE INDEX audit_word_block ON audit_word (block);
