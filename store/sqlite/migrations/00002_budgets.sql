CREATE TABLE budget (
  day     TEXT NOT NULL,              -- of UTC: 2006-01-02
  account TEXT NOT NULL,              -- 'o' and the owner, or 't' and the token
  calls   INTEGER NOT NULL,           -- what was used of each on that day
  rows    INTEGER NOT NULL,
  bytes   INTEGER NOT NULL,
  tokens  INTEGER NOT NULL,           -- estimated
  cost    INTEGER NOT NULL,           -- in millionths of a US dollar
  PRIMARY KEY (day, account)
) STRICT, WITHOUT ROWID;
