-- Since this version records may be in the journal, so who appends must look there first. A program of an older version
-- that has the file open doesn't: its appends fail.
ALTER TABLE audit_head ADD COLUMN moves INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER audit_head_moves BEFORE UPDATE ON audit_head WHEN NEW.moves = OLD.moves BEGIN
  SELECT raise(ABORT, 'a newer Bailiwick has opened this store: restart this one');
END;
