-- Paragraphs are statements. They run in one transaction. All times are microseconds since 1970 UTC.

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
  created  INTEGER NOT NULL,
  expires  INTEGER NOT NULL,
  used     INTEGER,
  revoked  INTEGER,
  actions  TEXT NOT NULL DEFAULT '{}', -- JSON {only, except}
  more     TEXT NOT NULL DEFAULT '{}' -- JSON {use, parent, subject, claims}
) STRICT;

CREATE TABLE token_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT;

INSERT INTO token_version VALUES (1, 1);

-- Secrets that stand for a token for a short time: sessions, sign-in links, and those of agents that sign in.
CREATE TABLE ticket (
  hash    BLOB PRIMARY KEY,           -- SHA-256 of the secret
  id      TEXT NOT NULL UNIQUE,
  use     TEXT NOT NULL,
  expires INTEGER NOT NULL,
  seen    INTEGER NOT NULL,
  ended   INTEGER NOT NULL DEFAULT 0,
  body    TEXT NOT NULL               -- JSON of the rest
) STRICT, WITHOUT ROWID;

CREATE INDEX ticket_expires ON ticket (expires);

CREATE INDEX ticket_use ON ticket (use, expires);

CREATE TABLE audit (
  seq  INTEGER PRIMARY KEY,
  prev BLOB NOT NULL,
  hash BLOB NOT NULL,
  body TEXT NOT NULL                  -- the canonical form; hash = SHA-256(hex(prev) || body), hex in lower case
) STRICT;

CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'audit records never change'); END;

