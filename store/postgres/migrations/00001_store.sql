-- Paragraphs are statements. They run in one transaction, which holds the lock of migrations.

CREATE TABLE bailiwick.token (
  id       text COLLATE "C" PRIMARY KEY,
  prefix   text COLLATE "C" NOT NULL UNIQUE,
  hash     bytea NOT NULL,            -- SHA-256 of the token
  name     text NOT NULL,
  kind     text NOT NULL,
  owner    text NOT NULL,
  tenant   text NOT NULL,
  scopes   text NOT NULL,             -- separated by spaces
  tools    text NOT NULL,             -- JSON {only, except}
  actions  text NOT NULL,             -- JSON {only, except}
  classes  text NOT NULL,             -- JSON {only, except}
  filters  text NOT NULL,             -- JSON: class to the text of a where object
  ips      text NOT NULL,             -- CIDR ranges separated by spaces
  created  timestamptz NOT NULL,
  expires  timestamptz NOT NULL,
  used     timestamptz,
  revoked  timestamptz,
  more     text NOT NULL DEFAULT '{}' -- JSON {use, parent, subject, claims}
)

CREATE TABLE bailiwick.token_version (one int PRIMARY KEY CHECK (one = 1), version bigint NOT NULL)

INSERT INTO bailiwick.token_version VALUES (1, 1)

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

CREATE TABLE bailiwick.audit (
  seq  bigint PRIMARY KEY,
  prev bytea NOT NULL,
  hash bytea NOT NULL,
  body text NOT NULL                  -- the canonical form; hash = SHA-256(hex(prev) || body), hex in lower case
)

CREATE TABLE bailiwick.audit_head (one int PRIMARY KEY CHECK (one = 1), seq bigint NOT NULL, hash bytea NOT NULL) WITH (fillfactor = 20)

INSERT INTO bailiwick.audit_head VALUES (1, 0, '')

-- The sequence number of the record of each step.
CREATE TABLE bailiwick.audit_step (step text COLLATE "C" PRIMARY KEY, seq bigint NOT NULL)

CREATE INDEX audit_step_seq ON bailiwick.audit_step (seq)

-- The last record that was moved to an archive: the chain begins behind it. Of the records up to it, those of steps
-- stay, because changes and tokens are compared with them.
CREATE TABLE bailiwick.audit_base (one int PRIMARY KEY CHECK (one = 1), seq bigint NOT NULL, hash bytea NOT NULL)

INSERT INTO bailiwick.audit_base VALUES (1, 0, '')

CREATE FUNCTION bailiwick.audit_never_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit records never change and are never deleted';
END $$

CREATE TRIGGER audit_never_changes BEFORE UPDATE ON bailiwick.audit
FOR EACH ROW EXECUTE FUNCTION bailiwick.audit_never_changes()

CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON bailiwick.audit
FOR EACH STATEMENT EXECUTE FUNCTION bailiwick.audit_never_changes()

CREATE FUNCTION bailiwick.audit_base_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.seq > OLD.seq AND EXISTS (SELECT FROM bailiwick.audit AS a WHERE a.seq = NEW.seq AND a.hash = NEW.hash) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the beginning of the audit moves forwards only, to a record that is there';
END $$

CREATE TRIGGER audit_base_moves BEFORE UPDATE OR DELETE ON bailiwick.audit_base
FOR EACH ROW EXECUTE FUNCTION bailiwick.audit_base_moves()

CREATE FUNCTION bailiwick.audit_shrinks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.seq <= (SELECT b.seq FROM bailiwick.audit_base AS b) AND NOT EXISTS (SELECT FROM bailiwick.audit_step AS s WHERE s.seq = OLD.seq) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'audit records are never deleted before an archive has them';
END $$

CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON bailiwick.audit
FOR EACH ROW EXECUTE FUNCTION bailiwick.audit_shrinks()

-- Records of steps that the audit doesn't have yet. A row comes in the transaction that keeps its step.
CREATE TABLE bailiwick.outbox (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  step   text COLLATE "C" NOT NULL UNIQUE,
  change text COLLATE "C" NOT NULL,
  body   text NOT NULL                -- the canonical form, of record 0
)

CREATE INDEX outbox_change ON bailiwick.outbox (change, id)

