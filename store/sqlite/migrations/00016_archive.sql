-- The last record that was moved to an archive: the chain begins behind it. Of the records up to it, those of steps
-- stay, because changes and tokens are held against them.
CREATE TABLE audit_base (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;

INSERT INTO audit_base VALUES (1, 0, x'');

CREATE INDEX audit_step_seq ON audit_step (seq);

CREATE TRIGGER audit_base_moves BEFORE UPDATE ON audit_base
WHEN NEW.seq <= OLD.seq OR NOT EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq AND hash = NEW.hash)
BEGIN SELECT RAISE(ABORT, 'the beginning of the audit moves forwards only, to a record that is there'); END;

CREATE TRIGGER audit_base_stays BEFORE DELETE ON audit_base
BEGIN SELECT RAISE(ABORT, 'the beginning of the audit is never deleted'); END;

DROP TRIGGER audit_never_shrinks;

CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON audit
WHEN OLD.seq > (SELECT seq FROM audit_base) OR EXISTS (SELECT 1 FROM audit_step WHERE seq = OLD.seq)
BEGIN SELECT RAISE(ABORT, 'audit records are never deleted before an archive has them'); END;
