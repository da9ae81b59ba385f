-- The people who can't approve a change: its authors as "\u001fo:NAME\u001f", those who have approved it as "\u001fa:NAME\u001f".
ALTER TABLE change ADD COLUMN closed TEXT NOT NULL DEFAULT '';

UPDATE change SET closed = char(31) || 'o:' || account || char(31);
