-- Steps that are stored together, with their records in the log or in the outbox. An entry is the canonical form of record 0, which
-- begins with {"seq":0; append_audit gets it without that. The lock of the head of the audit comes before that of the events.
CREATE OR REPLACE FUNCTION bailiwick.keep_steps(change text, events text[], steps text[], entries text[], log boolean) RETURNS void LANGUAGE plpgsql AS $$
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

-- As the function of before, which processes of before call still, for several steps at once and a choice of where their records go.
CREATE OR REPLACE FUNCTION bailiwick.swap_change(c bailiwick.change, classes bytea[], events text[], steps text[], entries text[],
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

-- As the function of before, likewise.
CREATE OR REPLACE FUNCTION bailiwick.put_change(c bailiwick.change, classes bytea[], events text[], steps text[], entries text[],
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
