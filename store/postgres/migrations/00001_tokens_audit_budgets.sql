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
  revoked  timestamptz
)

CREATE TABLE bailiwick.token_version (one int PRIMARY KEY CHECK (one = 1), version bigint NOT NULL)

INSERT INTO bailiwick.token_version VALUES (1, 1)

CREATE TABLE bailiwick.audit (
  seq  bigint PRIMARY KEY,
  prev bytea NOT NULL,
  hash bytea NOT NULL,
  body text NOT NULL                  -- the canonical form; hash = SHA-256(hex(prev) || body), hex in lower case
)

CREATE TABLE bailiwick.audit_head (one int PRIMARY KEY CHECK (one = 1), seq bigint NOT NULL, hash bytea NOT NULL) WITH (fillfactor = 20)

INSERT INTO bailiwick.audit_head VALUES (1, 0, '')

CREATE FUNCTION bailiwick.audit_never_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit records never change and are never deleted';
END $$

CREATE TRIGGER audit_never_changes BEFORE UPDATE OR DELETE ON bailiwick.audit
FOR EACH ROW EXECUTE FUNCTION bailiwick.audit_never_changes()

CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON bailiwick.audit
FOR EACH STATEMENT EXECUTE FUNCTION bailiwick.audit_never_changes()

-- Seals records onto the chain and gives the head before and after. A body comes without its beginning {"seq":N. One
-- statement, so no replica that stands still can hold the head: those who append at once wait for commits alone.
CREATE FUNCTION bailiwick.append_audit(bodies text[], OUT first_prev bytea, OUT last_seq bigint, OUT last_hash bytea) LANGUAGE plpgsql AS $$
DECLARE
  rest text;
  prev bytea;
  body text;
BEGIN
  SELECT h.seq, h.hash, h.hash INTO STRICT last_seq, last_hash, first_prev FROM bailiwick.audit_head AS h FOR UPDATE;
  FOREACH rest IN ARRAY bodies LOOP
    last_seq := last_seq + 1;
    prev := last_hash;
    body := '{"seq":' || last_seq || rest;
    last_hash := sha256(convert_to(encode(prev, 'hex') || body, 'UTF8'));
    INSERT INTO bailiwick.audit VALUES (last_seq, prev, last_hash, body);
  END LOOP;
  UPDATE bailiwick.audit_head SET seq = last_seq, hash = last_hash;
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

-- Takes one call from each bucket, or from none: then it gives how many nanoseconds to wait. Rows are locked in the
-- order of their keys, so that two never wait for each other; the time is taken when they are.
CREATE FUNCTION bailiwick.take(keys bytea[], every bigint[], burst bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  at bigint;
  locked bigint;
  wait bigint;
BEGIN
  LOOP -- a row that nobody needs any more can be deleted between the two
    INSERT INTO bailiwick.rate SELECT k, 0 FROM unnest(keys) AS k ORDER BY k ON CONFLICT DO NOTHING;
    SELECT count(*) INTO locked FROM (SELECT FROM bailiwick.rate AS r WHERE r.key = ANY (keys) ORDER BY r.key FOR UPDATE) AS l;
    EXIT WHEN locked = (SELECT count(DISTINCT k) FROM unnest(keys) AS k);
  END LOOP;
  at := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000;
  -- A clock that was put back must not leave a bucket emptier than one that was never used can be.
  SELECT max(greatest(least(r.full_at, at + b.burst * b.every), at) + b.every - at - b.burst * b.every) INTO wait
  FROM unnest(keys, every, burst) AS b (key, every, burst) JOIN bailiwick.rate AS r ON r.key = b.key;
  IF wait > 0 THEN
    RETURN wait;
  END IF;
  UPDATE bailiwick.rate AS r SET full_at = greatest(least(r.full_at, at + b.burst * b.every), at) + b.every
  FROM unnest(keys, every, burst) AS b (key, every, burst) WHERE r.key = b.key;
  RETURN 0;
END $$
