-- Tokens are found by their person, subject, tenant and text, and listed in pages. A program that opens the store writes
-- the person and the text of tokens that an older program stored. Until then the person is a single space, which is never a
-- canonical name.

ALTER TABLE bailiwick.token
  ALTER COLUMN tenant TYPE text COLLATE "C",
  ADD COLUMN person  text COLLATE "C" NOT NULL DEFAULT ' ', -- the canonical form of owner
  ADD COLUMN search  text COLLATE "C" NOT NULL DEFAULT '',  -- name, owner, tenant, id and prefix, in canonical form
  ADD COLUMN use     text COLLATE "C" NOT NULL GENERATED ALWAYS AS (coalesce(more::jsonb ->> 'use', '')) STORED,
  ADD COLUMN subject text COLLATE "C" NOT NULL GENERATED ALWAYS AS (coalesce(more::jsonb ->> 'subject', '')) STORED;

CREATE INDEX token_page ON bailiwick.token (created, id);

CREATE INDEX token_tenant ON bailiwick.token (tenant, created, id);

CREATE INDEX token_person ON bailiwick.token (person, tenant, created, id);

CREATE INDEX token_human ON bailiwick.token (person, tenant, expires) WHERE kind = 'human' AND revoked IS NULL;

CREATE INDEX token_human_tenant ON bailiwick.token (tenant, person, expires) WHERE kind = 'human' AND revoked IS NULL;

CREATE INDEX token_grant ON bailiwick.token (person, tenant, expires) WHERE use = 'grant' AND revoked IS NULL;

CREATE INDEX token_subject ON bailiwick.token (subject) WHERE subject <> '';

CREATE INDEX token_narrowed ON bailiwick.token (created, id) WHERE revoked IS NULL AND (tools <> '{}' OR classes <> '{}' OR filters NOT IN ('{}', 'null'));

CREATE INDEX ticket_token ON bailiwick.ticket ((body::jsonb ->> 'token'), use);
