ALTER TABLE token ADD COLUMN actions TEXT NOT NULL DEFAULT '{}'; -- JSON {only, except}
