-- What each process that uses this file has in force. A row that is old is of a process that has ended.
CREATE TABLE replica (
  id      TEXT NOT NULL PRIMARY KEY,
  name    TEXT NOT NULL,
  rules   TEXT NOT NULL,
  key     TEXT NOT NULL,              -- an identifier of the key that signs the audit
  program TEXT NOT NULL,
  clock   INTEGER NOT NULL,           -- microseconds by which its clock is ahead
  seen    INTEGER NOT NULL            -- microseconds since 1970 UTC
) STRICT, WITHOUT ROWID;
