package demo

// tables is the tracker's schema. The database enforces every rule that the application relies on. Times are ISO 8601
// text in UTC. The column agent contains authors that are agents instead of users. The database assigns ids and
// numbers to issues and records the time of their changes.
const tables = `
CREATE TABLE organisations (
  id         TEXT NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 2 AND 40),
  name       TEXT NOT NULL UNIQUE,
  plan       TEXT NOT NULL CHECK (plan IN ('Free', 'Team', 'Enterprise')),
  created_at TIMESTAMP NOT NULL
);

CREATE TABLE users (
  id            UUID NOT NULL PRIMARY KEY CHECK (length(id) = 36),
  org_id        TEXT NOT NULL REFERENCES organisations (id),
  email         TEXT NOT NULL UNIQUE CHECK (email LIKE '%_@_%'),
  name          TEXT NOT NULL CHECK (name <> ''),
  role          TEXT NOT NULL DEFAULT 'Member' CHECK (role IN ('Admin', 'Lead', 'Member', 'Viewer')),
  job_title     TEXT,
  time_zone     TEXT NOT NULL DEFAULT 'UTC',
  active        BOOLEAN NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  password_hash TEXT NOT NULL,
  session_token TEXT UNIQUE,
  mfa_secret    TEXT,
  created_at    TIMESTAMP NOT NULL,
  last_login_at TIMESTAMP
);
CREATE INDEX users_by_org ON users (org_id, name);

CREATE TABLE projects (
  id          UUID NOT NULL PRIMARY KEY CHECK (length(id) = 36),
  org_id      TEXT NOT NULL REFERENCES organisations (id),
  key         TEXT NOT NULL CHECK (length(key) BETWEEN 2 AND 6 AND key = upper(key)),
  name        TEXT NOT NULL CHECK (name <> ''),
  description TEXT NOT NULL DEFAULT '',
  lead_id     UUID NOT NULL REFERENCES users (id),
  archived    BOOLEAN NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
  created_at  TIMESTAMP NOT NULL,
  UNIQUE (org_id, key)
);
CREATE INDEX projects_by_lead ON projects (lead_id);

CREATE TABLE labels (
  id     INTEGER NOT NULL PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES organisations (id),
  name   TEXT NOT NULL CHECK (name <> ''),
  colour TEXT NOT NULL CHECK (colour GLOB '#[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]'),
  UNIQUE (org_id, name)
);

CREATE TABLE issues (
  id            UUID NOT NULL PRIMARY KEY DEFAULT (lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))) CHECK (length(id) = 36),
  org_id        TEXT NOT NULL REFERENCES organisations (id),
  project_id    UUID NOT NULL REFERENCES projects (id),
  number        INTEGER CHECK (number > 0),
  type          TEXT NOT NULL CHECK (type IN ('Epic', 'Story', 'Task', 'Bug')),
  status        TEXT NOT NULL DEFAULT 'Backlog' CHECK (status IN ('Backlog', 'Todo', 'InProgress', 'Review', 'Done', 'Cancelled')),
  priority      TEXT NOT NULL DEFAULT 'Medium' CHECK (priority IN ('Low', 'Medium', 'High', 'Critical')),
  title         TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
  body          TEXT NOT NULL DEFAULT '',
  assignee_id   UUID REFERENCES users (id),
  reporter_id   UUID REFERENCES users (id),
  parent_id     UUID REFERENCES issues (id),
  estimate      REAL CHECK (estimate >= 0),
  due_date      DATE,
  custom        JSON NOT NULL DEFAULT '{}' CHECK (json_valid(custom)),
  legacy_id     BIGINT UNIQUE,
  internal_note TEXT,
  created_at    TIMESTAMP NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
  updated_at    TIMESTAMP NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')) CHECK (updated_at >= created_at),
  deleted_at    TIMESTAMP CHECK (deleted_at >= created_at),
  agent         TEXT,
  UNIQUE (project_id, number),
  CHECK (reporter_id IS NOT NULL OR agent IS NOT NULL),
  CHECK (type <> 'Epic' OR parent_id IS NULL),
  CHECK (type <> 'Task' OR parent_id IS NOT NULL)
);
CREATE INDEX issues_by_org ON issues (org_id, created_at);
CREATE INDEX issues_by_project ON issues (project_id, status);
CREATE INDEX issues_by_assignee ON issues (assignee_id, status);
CREATE INDEX issues_by_reporter ON issues (reporter_id);
CREATE INDEX issues_by_parent ON issues (parent_id);

CREATE TABLE comments (
  id         INTEGER NOT NULL PRIMARY KEY,
  issue_id   UUID NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  author_id  UUID REFERENCES users (id),
  body       TEXT NOT NULL CHECK (body <> ''),
  created_at TIMESTAMP NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
  agent      TEXT,
  CHECK (author_id IS NOT NULL OR agent IS NOT NULL)
);
CREATE INDEX comments_by_issue ON comments (issue_id, created_at);
CREATE INDEX comments_by_author ON comments (author_id);

CREATE TABLE issue_labels (
  issue_id UUID NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  label_id INTEGER NOT NULL REFERENCES labels (id),
  PRIMARY KEY (issue_id, label_id)
) WITHOUT ROWID;
CREATE INDEX issue_labels_by_label ON issue_labels (label_id);

CREATE TABLE api_keys (
  id           INTEGER NOT NULL PRIMARY KEY,
  org_id       TEXT NOT NULL REFERENCES organisations (id),
  user_id      UUID NOT NULL REFERENCES users (id),
  name         TEXT NOT NULL CHECK (name <> ''),
  prefix       TEXT NOT NULL UNIQUE,
  key_hash     TEXT NOT NULL UNIQUE CHECK (length(key_hash) = 64),
  created_at   TIMESTAMP NOT NULL,
  last_used_at TIMESTAMP,
  revoked_at   TIMESTAMP
);
CREATE INDEX api_keys_by_org ON api_keys (org_id);
CREATE INDEX api_keys_by_user ON api_keys (user_id);

CREATE TRIGGER issues_parent_of_new BEFORE INSERT ON issues WHEN NEW.parent_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a Story stands under an Epic, a Task or Bug under a Story or Epic, of the same project')
  WHERE NOT EXISTS (SELECT 1 FROM issues p WHERE p.id = NEW.parent_id AND p.project_id = NEW.project_id
    AND (p.type = 'Epic' OR p.type = 'Story' AND NEW.type IN ('Task', 'Bug')));
END;
CREATE TRIGGER issues_parent_of_changed BEFORE UPDATE OF parent_id, project_id, type ON issues WHEN NEW.parent_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a Story stands under an Epic, a Task or Bug under a Story or Epic, of the same project')
  WHERE NOT EXISTS (SELECT 1 FROM issues p WHERE p.id = NEW.parent_id AND p.project_id = NEW.project_id
    AND (p.type = 'Epic' OR p.type = 'Story' AND NEW.type IN ('Task', 'Bug')));
END;
CREATE TRIGGER issues_number_of_new AFTER INSERT ON issues WHEN NEW.number IS NULL
BEGIN
  UPDATE issues SET number = (SELECT coalesce(max(number), 0) + 1 FROM issues WHERE project_id = NEW.project_id) WHERE id = NEW.id;
END;
CREATE TRIGGER issues_time_of_change AFTER UPDATE ON issues WHEN NEW.updated_at = OLD.updated_at AND NEW.number IS OLD.number
BEGIN
  UPDATE issues SET updated_at = max(strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), NEW.updated_at) WHERE id = NEW.id;
END;
`
