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
  expires   INTEGER NOT NULL,         -- microseconds since 1970 UTC, as all times here
  lease     INTEGER,                  -- until when an executor holds it
  search    TEXT NOT NULL,            -- title, reason and id in lower case
  body      TEXT NOT NULL             -- JSON: all of the change
) STRICT;

-- Each is led by what is asked for, and gives a state's changes in order of their age.
CREATE INDEX change_state ON change (state, id);
CREATE INDEX change_principal ON change (principal, state, id);
CREATE INDEX change_owner ON change (owner, state, id);
CREATE INDEX change_tenant ON change (tenant, state, id);
CREATE INDEX change_expires ON change (state, expires);
CREATE INDEX change_same ON change (principal, source, digest) WHERE state = 'pending';

CREATE TABLE change_class (
  class TEXT NOT NULL,
  state TEXT NOT NULL,                -- of the change
  id    TEXT NOT NULL,
  PRIMARY KEY (class, state, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX change_class_id ON change_class (id);

CREATE TABLE change_event (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  change TEXT NOT NULL,
  body   TEXT NOT NULL                -- JSON
) STRICT;
