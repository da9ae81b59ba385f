package demo

// Config is the configuration that serves the tracker: YAML, with a comment on each rule. It expects the database
// that Create makes as tracker.db beside it.
const Config = `# The configuration of the demo: an issue tracker shared by two organisations, acme and globex.
# A class that no rule names is hidden, so what agents may see is all in this file.
listen: 127.0.0.1:8420                # where agents connect; only this machine can reach it
store: sqlite:bailiwick.db            # Bailiwick's own memory: tokens and the audit
sources:
  tracker: {url: "sqlite:tracker.db"} # the application's database, opened read-only

classes:
  tracker.organisations:
    description: The companies that share this tracker. An agent sees only its own.
    tenant: {field: id, is: principal.tenant}

  tracker.projects:
    description: What issues belong to. Its key begins the number people use, as in PAY-17.
    tenant: {field: org_id, is: principal.tenant}

  tracker.issues:
    description: Epics, stories, tasks and bugs. A story stands under an epic, a task or bug under a story or epic.
    tenant: {field: org_id, is: principal.tenant}
    canonical: {deleted_at: null}     # deleted issues stay out unless a caller asks for them
    large: [body]                     # shown when named, left out of samples and includes
    denied: [internal_note]           # notes among staff: for agents the field does not exist
    fields:
      number: {description: Counts up within its project; people write KEY-number}
      status:
        description: Where the work stands
        values:
          Backlog: not planned yet
          Todo: planned, not begun
          InProgress: someone is working on it
          Review: waiting for a second pair of eyes
          Done: finished
          Cancelled: will not be done
      priority: {description: How urgent it is, values: {Low: when there is time, Medium: as planned, High: before other work, Critical: now}}
      estimate: {description: Expected work in hours}
      custom: {description: "Whatever a team adds: component, customer {name, tier}, tags, sprint"}
      legacy_id: {description: The issue's id in the tracker used before 2025}

  tracker.comments:
    description: What people wrote under an issue, in Markdown.
    tenant: {through: issue_id}       # no tenant of its own: visible where its issue is

  tracker.labels:
    description: Words to sort issues by.
    tenant: {field: org_id, is: principal.tenant}

  tracker.issue_labels:
    description: Which issue carries which label.
    tenant: {through: issue_id}

  tracker.users:
    description: The people who work here. Passwords, sessions and second factors are never shown.
    tenant: {field: org_id, is: principal.tenant}
    visible: [id, org_id, name, role, job_title, time_zone, active, created_at]

  tracker.api_keys: {hidden: true}    # as if the table did not exist
`
