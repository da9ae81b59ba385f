CREATE TABLE token (
  id       TEXT PRIMARY KEY,
  prefix   TEXT NOT NULL UNIQUE,
  hash     BLOB NOT NULL,             -- SHA-256 of the token
  name     TEXT NOT NULL,
  kind     TEXT NOT NULL,
  owner    TEXT NOT NULL,
  tenant   TEXT NOT NULL,
  scopes   TEXT NOT NULL,             -- separated by spaces
  tools    TEXT NOT NULL,             -- JSON {only, except}
  classes  TEXT NOT NULL,             -- JSON {only, except}
  filters  TEXT NOT NULL,             -- JSON: class to the text of a where object
  ips      TEXT NOT NULL,             -- CIDR ranges separated by spaces
  created  INTEGER NOT NULL,          -- microseconds since 1970 UTC, as all times here
  expires  INTEGER NOT NULL,
  used     INTEGER,
  revoked  INTEGER
) STRICT;

CREATE TABLE token_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT;
INSERT INTO token_version VALUES (1, 1);

CREATE TABLE audit (
  seq  INTEGER PRIMARY KEY,
  prev BLOB NOT NULL,
  hash BLOB NOT NULL,
  body TEXT NOT NULL                  -- the canonical form; hash = SHA-256(hex(prev) || body), hex in lower case
) STRICT;

CREATE TABLE audit_head (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
INSERT INTO audit_head VALUES (1, 0, x'');

CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'audit records never change'); END;
CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'audit records are never deleted'); END;

CREATE TABLE secret (name TEXT PRIMARY KEY, key BLOB NOT NULL, created INTEGER NOT NULL) STRICT;
