ALTER TABLE token ADD COLUMN more TEXT NOT NULL DEFAULT '{}'; -- JSON {use, parent, subject, claims}

-- Secrets that stand for a token for a short time: sessions, sign-in links, and those of agents that sign in.
CREATE TABLE ticket (
  hash    BLOB PRIMARY KEY,           -- SHA-256 of the secret
  id      TEXT NOT NULL UNIQUE,
  use     TEXT NOT NULL,
  expires INTEGER NOT NULL,           -- microseconds since 1970 UTC
  seen    INTEGER NOT NULL,
  ended   INTEGER NOT NULL DEFAULT 0,
  body    TEXT NOT NULL               -- JSON of the rest
) STRICT, WITHOUT ROWID;

CREATE INDEX ticket_expires ON ticket (expires);

CREATE INDEX ticket_use ON ticket (use, expires);
