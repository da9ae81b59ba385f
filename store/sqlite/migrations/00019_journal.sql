-- The folder of the audit's journal that a process uses, until the last one closes it. A folder that is gone when the store is opened again
-- is lost: records behind the number "after" may have been in it.
CREATE TABLE journal (
	id    TEXT PRIMARY KEY,
	since INTEGER NOT NULL, -- microseconds
	after INTEGER,          -- NULL: it is not lost
	lost  INTEGER
) STRICT;
