CREATE TABLE event (
  seq  INTEGER PRIMARY KEY AUTOINCREMENT,
  at   INTEGER NOT NULL,              -- microseconds since 1970 UTC; kept for a minute
  body TEXT NOT NULL                  -- JSON
) STRICT;
CREATE INDEX event_at ON event (at);
