package demo

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// fields contains the fields of an issue that a request body can set. A nil field is missing.
type fields struct {
	Title    *string         `json:"title"`
	Body     *string         `json:"body"`
	Status   *string         `json:"status"`
	Priority *string         `json:"priority"`
	Assignee json.RawMessage `json:"assignee_id"`
	Estimate json.RawMessage `json:"estimate"`
	Due      json.RawMessage `json:"due_date"`
	Custom   json.RawMessage `json:"custom"`
}

var (
	types      = []string{"Epic", "Story", "Task", "Bug"}
	statuses   = []string{"Backlog", "Todo", "InProgress", "Review", "Done", "Cancelled"}
	priorities = []string{"Low", "Medium", "High", "Critical"}
)

// empty contains the values for fields that are missing in a replacing body.
var empty = map[string]any{"body": "", "assignee_id": nil, "estimate": nil, "due_date": nil, "custom": "{}"}

// columns checks f and returns the values to store by column.
func (f *fields) columns(ctx context.Context, tx *sql.Tx, org string) (map[string]any, error) {
	out := map[string]any{}
	if f.Title != nil {
		if n := utf8.RuneCountInString(*f.Title); n < 1 || n > 200 {
			return nil, invalid("title has 1 to 200 characters")
		}
		out["title"] = *f.Title
	}
	if f.Body != nil {
		out["body"] = *f.Body
	}
	for _, c := range []struct {
		name  string
		given *string
		known []string
	}{{"status", f.Status, statuses}, {"priority", f.Priority, priorities}} {
		if c.given == nil {
			continue
		}
		if !slices.Contains(c.known, *c.given) {
			return nil, invalid("%s is one of %s", c.name, strings.Join(c.known, ", "))
		}
		out[c.name] = *c.given
	}
	if f.Custom != nil {
		if !strings.HasPrefix(string(f.Custom), "{") {
			return nil, invalid("custom is an object")
		}
		out["custom"] = string(f.Custom)
	}
	return out, f.nullable(ctx, tx, org, out)
}

// nullable adds the nullable fields to out.
func (f *fields) nullable(ctx context.Context, tx *sql.Tx, org string, out map[string]any) error {
	var id, due *string
	var hours *float64
	if f.Assignee != nil {
		if json.Unmarshal(f.Assignee, &id) != nil {
			return invalid("assignee_id is a text or null")
		}
		out["assignee_id"] = id
	}
	if id != nil {
		err := tx.QueryRowContext(ctx, "SELECT id FROM users WHERE id = ? AND org_id = ? AND active", *id, org).Scan(new(string))
		if errors.Is(err, sql.ErrNoRows) {
			return invalid("assignee_id is nobody who works here")
		} else if err != nil {
			return err
		}
	}
	if f.Estimate != nil {
		if json.Unmarshal(f.Estimate, &hours) != nil || hours != nil && *hours < 0 {
			return invalid("estimate is a number of hours or null")
		}
		out["estimate"] = hours
	}
	if f.Due != nil {
		if json.Unmarshal(f.Due, &due) != nil {
			return invalid("due_date is a date or null")
		}
		if due != nil {
			if _, err := time.Parse(time.DateOnly, *due); err != nil {
				return invalid("due_date is a date such as 2026-10-30")
			}
		}
		out["due_date"] = due
	}
	return nil
}

func (a *API) updateIssue(r *http.Request, h http.Header) (int, any, error) {
	var f fields
	if err := read(r, &f); err != nil {
		return 0, nil, err
	}
	return a.change(r, h, &f, nil)
}

func (a *API) replaceIssue(r *http.Request, h http.Header) (int, any, error) {
	var f fields
	if err := read(r, &f); err != nil {
		return 0, nil, err
	}
	if f.Title == nil || f.Status == nil || f.Priority == nil {
		return 0, nil, invalid("title, status and priority are needed")
	}
	return a.change(r, h, &f, empty)
}

