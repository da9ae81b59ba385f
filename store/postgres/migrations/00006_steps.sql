-- Where the audit has the record of a step: one of each.
CREATE TABLE bailiwick.audit_step (step text COLLATE "C" PRIMARY KEY, seq bigint NOT NULL)

-- Records of steps that the audit doesn't have yet. A row comes in the transaction that keeps its step.
CREATE TABLE bailiwick.outbox (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  step   text COLLATE "C" NOT NULL UNIQUE,
  change text COLLATE "C" NOT NULL,
  body   text NOT NULL                -- the canonical form, of record 0
)

CREATE INDEX outbox_change ON bailiwick.outbox (change, id)

-- Processes of before would go on to take steps without their records: they find these functions no more.
DROP FUNCTION bailiwick.append_audit(text[])

DROP FUNCTION bailiwick.put_change(bailiwick.change, bytea[], text, bigint, text[])

DROP FUNCTION bailiwick.swap_change(bailiwick.change, bytea[], text, boolean, boolean, boolean)

-- Seals records onto the chain and gives the head before and after. A body comes without its beginning {"seq":N; steps
-- has '' for a record that is of no step. Of a step that the log has already nothing is sealed, and there is true. One
-- statement, so no replica that stands still can hold the head: those who append at once wait for commits alone.
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

-- Files a change, unless the same one is pending (then body is that one's) or its account has most pending. Those of one
-- account come one after the other.
CREATE FUNCTION bailiwick.put_change(c bailiwick.change, classes bytea[], event text, step text, entry text, most bigint, after text[], OUT outcome text, OUT body text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('bailiwick ' || encode(c.account, 'hex'), 0));
  SELECT o.body INTO body FROM bailiwick.change AS o
  WHERE o.principal = c.principal AND o.source = c.source AND o.digest = c.digest AND o.state = 'pending' AND o.expires > clock_timestamp()
  ORDER BY o.id LIMIT 1;
  IF FOUND THEN
    outcome := 'same';
    RETURN;
  END IF;
  IF most <= (SELECT count(*) FROM bailiwick.change AS o WHERE o.account = c.account AND o.state = 'pending' AND o.expires > clock_timestamp()) THEN
    outcome := 'full';
    RETURN;
  END IF;
  INSERT INTO bailiwick.change SELECT c.*;
  INSERT INTO bailiwick.change_class SELECT k, c.state, c.id FROM unnest(classes) AS k;
  INSERT INTO bailiwick.change_after SELECT c.id, o FROM unnest(after) AS o;
  PERFORM bailiwick.post(step, c.id, entry);
  PERFORM bailiwick.add_event(c.id, event);
  outcome := 'kept';
END $$

-- Puts a change in the place of the one with its id and the version before, if that is what is wanted of it now.
CREATE FUNCTION bailiwick.swap_change(c bailiwick.change, classes bytea[], event text, step text, entry text,
  unexpired boolean, expired boolean, lapsed boolean, recorded boolean) RETURNS text LANGUAGE plpgsql AS $$
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
  IF recorded AND EXISTS (SELECT FROM bailiwick.outbox AS o WHERE o.change = c.id) THEN
    RETURN 'unrecorded';
  END IF;
  UPDATE bailiwick.change AS o SET version = c.version, state = c.state, op = c.op, risk = c.risk, digest = c.digest, principal = c.principal, owner = c.owner,
    tenant = c.tenant, source = c.source, expires = c.expires, lease = c.lease, search = c.search, body = c.body WHERE o.id = c.id;
  DELETE FROM bailiwick.change_class AS k WHERE k.id = c.id AND NOT (k.class = ANY (classes) AND k.state = c.state);
  INSERT INTO bailiwick.change_class SELECT k, c.state, c.id FROM unnest(classes) AS k ON CONFLICT DO NOTHING;
  PERFORM bailiwick.post(step, c.id, entry);
  PERFORM bailiwick.add_event(c.id, event);
  RETURN 'kept';
END $$
