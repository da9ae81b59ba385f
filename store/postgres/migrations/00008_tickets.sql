ALTER TABLE bailiwick.token ADD COLUMN more text NOT NULL DEFAULT '{}'

-- Secrets that stand for a token for a short time: sessions, sign-in links, and those of agents that sign in.
CREATE TABLE bailiwick.ticket (
  hash    bytea PRIMARY KEY,
  id      text COLLATE "C" NOT NULL UNIQUE,
  use     text COLLATE "C" NOT NULL,
  expires timestamptz NOT NULL,
  seen    timestamptz NOT NULL,
  ended   boolean NOT NULL DEFAULT false,
  body    text NOT NULL
)

CREATE INDEX ticket_expires ON bailiwick.ticket (expires)

CREATE INDEX ticket_use ON bailiwick.ticket (use, expires)