// change updates the fields of an issue. The argument otherwise contains values for fields that are missing in f, or
// is nil to keep them.
func (a *API) change(r *http.Request, h http.Header, f *fields, otherwise map[string]any) (int, any, error) {
	var after *apiIssue
	err := a.within(r.Context(), func(tx *sql.Tx) error {
		id, err := matchingIssueID(r, tx)
		if err != nil {
			return err
		}
		columns, err := f.columns(r.Context(), tx, r.PathValue("org"))
		if err != nil {
			return err
		}
		for name, v := range otherwise {
			if _, given := columns[name]; !given {
				columns[name] = v
			}
		}
		if len(columns) == 0 {
			return invalid("the body changes nothing")
		}
		var set []string
		var args []any
		for name, v := range columns {
			set, args = append(set, name+" = ?"), append(args, v)
		}
		if _, err := tx.ExecContext(r.Context(), "UPDATE issues SET "+strings.Join(set, ", ")+" WHERE id = ?", append(args, id)...); err != nil {
			return err
		}
		after, _, err = find(r.Context(), tx, r)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	h.Set("ETag", after.tag())
	return http.StatusOK, after, nil
}

// matchingIssueID returns the id of the issue in the request's path. It fails if the header If-Match doesn't match
// the issue.
func matchingIssueID(r *http.Request, tx *sql.Tx) (string, error) {
	is, id, err := find(r.Context(), tx, r)
	if err != nil {
		return "", err
	}
	if want := r.Header.Get("If-Match"); want != "" && want != "*" && want != is.tag() {
		return "", refuse(http.StatusPreconditionFailed, "changed", "the issue was changed since it was read")
	}
	return id, nil
}

func (a *API) deleteIssue(r *http.Request, _ http.Header) (int, any, error) {
	return http.StatusNoContent, nil, a.within(r.Context(), func(tx *sql.Tx) error {
		id, err := matchingIssueID(r, tx)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(r.Context(), "UPDATE issues SET deleted_at = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE id = ?", id)
		return err
	})
}

// A newIssue is the body for a new issue.
type newIssue struct {
	fields
	Project string  `json:"project"`
	Type    string  `json:"type"`
	Parent  *string `json:"parent"`
}

func (a *API) createIssue(r *http.Request, h http.Header) (int, any, error) {
	var f newIssue
	if err := read(r, &f); err != nil {
		return 0, nil, err
	}
	org := r.PathValue("org")
	var made *apiIssue
	err := a.within(r.Context(), func(tx *sql.Tx) error {
		if f.Title == nil || !slices.Contains(types, f.Type) {
			return invalid("title is needed, and type is one of %s", strings.Join(types, ", "))
		}
		columns, err := f.columns(r.Context(), tx, org)
		if err != nil {
			return err
		}
		var project string
		err = tx.QueryRowContext(r.Context(), "SELECT id FROM projects WHERE org_id = ? AND key = ? AND NOT archived", org, f.Project).Scan(&project)
		if errors.Is(err, sql.ErrNoRows) {
			return invalid("there is no project %s that takes issues", f.Project)
		} else if err != nil {
			return err
		}
		columns["org_id"], columns["project_id"], columns["type"], columns["agent"] = org, project, f.Type, "api"
		if columns["parent_id"], err = f.over(r.Context(), tx, org, project); err != nil {
			return err
		}
		key, err := insert(r.Context(), tx, columns)
		if err != nil {
			return err
		}
		made, _, err = findKey(r.Context(), tx, org, key)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	h.Set("ETag", made.tag())
	h.Set("Location", "/v1/orgs/"+org+"/issues/"+made.Key)
	return http.StatusCreated, made, nil
}

// over returns the id of f's parent issue, or nil if it has no parent.
func (f *newIssue) over(ctx context.Context, tx *sql.Tx, org, project string) (any, error) {
	if f.Parent == nil {
		if f.Type == "Task" {
			return nil, invalid("a task needs a parent")
		}
		return nil, nil
	}
	var id, over, of string
	name, number, _ := strings.Cut(*f.Parent, "-")
	err := tx.QueryRowContext(ctx, "SELECT i.id, i.type, i.project_id"+fromIssues+" AND p.key = ? AND i.number = ?", org, name, number).Scan(&id, &over, &of)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, invalid("there is no issue %s", *f.Parent)
	}
	if err == nil && (of != project || f.Type == "Epic" || over != "Epic" && (over != "Story" || f.Type == "Story")) {
		return nil, invalid("a story stands under an epic, a task or bug under a story or epic, of the same project")
	}
	return id, err
}

// insert stores a new issue and returns its key.
func insert(ctx context.Context, tx *sql.Tx, columns map[string]any) (string, error) {
	var names []string
	var args []any
	for name, v := range columns {
		names, args = append(names, name), append(args, v)
	}
	var id, key string
	err := tx.QueryRowContext(ctx, "INSERT INTO issues ("+strings.Join(names, ", ")+") VALUES (?"+strings.Repeat(", ?", len(names)-1)+") RETURNING id", args...).Scan(&id)
	if err != nil {
		return "", err
	}
	err = tx.QueryRowContext(ctx, "SELECT p.key || '-' || i.number FROM issues i JOIN projects p ON p.id = i.project_id WHERE i.id = ?", id).Scan(&key)
	return key, err
}

// within runs do in a transaction.
func (a *API) within(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
