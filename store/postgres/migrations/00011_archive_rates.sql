-- The last record that was moved to an archive: the chain begins behind it. Of the records up to it, those of steps
-- stay, because changes and tokens are held against them.
CREATE TABLE bailiwick.audit_base (one int PRIMARY KEY CHECK (one = 1), seq bigint NOT NULL, hash bytea NOT NULL)

INSERT INTO bailiwick.audit_base VALUES (1, 0, '')

CREATE INDEX audit_step_seq ON bailiwick.audit_step (seq)

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

DROP TRIGGER audit_never_changes ON bailiwick.audit

CREATE TRIGGER audit_never_changes BEFORE UPDATE ON bailiwick.audit
FOR EACH ROW EXECUTE FUNCTION bailiwick.audit_never_changes()

CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON bailiwick.audit
FOR EACH ROW EXECUTE FUNCTION bailiwick.audit_shrinks()

-- As before, but the bound on how far ahead a bucket can be stays, so that the wait after a clock was set back ends.
CREATE OR REPLACE FUNCTION bailiwick.take(keys bytea[], every bigint[], burst bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
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
