ALTER TABLE bailiwick.change ADD COLUMN account bytea NOT NULL DEFAULT ''

UPDATE bailiwick.change SET account = CASE WHEN owner = '' THEN principal ELSE owner END

CREATE INDEX change_account ON bailiwick.change (account) WHERE state = 'pending'

-- Files a change, unless the same one is pending (then body is that one's) or its account has most pending. Those of one
-- account come one after the other.
CREATE OR REPLACE FUNCTION bailiwick.put_change(c bailiwick.change, classes bytea[], event text, most bigint, OUT outcome text, OUT body text) LANGUAGE plpgsql AS $$
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
  PERFORM bailiwick.add_event(c.id, event);
  outcome := 'kept';
END $$

-- What can be used once, and was. From until on nobody asks for it.
CREATE TABLE bailiwick.used (
  name  text COLLATE "C" PRIMARY KEY,
  until timestamptz NOT NULL
)

CREATE INDEX used_until ON bailiwick.used (until)
