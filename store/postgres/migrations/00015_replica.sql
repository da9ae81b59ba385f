-- What each process that uses this store has in force. A row that is old is of a process that has ended. It isn't logged: a crash of the
-- database forgets what the next seconds bring again.
CREATE UNLOGGED TABLE bailiwick.replica (
  id      text COLLATE "C" PRIMARY KEY,
  name    text NOT NULL,
  rules   text NOT NULL,
  key     text NOT NULL,               -- an identifier of the key that signs the audit
  program text NOT NULL,
  clock   bigint NOT NULL,             -- microseconds by which its clock is ahead of the clock of this database
  seen    timestamptz NOT NULL
)