-- Seals records onto the chain and returns the head before and after. A body comes without its beginning {"seq":N; steps
-- has '' for a record that belongs to no step. A step that the log already has is not sealed again: its "there" is true.
-- This is one statement, so a process that stops can't hold the head. Concurrent appends wait only for commits.
CREATE FUNCTION bailiwick.append_audit(bodies text[], steps text[], OUT first_prev bytea, OUT last_seq bigint, OUT last_hash bytea, OUT there boolean[]) LANGUAGE plpgsql AS $$
DECLARE
  prev bytea;
  body text;
BEGIN
  SELECT h.seq, h.hash, h.hash INTO STRICT last_seq, last_hash, first_prev FROM bailiwick.audit_head AS h FOR UPDATE;
  FOR i IN 1 .. cardinality(bodies) LOOP
    there[i] := false;
    IF steps[i] <> '' THEN
      DELETE FROM bailiwick.outbox AS o WHERE o.step = steps[i];
      INSERT INTO bailiwick.audit_step VALUES (steps[i], last_seq + 1) ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN
        there[i] := true;
        CONTINUE;
      END IF;
    END IF;
    last_seq := last_seq + 1;
    prev := last_hash;
    body := '{"seq":' || last_seq || bodies[i];
    last_hash := sha256(convert_to(encode(prev, 'hex') || body, 'UTF8'));
    INSERT INTO bailiwick.audit VALUES (last_seq, prev, last_hash, body);
  END LOOP;
  UPDATE bailiwick.audit_head SET seq = last_seq, hash = last_hash;
END $$

-- Puts the record of a step into the outbox; '' for a step without one.
CREATE FUNCTION bailiwick.post(step text, change text, body text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF step <> '' THEN
    INSERT INTO bailiwick.outbox (step, change, body) VALUES (step, change, body);
  END IF;
END $$

CREATE TABLE bailiwick.secret (name text COLLATE "C" PRIMARY KEY, key bytea NOT NULL, created timestamptz NOT NULL DEFAULT now())

CREATE TABLE bailiwick.budget (
  day     date NOT NULL,              -- of UTC
  account bytea NOT NULL,             -- 'o' and the owner, or 't' and the token
  calls   bigint NOT NULL,            -- what was used of each on that day
  rows    bigint NOT NULL,
  bytes   bigint NOT NULL,
  tokens  bigint NOT NULL,            -- estimated
  cost    bigint NOT NULL,            -- in millionths of a US dollar
  PRIMARY KEY (day, account)
) WITH (fillfactor = 70)

-- Rates are worth a minute: not in the write-ahead log, and empty after a crash.
CREATE UNLOGGED TABLE bailiwick.rate (
  key     bytea PRIMARY KEY,          -- 'o' and the owner, or 't' and the token
  full_at bigint NOT NULL             -- when the bucket will be full again, in nanoseconds since 1970
) WITH (fillfactor = 50)

-- Takes one call from each bucket, or from none: then it returns how many nanoseconds to wait. Rows are locked in the
-- order of their keys, so that two never wait for each other. The time is taken after the locks. The bound on how far
-- ahead a bucket can be is kept, so that the wait after a clock was set back ends.
CREATE FUNCTION bailiwick.take(keys bytea[], every bigint[], burst bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  at bigint;
  locked bigint;
  wait bigint;
BEGIN
  LOOP -- an unused row can be deleted between the two
    INSERT INTO bailiwick.rate SELECT k, 0 FROM unnest(keys) AS k ORDER BY k ON CONFLICT DO NOTHING;
    SELECT count(*) INTO locked FROM (SELECT FROM bailiwick.rate AS r WHERE r.key = ANY (keys) ORDER BY r.key FOR UPDATE) AS l;
    EXIT WHEN locked = (SELECT count(DISTINCT k) FROM unnest(keys) AS k);
  END LOOP;
  at := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000;
  UPDATE bailiwick.rate AS r SET full_at = at + b.burst * b.every
  FROM unnest(keys, every, burst) AS b (key, every, burst) WHERE r.key = b.key AND r.full_at > at + b.burst * b.every;
  SELECT max(greatest(r.full_at, at) + b.every - at - b.burst * b.every) INTO wait
  FROM unnest(keys, every, burst) AS b (key, every, burst) JOIN bailiwick.rate AS r ON r.key = b.key;
  IF wait > 0 THEN
    RETURN wait;
  END IF;
  UPDATE bailiwick.rate AS r SET full_at = greatest(r.full_at, at) + b.every
  FROM unnest(keys, every, burst) AS b (key, every, burst) WHERE r.key = b.key;
  RETURN 0;
END $$

-- What can be used once, and was. From until on nobody asks for it.
CREATE TABLE bailiwick.used (
  name  text COLLATE "C" PRIMARY KEY,
  until timestamptz NOT NULL
)

CREATE INDEX used_until ON bailiwick.used (until)

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
  body      text NOT NULL,            -- JSON: all of the change
  account   bytea NOT NULL DEFAULT '', -- the account that its limit of pending changes counts for
  -- The people who can't approve a change: its authors as "\u001fo:NAME\u001f", those who have approved it as "\u001fa:NAME\u001f".
  closed    text NOT NULL DEFAULT '',
  leased    timestamptz               -- when the lease was taken. A clock behind this time was set back, and the lease has run out
) WITH (fillfactor = 80)

-- Each is led by what is asked for, and gives a state's changes in order of their age.
CREATE INDEX change_state ON bailiwick.change (state, id)

CREATE INDEX change_principal ON bailiwick.change (principal, state, id)

CREATE INDEX change_owner ON bailiwick.change (owner, state, id)

CREATE INDEX change_tenant ON bailiwick.change (tenant, state, id)

CREATE INDEX change_expires ON bailiwick.change (state, expires)

CREATE INDEX change_same ON bailiwick.change (principal, source, digest) WHERE state = 'pending'

CREATE INDEX change_account ON bailiwick.change (account) WHERE state = 'pending'

-- A change is found by its id and its owner in one look: a change of somebody else is not read, as one that does not exist.
CREATE INDEX change_id_principal ON bailiwick.change USING hash ((id || ' ' || encode(principal, 'hex')))

CREATE INDEX change_id_tenant ON bailiwick.change USING hash ((id || ' ' || encode(tenant, 'hex')))

-- The classes of a change and, while it waits, its records: "source.Class\u001fkey".
CREATE TABLE bailiwick.change_class (
  class bytea NOT NULL,
  state text COLLATE "C" NOT NULL,    -- of the change
  id    text COLLATE "C" NOT NULL,
  PRIMARY KEY (class, state, id)
)

CREATE INDEX change_class_id ON bailiwick.change_class (id)

-- The changes that have to be applied before one is.
CREATE TABLE bailiwick.change_after (
  id    text COLLATE "C" NOT NULL,
  other text COLLATE "C" NOT NULL,
  PRIMARY KEY (id, other)
)

CREATE TABLE bailiwick.change_event (
  seq    bigint PRIMARY KEY,
  change text COLLATE "C" NOT NULL,
  body   text NOT NULL                -- JSON
)

CREATE TABLE bailiwick.change_event_head (one int PRIMARY KEY CHECK (one = 1), seq bigint NOT NULL) WITH (fillfactor = 20)

INSERT INTO bailiwick.change_event_head VALUES (1, 0)

-- Keeps the event of a change and notifies the listeners. The head is locked from here to the commit, so numbers are in
-- the order of the commits: none appears behind one that was seen. A statement calls this last.
CREATE FUNCTION bailiwick.add_event(change text, body text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  number bigint;
BEGIN
  UPDATE bailiwick.change_event_head AS h SET seq = h.seq + 1 RETURNING h.seq INTO STRICT number;
  INSERT INTO bailiwick.change_event VALUES (number, change, body);
  PERFORM pg_notify('bailiwick', 'change ' || number);
  RETURN number;
END $$

-- Steps that are stored together, with their records in the log or in the outbox. An entry is the canonical form of record
-- 0, which begins with {"seq":0; append_audit gets it without that. The head of the audit is locked before that of the events.
CREATE FUNCTION bailiwick.keep_steps(change text, events text[], steps text[], entries text[], log boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF log AND cardinality(steps) > 0 THEN
    PERFORM bailiwick.append_audit(ARRAY(SELECT substr(e, 9) FROM unnest(entries) WITH ORDINALITY AS u (e, n) ORDER BY n), steps);
  ELSE
    FOR i IN 1 .. cardinality(steps) LOOP
      PERFORM bailiwick.post(steps[i], change, entries[i]);
    END LOOP;
  END IF;
  FOR i IN 1 .. cardinality(events) LOOP
    PERFORM bailiwick.add_event(change, events[i]);
  END LOOP;
END $$

-- Replaces a change by its next version, if its state still allows that.
CREATE FUNCTION bailiwick.swap_change(c bailiwick.change, classes bytea[], events text[], steps text[], entries text[],
  unexpired boolean, expired boolean, lapsed boolean, recorded boolean, log boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  old bailiwick.change;
  at timestamptz;
BEGIN
  SELECT * INTO old FROM bailiwick.change AS o WHERE o.id = c.id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'none';
  END IF;
  at := clock_timestamp();
  IF old.version <> c.version - 1 OR expired AND old.expires > at OR lapsed AND old.lease > at AND (old.leased > at) IS NOT TRUE THEN
    RETURN 'moved';
  END IF;
  IF unexpired AND old.expires <= at THEN
    RETURN 'expired';
  END IF;
  IF recorded AND EXISTS (SELECT FROM bailiwick.outbox AS o WHERE o.change = c.id) THEN
    RETURN 'unrecorded';
  END IF;
  UPDATE bailiwick.change AS o SET version = c.version, state = c.state, op = c.op, risk = c.risk, digest = c.digest, principal = c.principal, owner = c.owner,
    tenant = c.tenant, source = c.source, expires = c.expires, lease = c.lease, search = c.search, body = c.body, closed = c.closed, leased = c.leased WHERE o.id = c.id;
  DELETE FROM bailiwick.change_class AS k WHERE k.id = c.id AND NOT (k.class = ANY (classes) AND k.state = c.state);
  INSERT INTO bailiwick.change_class SELECT k, c.state, c.id FROM unnest(classes) AS k ON CONFLICT DO NOTHING;
  PERFORM bailiwick.keep_steps(c.id, events, steps, entries, log);
  RETURN 'kept';
END $$

-- Files a change, unless the same one is pending (then body is that one's), or its account has most pending changes, or
-- has filed as many as rate since the change with the id since. Those of one account come one after the other. old, if its
-- id isn't null, is the version before. It is replaced as swap_change does. Changes that wait for it then wait for the new one.
CREATE FUNCTION bailiwick.put_change(c bailiwick.change, classes bytea[], events text[], steps text[], entries text[],
  old bailiwick.change, old_classes bytea[], old_events text[], old_steps text[], old_entries text[],
  most bigint, since text, rate bigint, after text[], log boolean, OUT outcome text, OUT body text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('bailiwick ' || encode(c.account, 'hex'), 0));
  SELECT o.body INTO body FROM bailiwick.change AS o
  WHERE o.principal = c.principal AND o.source = c.source AND o.digest = c.digest AND o.state = 'pending' AND o.expires > clock_timestamp()
  ORDER BY o.id LIMIT 1;
  IF FOUND THEN
    outcome := 'same';
    RETURN;
  END IF;
  IF most <= (SELECT count(*) FROM bailiwick.change AS o WHERE o.account = c.account AND o.state = 'pending' AND o.expires > clock_timestamp()
      AND o.id IS DISTINCT FROM old.id) THEN
    outcome := 'full';
    RETURN;
  END IF;
  IF rate > 0 AND rate <= (SELECT count(*) FROM bailiwick.change AS o WHERE o.account = c.account AND o.id > since) THEN
    outcome := 'fast';
    RETURN;
  END IF;
  IF old.id IS NOT NULL THEN
    outcome := bailiwick.swap_change(old, old_classes, old_events, old_steps, old_entries, true, false, false, false, log);
    IF outcome <> 'kept' THEN
      RETURN;
    END IF;
    UPDATE bailiwick.change_after AS a SET other = c.id WHERE a.other = old.id;
  END IF;
  INSERT INTO bailiwick.change SELECT c.*;
  INSERT INTO bailiwick.change_class SELECT k, c.state, c.id FROM unnest(classes) AS k;
  INSERT INTO bailiwick.change_after SELECT c.id, o FROM unnest(after) AS o;
  PERFORM bailiwick.keep_steps(c.id, events, steps, entries, log);
  outcome := 'kept';
END $$

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

-- What each process that uses this store has in force. An old row belongs to a process that has ended. The table isn't
-- logged: after a crash of the database the processes write their rows again within seconds.
CREATE UNLOGGED TABLE bailiwick.replica (
  id      text COLLATE "C" PRIMARY KEY,
  name    text NOT NULL,
  rules   text NOT NULL,
  key     text NOT NULL,               -- an identifier of the key that signs the audit
  program text NOT NULL,
  clock   bigint NOT NULL,             -- microseconds by which its clock is ahead of the clock of this database
  seen    timestamptz NOT NULL
)
