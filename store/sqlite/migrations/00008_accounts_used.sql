ALTER TABLE change ADD COLUMN account TEXT NOT NULL DEFAULT ''; -- whose pending changes it counts among
UPDATE change SET account = coalesce(nullif(lower(trim(owner)), ''), principal);
CREATE INDEX change_account ON change (account) WHERE state = 'pending';

-- What can be used once, and was.
CREATE TABLE used (
  name  TEXT PRIMARY KEY,
  until INTEGER NOT NULL              -- from then on nobody asks for it: microseconds since 1970 UTC
) STRICT, WITHOUT ROWID;
CREATE INDEX used_until ON used (until);
