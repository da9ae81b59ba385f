CREATE TABLE bailiwick.delivery (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hook     text COLLATE "C" NOT NULL,
  change   text COLLATE "C" NOT NULL,
  event    text NOT NULL,              -- JSON
  state    text COLLATE "C" NOT NULL,
  attempts integer NOT NULL,
  fence    bigint NOT NULL,            -- claims
  due      timestamptz NOT NULL,
  status   integer NOT NULL,           -- HTTP; 0 for none
  failure  text NOT NULL,
  updated  timestamptz NOT NULL
)

CREATE INDEX delivery_due ON bailiwick.delivery (due) WHERE state = 'waiting'

CREATE INDEX delivery_state ON bailiwick.delivery (state, id)

CREATE INDEX delivery_old ON bailiwick.delivery (updated) WHERE state <> 'waiting'

CREATE INDEX delivery_change ON bailiwick.delivery (change, id)

-- Up to which event deliveries were made: one row, once that has begun.
CREATE TABLE bailiwick.delivered (
  one integer PRIMARY KEY CHECK (one = 1),
  seq bigint NOT NULL
)
