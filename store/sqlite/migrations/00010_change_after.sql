-- The changes that have to be applied before one is.
CREATE TABLE change_after (
  id    TEXT NOT NULL,
  other TEXT NOT NULL,
  PRIMARY KEY (id, other)
) STRICT, WITHOUT ROWID;
