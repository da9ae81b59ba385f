-- The changes that have to be applied before one is.
CREATE TABLE bailiwick.change_after (
  id    text COLLATE "C" NOT NULL,
  other text COLLATE "C" NOT NULL,
  PRIMARY KEY (id, other)
)

DROP FUNCTION bailiwick.put_change(bailiwick.change, bytea[], text, bigint)

-- As before, with the changes that have to be applied first.
CREATE FUNCTION bailiwick.put_change(c bailiwick.change, classes bytea[], event text, most bigint, after text[], OUT outcome text, OUT body text) LANGUAGE plpgsql AS $$
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
  PERFORM bailiwick.add_event(c.id, event);
  outcome := 'kept';
END $$
