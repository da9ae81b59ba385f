-- The connections of people with HTTP APIs: tokens sealed with a key that is not in this file.
CREATE TABLE connection (
  source  TEXT NOT NULL,
  tenant  TEXT NOT NULL,
  person  TEXT NOT NULL,              -- in canonical form
  version INTEGER NOT NULL,
  busy    INTEGER NOT NULL,
  ended   INTEGER NOT NULL,           -- to be revoked at the provider, and removed
  changed INTEGER NOT NULL,           -- microseconds since 1970 UTC
  sealed  BLOB NOT NULL,
  PRIMARY KEY (source, tenant, person)
) STRICT, WITHOUT ROWID;
