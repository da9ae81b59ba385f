CREATE TABLE bailiwick.change (
  id        text COLLATE "C" PRIMARY KEY, -- in order of creation
  version   bigint NOT NULL,
  state     text COLLATE "C" NOT NULL,
  op        text NOT NULL,
  risk      text NOT NULL,
  digest    text NOT NULL,
  principal bytea NOT NULL,           -- of the agent, as UTF-8; bytea because it can hold what a text can't
  owner     bytea NOT NULL,
  tenant    bytea NOT NULL,
  source    bytea NOT NULL,
  expires   timestamptz NOT NULL,
  lease     timestamptz,              -- until when an executor holds it
  search    text NOT NULL,            -- title, reason and id in lower case
  body      text NOT NULL             -- JSON: all of the change
) WITH (fillfactor = 80)

-- Each is led by what is asked for, and gives a state's changes in order of their age.
CREATE INDEX change_state ON bailiwick.change (state, id)

CREATE INDEX change_principal ON bailiwick.change (principal, state, id)

CREATE INDEX change_owner ON bailiwick.change (owner, state, id)

CREATE INDEX change_tenant ON bailiwick.change (tenant, state, id)

CREATE INDEX change_expires ON bailiwick.change (state, expires)

CREATE INDEX change_same ON bailiwick.change (principal, source, digest) WHERE state = 'pending'

CREATE TABLE bailiwick.change_class (
  class bytea NOT NULL,
  state text COLLATE "C" NOT NULL,    -- of the change
  id    text COLLATE "C" NOT NULL,
  PRIMARY KEY (class, state, id)
)

CREATE INDEX change_class_id ON bailiwick.change_class (id)

CREATE TABLE bailiwick.change_event (
  seq    bigint PRIMARY KEY,
  change text COLLATE "C" NOT NULL,
  body   text NOT NULL                -- JSON
)

CREATE TABLE bailiwick.change_event_head (one int PRIMARY KEY CHECK (one = 1), seq bigint NOT NULL) WITH (fillfactor = 20)

INSERT INTO bailiwick.change_event_head VALUES (1, 0)

-- Keeps the event of a change and wakes who listens. The head is locked from here to the commit, so numbers are in the
-- order of the commits: none appears behind one that was seen. It is the last thing that a statement does.
CREATE FUNCTION bailiwick.add_event(change text, body text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  number bigint;
BEGIN
  UPDATE bailiwick.change_event_head AS h SET seq = h.seq + 1 RETURNING h.seq INTO STRICT number;
  INSERT INTO bailiwick.change_event VALUES (number, change, body);
  PERFORM pg_notify('bailiwick', 'change ' || number);
  RETURN number;
END $$

-- Files a change, unless the same one is pending (then body is that one's) or the principal has most pending. Those of one
-- principal come one after the other.
CREATE FUNCTION bailiwick.put_change(c bailiwick.change, classes bytea[], event text, most bigint, OUT outcome text, OUT body text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('bailiwick ' || encode(c.principal, 'hex'), 0));
  SELECT o.body INTO body FROM bailiwick.change AS o
  WHERE o.principal = c.principal AND o.source = c.source AND o.digest = c.digest AND o.state = 'pending' AND o.expires > clock_timestamp()
  ORDER BY o.id LIMIT 1;
  IF FOUND THEN
    outcome := 'same';
    RETURN;
  END IF;
  IF most <= (SELECT count(*) FROM bailiwick.change AS o WHERE o.principal = c.principal AND o.state = 'pending' AND o.expires > clock_timestamp()) THEN
    outcome := 'full';
    RETURN;
  END IF;
  INSERT INTO bailiwick.change SELECT c.*;
  INSERT INTO bailiwick.change_class SELECT k, c.state, c.id FROM unnest(classes) AS k;
  PERFORM bailiwick.add_event(c.id, event);
  outcome := 'kept';
END $$

-- Puts a change in the place of the one with its id and the version before, if that is what is wanted of it now.
CREATE FUNCTION bailiwick.swap_change(c bailiwick.change, classes bytea[], event text, unexpired boolean, expired boolean, lapsed boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  old bailiwick.change;
  at timestamptz;
BEGIN
  SELECT * INTO old FROM bailiwick.change AS o WHERE o.id = c.id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'none';
  END IF;
  at := clock_timestamp();
  IF old.version <> c.version - 1 OR expired AND old.expires > at OR lapsed AND old.lease > at THEN
    RETURN 'moved';
  END IF;
  IF unexpired AND old.expires <= at THEN
    RETURN 'expired';
  END IF;
  UPDATE bailiwick.change AS o SET version = c.version, state = c.state, op = c.op, risk = c.risk, digest = c.digest, principal = c.principal, owner = c.owner,
    tenant = c.tenant, source = c.source, expires = c.expires, lease = c.lease, search = c.search, body = c.body WHERE o.id = c.id;
  DELETE FROM bailiwick.change_class AS k WHERE k.id = c.id AND NOT (k.class = ANY (classes) AND k.state = c.state);
  INSERT INTO bailiwick.change_class SELECT k, c.state, c.id FROM unnest(classes) AS k ON CONFLICT DO NOTHING;
  PERFORM bailiwick.add_event(c.id, event);
  RETURN 'kept';
END $$
