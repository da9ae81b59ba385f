-- Tokens are found by their person, subject, tenant and text, and listed in pages. A program that opens the store writes
-- the person and the text of tokens that an older program stored. Until then the person is a single space, which is never a
-- canonical name.

ALTER TABLE token ADD COLUMN person TEXT NOT NULL DEFAULT ' '; -- the canonical form of owner

ALTER TABLE token ADD COLUMN search TEXT NOT NULL DEFAULT '';  -- name, owner, tenant, id and prefix, in canonical form

ALTER TABLE token ADD COLUMN use TEXT NOT NULL GENERATED ALWAYS AS (coalesce(json_extract(more, '$.use'), '')) VIRTUAL;

ALTER TABLE token ADD COLUMN subject TEXT NOT NULL GENERATED ALWAYS AS (coalesce(json_extract(more, '$.subject'), '')) VIRTUAL;

CREATE INDEX token_page ON token (created, id, expires, revoked, kind, tenant, search);

CREATE INDEX token_tenant ON token (tenant, created, id, expires, revoked, kind, search);

CREATE INDEX token_person ON token (person, tenant, created, id);

CREATE INDEX token_human ON token (person, tenant, expires) WHERE kind = 'human' AND revoked IS NULL;

CREATE INDEX token_human_tenant ON token (tenant, person, expires) WHERE kind = 'human' AND revoked IS NULL;

CREATE INDEX token_grant ON token (person, tenant, expires) WHERE use = 'grant' AND revoked IS NULL;

CREATE INDEX token_subject ON token (subject) WHERE subject <> '';

CREATE INDEX token_narrowed ON token (created, id, expires) WHERE revoked IS NULL AND (tools <> '{}' OR classes <> '{}' OR filters NOT IN ('{}', 'null'));

CREATE INDEX ticket_token ON ticket (json_extract(body, '$.token'), use);
