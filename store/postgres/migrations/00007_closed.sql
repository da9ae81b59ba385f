-- The people who can't approve a change: its authors as "\u001fo:NAME\u001f", those who have approved it as "\u001fa:NAME\u001f".
ALTER TABLE bailiwick.change ADD COLUMN closed text NOT NULL DEFAULT ''

UPDATE bailiwick.change SET closed = chr(31) || 'o:' || convert_from(account, 'UTF8') || chr(31) WHERE position('\x00'::bytea IN account) = 0

-- Processes of before would go on to file changes without it: they find this function no more.
DROP FUNCTION bailiwick.put_change(bailiwick.change, bytea[], text, text, text, bigint, text[])

-- Puts a change in the place of the one with its id and the version before, if that is what is wanted of it now.
CREATE OR REPLACE FUNCTION bailiwick.swap_change(c bailiwick.change, classes bytea[], event text, step text, entry text,
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
    tenant = c.tenant, source = c.source, expires = c.expires, lease = c.lease, search = c.search, body = c.body, closed = c.closed WHERE o.id = c.id;
  DELETE FROM bailiwick.change_class AS k WHERE k.id = c.id AND NOT (k.class = ANY (classes) AND k.state = c.state);
  INSERT INTO bailiwick.change_class SELECT k, c.state, c.id FROM unnest(classes) AS k ON CONFLICT DO NOTHING;
  PERFORM bailiwick.post(step, c.id, entry);
  PERFORM bailiwick.add_event(c.id, event);
  RETURN 'kept';
END $$

-- Files a change, unless the same one is pending (then body is that one's), its account has most pending or has
-- filed as many as rate of those after since. Those of one account come one after the other. old, if its id isn't null,
-- is the version before, put in its place as swap_change does; what waits for it waits for the new one from then on.
CREATE FUNCTION bailiwick.put_change(c bailiwick.change, classes bytea[], event text, step text, entry text,
  old bailiwick.change, old_classes bytea[], old_event text, old_step text, old_entry text,
  most bigint, since text, rate bigint, after text[], OUT outcome text, OUT body text) LANGUAGE plpgsql AS $$
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
    outcome := bailiwick.swap_change(old, old_classes, old_event, old_step, old_entry, true, false, false, false);
    IF outcome <> 'kept' THEN
      RETURN;
    END IF;
    UPDATE bailiwick.change_after AS a SET other = c.id WHERE a.other = old.id;
  END IF;
  INSERT INTO bailiwick.change SELECT c.*;
  INSERT INTO bailiwick.change_class SELECT k, c.state, c.id FROM unnest(classes) AS k;
  INSERT INTO bailiwick.change_after SELECT c.id, o FROM unnest(after) AS o;
  PERFORM bailiwick.post(step, c.id, entry);
  PERFORM bailiwick.add_event(c.id, event);
  outcome := 'kept';
END $$
