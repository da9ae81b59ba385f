package demo

// Config is the YAML configuration for the tracker, with a comment on each rule. It expects the database of Create as
// tracker.db in the same folder.
const Config = `# The configuration of the demo: an issue tracker shared by two organisations, acme and globex.
# A class that no rule names is hidden, so what agents may see is all in this file.
listen: 127.0.0.1:8420                # where agents connect. Only this machine can reach it
store: sqlite:bailiwick.db            # Bailiwick's own memory: tokens and the audit
sources:
  tracker: {url: "sqlite:tracker.db"} # the application's database. What agents want written waits for people

classes:
  tracker.organisations:
    description: The companies that share this tracker. An agent sees only its own.
    tenant: {field: id, is: principal.tenant}
    write: deny                       # no agent may even propose it

  tracker.projects:
    description: What issues belong to. Its key begins the number people use, as in PAY-17.
    tenant: {field: org_id, is: principal.tenant}

  tracker.issues:
    description: Epics, stories, tasks and bugs. A story stands under an epic, a task or bug under a story or epic.
    tenant: {field: org_id, is: principal.tenant}
    canonical: {deleted_at: null}     # deleted issues stay out unless a caller asks for them
    code: "{project_id.key}-{number}" # what people call an issue: PAY-17
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
      agent: {description: "The agent that reported it, where no person did"}
    permitted: [title, body, priority, assignee_id, estimate, due_date, custom, deleted_at]

  tracker.comments:
    description: What people wrote under an issue, in Markdown.
    tenant: {through: issue_id}       # no tenant of its own: visible where its issue is
    fields:
      agent: {description: "The agent that wrote it, where no person did"}

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
    write: deny

  tracker.api_keys: {hidden: true}    # as if the table did not exist

gates: {writes: review, raw_writes: review} # agents with the scope write propose. Nothing runs before a person approves
review:
  - {when: change.op == "delete" || change.rows > 20, approvals: 2, risk: high}

queries:                              # what people ask again and again, written once. tool: true makes it a tool of its own
  issue_by_key:
    description: One issue by the key that people write, such as PAY-17, with who works on it.
    tool: true
    input:
      required: [key]
      properties: {key: {type: string, description: "The project's key and the number, as in PAY-17"}}
    example: {key: PAY-17}
    sql: |
      SELECT i.id, i.title, i.type, i.status, i.priority, u.name AS assignee, i.due_date, i.updated_at
      FROM tracker.issues i JOIN tracker.projects p ON p.id = i.project_id LEFT JOIN tracker.users u ON u.id = i.assignee_id
      WHERE p.key || '-' || CAST(i.number AS text) = upper(:key)
  overdue_issues:
    description: Open issues that were due before a day, the most overdue first.
    input:
      required: [day]
      properties:
        day: {type: string, format: date}
        project: {type: string, description: A project's key such as PAY. Without it all projects count}
    example: {day: "2026-10-30", project: PAY}
    sql: |
      SELECT p.key || '-' || CAST(i.number AS text) AS key, i.title, i.priority, i.due_date, u.name AS assignee
      FROM tracker.issues i JOIN tracker.projects p ON p.id = i.project_id LEFT JOIN tracker.users u ON u.id = i.assignee_id
      WHERE i.due_date < :day AND i.status NOT IN ('Done', 'Cancelled') AND (:project IS NULL OR p.key = :project)
      ORDER BY i.due_date, i.id
    limit: 20
  issue_comments:
    description: What people wrote under one issue, the oldest first.
    input:
      required: [issue]
      properties: {issue: {type: string, format: uuid, description: The issue's id}}
    example: {issue: 01948e93-0f70-72b9-9d15-838b77dac376}
    find: {class: tracker.comments, where: {issue_id: {$input: issue}}, keys: [author_id.name, agent, created_at, body], order: created_at}

metrics:                              # what the words of the teams mean, so that no model guesses
  open_issues: {on: tracker.issues, measure: count(), where: {status: {$nin: [Done, Cancelled]}}, description: Issues to finish.}
  open_work: {on: tracker.issues, measure: sum(estimate), where: {status: {$nin: [Done, Cancelled]}}, unit: hours, description: Estimates of the open issues.}
  reported_issues: {on: tracker.issues, measure: count(), time: created_at, description: Issues of all types.}
  reported_bugs: {on: tracker.issues, measure: count(), where: {type: Bug}, time: created_at, description: Bugs only.}
  bug_share: {ratio: [reported_bugs, reported_issues], description: The part of the reported issues that are bugs.}

actions:                              # what the tracker calls what it does; tool: true makes each a tool of its own
  create_issue:
    on: tracker.issues
    title: Create an issue
    description: Propose a new Epic, Story, Task or Bug in a project. A Task needs a parent Story or Epic. A person approves it before it exists.
    do: create
    tool: true
    input:
      type: object
      required: [projectId, title, type]
      properties:
        projectId: {type: string, format: uuid}
        title: {type: string, minLength: 1, maxLength: 200}
        type: {type: string, enum: [Epic, Story, Task, Bug]}
        description: {type: string}
        priority: {type: string, enum: [Low, Medium, High, Critical], default: Medium}
        assigneeId: {type: string, format: uuid}
        estimatedHours: {type: number, minimum: 0}
        parentId: {type: string, format: uuid}
    lookup:
      project: {class: tracker.projects, id: {$cel: input.projectId}}
      assignee: {class: tracker.users, id: {$cel: input.assigneeId}}
      parent: {class: tracker.issues, id: {$cel: input.parentId}}
    require:
      - {that: '!project.archived', field: projectId, message: the project is archived and takes no new issues}
      - {that: 'input.type != "Task" || parent != null', field: parentId, message: a Task needs a parent Story or Epic}
      - {that: 'input.type != "Epic" || parent == null', field: parentId, message: an Epic stands under no other issue}
      - {that: 'parent == null || input.type == "Epic" || parent.type == "Epic" || parent.type == "Story" && input.type in ["Task", "Bug"]', field: parentId,
         message: "a Story stands under an Epic, a Task or Bug under a Story or Epic"}
      - {that: 'parent == null || parent.project_id == project.id', field: parentId, message: the parent belongs to another project}
    set:                              # id, number and times are the database's
      project_id: {$cel: input.projectId}
      title: {$cel: input.title}
      type: {$cel: input.type}
      body: {$cel: input.description}
      priority: {$cel: input.priority}
      assignee_id: {$cel: input.assigneeId}
      estimate: {$cel: input.estimatedHours}
      parent_id: {$cel: input.parentId}
      agent: {$cel: principal.author}
    summary: {$cel: '"Create " + input.type + " in " + project.key + ": " + input.title'}

  update_status:
    on: tracker.issues
    title: Update the status of an issue
    description: Propose the next status of an issue. Backlog → Todo → InProgress → Review → Done, back by one, or Cancelled.
    do: update
    tool: true
    input:
      type: object
      required: [issueId, newStatus]
      properties:
        issueId: {type: string, format: uuid}
        newStatus: {type: string, enum: [Backlog, Todo, InProgress, Review, Done, Cancelled]}
    record: {$cel: input.issueId}
    lookup: {project: {class: tracker.projects, id: {$cel: record.project_id}}}
    transitions:
      status:
        Backlog: [Todo, Cancelled]
        Todo: [InProgress, Backlog, Cancelled]
        InProgress: [Review, Todo, Cancelled]
        Review: [Done, InProgress, Cancelled]
        Done: [InProgress]
        Cancelled: [Backlog]
    set: {status: {$cel: input.newStatus}}
    summary: {$cel: '"Status of " + project.key + "-" + string(record.number) + " " + record.title + ": " + record.status + " → " + input.newStatus'}

  add_comment:
    on: tracker.comments
    title: Comment on an issue
    description: Propose a comment on an issue, in Markdown. You are its author.
    do: create
    tool: true
    input:
      type: object
      required: [issueId, content]
      properties:
        issueId: {type: string, format: uuid}
        content: {type: string, minLength: 1, description: Markdown}
    lookup: {issue: {class: tracker.issues, id: {$cel: input.issueId}}}
    set: {issue_id: {$cel: input.issueId}, body: {$cel: input.content}, agent: {$cel: principal.author}}
    summary: {$cel: '"Comment on " + issue.title'}
`
