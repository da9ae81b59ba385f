-- Where the audit has the record of a step: one of each.
CREATE TABLE audit_step (
  step TEXT PRIMARY KEY,
  seq  INTEGER NOT NULL               -- of audit
) STRICT, WITHOUT ROWID;

-- Records of steps that the audit doesn't have yet. A row comes in the transaction that keeps its step.
CREATE TABLE outbox (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  step   TEXT NOT NULL UNIQUE,
  change TEXT NOT NULL,
  body   TEXT NOT NULL                -- the canonical form, of record 0
) STRICT;
CREATE INDEX outbox_change ON outbox (change, id);
