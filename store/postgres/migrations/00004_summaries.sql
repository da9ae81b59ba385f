-- Summaries of the audit, for searches and sums. A row has what they need of 2,048 records, and the hash of the last one.
-- Both tables can be emptied at any time: they are written again from the audit, which alone is authoritative.

CREATE TABLE bailiwick.audit_block (
  number bigint PRIMARY KEY,          -- its records are 2048 * number + 1 to 2048 * (number + 1)
  hash   bytea NOT NULL,              -- of the last of these records, or '' if it is in an archive
  first  bigint NOT NULL,             -- the first and the last time of its records, in microseconds since 1970
  last   bigint NOT NULL,
  body   bytea NOT NULL
)

ALTER TABLE bailiwick.audit_block ALTER COLUMN body SET STORAGE EXTERNAL

-- The words of a block: a letter for the kind, and a name in lower case.
CREATE TABLE bailiwick.audit_word (word text COLLATE "C" NOT NULL, block bigint NOT NULL, PRIMARY KEY (word, block))

CREATE INDEX audit_word_block ON bailiwick.audit_word (block)

-- The words of audit_word in which parts are found.
CREATE TABLE bailiwick.audit_name (word text COLLATE "C" PRIMARY KEY)
