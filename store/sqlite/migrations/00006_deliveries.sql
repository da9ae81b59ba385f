CREATE TABLE delivery (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  hook     TEXT NOT NULL,
  change   TEXT NOT NULL,
  event    TEXT NOT NULL,              -- JSON
  state    TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  fence    INTEGER NOT NULL,           -- claims
  due      INTEGER NOT NULL,           -- microseconds since 1970 UTC, as all times here
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