-- A process that appends looks in the journal first, and moves this row. An append without a move fails.
CREATE TABLE audit_head (
  one   INTEGER PRIMARY KEY CHECK (one = 1),
  seq   INTEGER NOT NULL,
  hash  BLOB NOT NULL,
  moves INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO audit_head VALUES (1, 0, x'', 0);

CREATE TRIGGER audit_head_moves BEFORE UPDATE ON audit_head WHEN NEW.moves = OLD.moves BEGIN
  SELECT raise(ABORT, 'a newer Bailiwick has opened this store: restart this one');
END;

-- The sequence number of the record of each step.
CREATE TABLE audit_step (
  step TEXT PRIMARY KEY,
  seq  INTEGER NOT NULL               -- of audit
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_step_seq ON audit_step (seq);

-- The last record that was moved to an archive: the chain begins behind it. Of the records up to it, those of steps
-- stay, because changes and tokens are compared with them.
CREATE TABLE audit_base (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;

INSERT INTO audit_base VALUES (1, 0, x'');

CREATE TRIGGER audit_base_moves BEFORE UPDATE ON audit_base
WHEN NEW.seq <= OLD.seq OR NOT EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq AND hash = NEW.hash)
BEGIN SELECT RAISE(ABORT, 'the beginning of the audit moves forwards only, to a record that is there'); END;

CREATE TRIGGER audit_base_stays BEFORE DELETE ON audit_base
BEGIN SELECT RAISE(ABORT, 'the beginning of the audit is never deleted'); END;

CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON audit
WHEN OLD.seq > (SELECT seq FROM audit_base) OR EXISTS (SELECT 1 FROM audit_step WHERE seq = OLD.seq)
BEGIN SELECT RAISE(ABORT, 'audit records are never deleted before an archive has them'); END;

-- Records of steps that the audit doesn't have yet. A row comes in the transaction that keeps its step.
CREATE TABLE outbox (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  step   TEXT NOT NULL UNIQUE,
  change TEXT NOT NULL,
  body   TEXT NOT NULL                -- the canonical form, of record 0
) STRICT;

CREATE INDEX outbox_change ON outbox (change, id);

-- The folder of the audit's journal that a process uses, until the last one closes it. A folder that is missing when the
-- store is opened again is lost: records behind the number "after" may have been in it.
CREATE TABLE journal (
	id    TEXT PRIMARY KEY,
	since INTEGER NOT NULL,
	after INTEGER,          -- NULL: it is not lost
	lost  INTEGER
) STRICT;

CREATE TABLE secret (name TEXT PRIMARY KEY, key BLOB NOT NULL, created INTEGER NOT NULL) STRICT;

CREATE TABLE budget (
  day     TEXT NOT NULL,              -- of UTC: 2006-01-02
  account TEXT NOT NULL,              -- 'o' and the owner, or 't' and the token
  calls   INTEGER NOT NULL,           -- what was used of each on that day
  rows    INTEGER NOT NULL,
  bytes   INTEGER NOT NULL,
  tokens  INTEGER NOT NULL,           -- estimated
  cost    INTEGER NOT NULL,           -- in millionths of a US dollar
  PRIMARY KEY (day, account)
) STRICT, WITHOUT ROWID;

-- What can be used once, and was.
CREATE TABLE used (
  name  TEXT PRIMARY KEY,
  until INTEGER NOT NULL              -- from then on nobody asks for it
) STRICT, WITHOUT ROWID;

CREATE INDEX used_until ON used (until);

CREATE TABLE change (
  id        TEXT PRIMARY KEY,         -- in order of creation
  version   INTEGER NOT NULL,
  state     TEXT NOT NULL,
  op        TEXT NOT NULL,
  risk      TEXT NOT NULL,
  digest    TEXT NOT NULL,
  principal TEXT NOT NULL,            -- of the agent
  owner     TEXT NOT NULL,
  tenant    TEXT NOT NULL,
  source    TEXT NOT NULL,
  expires   INTEGER NOT NULL,
  lease     INTEGER,                  -- until when an executor holds it
  search    TEXT NOT NULL,            -- title, reason and id in lower case
  body      TEXT NOT NULL,            -- JSON: all of the change
  account   TEXT NOT NULL DEFAULT '', -- the account that its limit of pending changes counts for
  -- The people who can't approve a change: its authors as "\u001fo:NAME\u001f", those who have approved it as "\u001fa:NAME\u001f".
  closed    TEXT NOT NULL DEFAULT '',
  leased    INTEGER                   -- when the lease was taken. A clock behind this time was set back, and the lease has run out
) STRICT;

-- Each is led by what is asked for, and gives a state's changes in order of their age.
CREATE INDEX change_state ON change (state, id);

CREATE INDEX change_principal ON change (principal, state, id);

CREATE INDEX change_owner ON change (owner, state, id);

CREATE INDEX change_tenant ON change (tenant, state, id);

CREATE INDEX change_expires ON change (state, expires);

CREATE INDEX change_same ON change (principal, source, digest) WHERE state = 'pending';

CREATE INDEX change_account ON change (account) WHERE state = 'pending';

-- A change of somebody else is looked for, and not found, as one that does not exist.
CREATE INDEX change_id_principal ON change (id, principal);

CREATE INDEX change_id_tenant ON change (id, tenant);

-- The classes of a change and, while it waits, its records: "source.Class\u001fkey".
CREATE TABLE change_class (
  class TEXT NOT NULL,
  state TEXT NOT NULL,                -- of the change
  id    TEXT NOT NULL,
  PRIMARY KEY (class, state, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX change_class_id ON change_class (id);

-- The changes that have to be applied before one is.
CREATE TABLE change_after (
  id    TEXT NOT NULL,
  other TEXT NOT NULL,
  PRIMARY KEY (id, other)
) STRICT, WITHOUT ROWID;

CREATE TABLE change_event (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  change TEXT NOT NULL,
  body   TEXT NOT NULL                -- JSON
) STRICT;

CREATE TABLE delivery (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  hook     TEXT NOT NULL,
  change   TEXT NOT NULL,
  event    TEXT NOT NULL,              -- JSON
  state    TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  fence    INTEGER NOT NULL,           -- claims
  due      INTEGER NOT NULL,
  status   INTEGER NOT NULL,           -- HTTP; 0 for none
  failure  TEXT NOT NULL,
  updated  INTEGER NOT NULL
) STRICT;

CREATE INDEX delivery_due ON delivery (due) WHERE state = 'waiting';

CREATE INDEX delivery_state ON delivery (state, id);

CREATE INDEX delivery_old ON delivery (updated) WHERE state <> 'waiting';

CREATE INDEX delivery_change ON delivery (change, id);

-- Up to which event deliveries were made: one row, once that has begun.
CREATE TABLE delivered (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  seq INTEGER NOT NULL
) STRICT;

-- The connections of people with HTTP APIs: tokens sealed with a key that is not in this file.
CREATE TABLE connection (
  source  TEXT NOT NULL,
  tenant  TEXT NOT NULL,
  person  TEXT NOT NULL,              -- in canonical form
  version INTEGER NOT NULL,
  busy    INTEGER NOT NULL,
  ended   INTEGER NOT NULL,           -- to be revoked at the provider, and removed
  changed INTEGER NOT NULL,
  sealed  BLOB NOT NULL,
  PRIMARY KEY (source, tenant, person)
) STRICT, WITHOUT ROWID;

-- What each process that uses this file has in force. An old row belongs to a process that has ended.
CREATE TABLE replica (
  id      TEXT NOT NULL PRIMARY KEY,
  name    TEXT NOT NULL,
  rules   TEXT NOT NULL,
  key     TEXT NOT NULL,              -- an identifier of the key that signs the audit
  program TEXT NOT NULL,
  clock   INTEGER NOT NULL,           -- microseconds by which its clock is ahead
  seen    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
