-- The connections of people with HTTP APIs: tokens sealed with a key that is not in this database.
CREATE TABLE bailiwick.connection (
  source  text COLLATE "C" NOT NULL,
  tenant  text COLLATE "C" NOT NULL,
  person  text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  busy    boolean NOT NULL,
  ended   boolean NOT NULL,
  changed timestamptz NOT NULL,
  sealed  bytea NOT NULL,
  PRIMARY KEY (source, tenant, person)
)
