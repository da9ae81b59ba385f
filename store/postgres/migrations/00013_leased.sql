-- A lease has run out before this time, too, which only a clock set back shows. NULL: taken before there was this column.
-- Processes of before make rows without it, which are no changes any more.
ALTER TABLE bailiwick.change ADD COLUMN leased timestamptz

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
  PERFORM bailiwick.post(step, c.id, entry);
  PERFORM bailiwick.add_event(c.id, event);
  RETURN 'kept';
END $$
