package demo

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// A summary is an issue in the form for lists.
type summary struct {
	Key          string  `json:"key"`
	Project      string  `json:"project"`
	Type         string  `json:"type"`
	Status       string  `json:"status"`
	Priority     string  `json:"priority"`
	Title        string  `json:"title"`
	AssigneeID   *string `json:"assignee_id"`
	AssigneeName *string `json:"assignee_name"`
	Created      string  `json:"created_at"`
	Updated      string  `json:"updated_at"`
}

type apiIssue struct {
	summary
	Body     string          `json:"body"`
	Parent   *string         `json:"parent"`
	Estimate *float64        `json:"estimate"`
	Due      *string         `json:"due_date"`
	Custom   json.RawMessage `json:"custom"`
	Note     *string         `json:"internal_note"`
}

// Times are text in the database. Without the cast, the driver would convert them.
const (
	summaryColumns = `p.key || '-' || i.number, p.key, i.type, i.status, i.priority, i.title, i.assignee_id, u.name, CAST(i.created_at AS TEXT), CAST(i.updated_at AS TEXT)`
	issueColumns   = summaryColumns + `, i.body, (SELECT pp.key || '-' || pi.number FROM issues pi JOIN projects pp ON pp.id = pi.project_id WHERE pi.id = i.parent_id),
		i.estimate, CAST(i.due_date AS TEXT), i.custom, i.internal_note`
	fromIssues = ` FROM issues i JOIN projects p ON p.id = i.project_id LEFT JOIN users u ON u.id = i.assignee_id WHERE i.org_id = ? AND i.deleted_at IS NULL`
)

func (s *summary) into() []any {
	return []any{&s.Key, &s.Project, &s.Type, &s.Status, &s.Priority, &s.Title, &s.AssigneeID, &s.AssigneeName, &s.Created, &s.Updated}
}

// A querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// find returns the issue in the request's path and the issue's id.
func find(ctx context.Context, q querier, r *http.Request) (*apiIssue, string, error) {
	return findKey(ctx, q, r.PathValue("org"), r.PathValue("key"))
}

func findKey(ctx context.Context, q querier, org, key string) (*apiIssue, string, error) {
	project, number, _ := strings.Cut(key, "-")
	var is apiIssue
	var id, custom string
	into := append(is.into(), &is.Body, &is.Parent, &is.Estimate, &is.Due, &custom, &is.Note, &id)
	err := q.QueryRowContext(ctx, "SELECT "+issueColumns+", i.id"+fromIssues+" AND p.key = ? AND i.number = ?", org, project, number).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, "", refuse(http.StatusNotFound, "not_found", "there is no issue %s", key)
	}
	is.Custom = json.RawMessage(custom)
	return &is, id, err
}

// tag returns the ETag of an issue.
func (is *apiIssue) tag() string {
	b, err := json.Marshal(is)
	if err != nil {
		return `""` // can't happen, because the database validates custom. No If-Match equals this tag
	}
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

func (a *API) getIssue(r *http.Request, h http.Header) (int, any, error) {
	is, _, err := find(r.Context(), a.db, r)
	if err != nil {
		return 0, nil, err
	}
	h.Set("ETag", is.tag())
	return http.StatusOK, is, nil
}

func (a *API) listIssues(r *http.Request, _ http.Header) (int, any, error) {
	where, args := fromIssues, []any{r.PathValue("org")}
	q := r.URL.Query()
	for _, c := range []struct{ name, condition string }{{"project", "p.key = ?"}, {"status", "i.status = ?"}, {"priority", "i.priority = ?"}, {"type", "i.type = ?"},
		{"assignee_id", "i.assignee_id = ?"}, {"text", "instr(lower(i.title), lower(?)) > 0"}} {
		if q.Has(c.name) {
			where += " AND " + c.condition
			args = append(args, q.Get(c.name))
		}
	}
	limit, err := number(q.Get("limit"), 20, 1, 100)
	if err != nil {
		return 0, nil, err
	}
	offset, err := number(q.Get("offset"), 0, 0, 1<<31)
	if err != nil {
		return 0, nil, err
	}
	page := struct {
		Items []summary `json:"items"`
		Total int       `json:"total"`
	}{Items: []summary{}}
	if err := a.db.QueryRowContext(r.Context(), "SELECT count(*)"+where, args...).Scan(&page.Total); err != nil {
		return 0, nil, err
	}
	err = a.rows(r.Context(), "SELECT "+summaryColumns+where+" ORDER BY i.created_at DESC, i.id LIMIT ? OFFSET ?", append(args, limit, offset), func(scan func(...any) error) error {
		var s summary
		err := scan(s.into()...)
		page.Items = append(page.Items, s)
		return err
	})
	return http.StatusOK, page, err
}

// rows runs a query and calls each for every row.
func (a *API) rows(ctx context.Context, query string, args []any, each func(scan func(...any) error) error) (err error) {
	rows, err := a.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// number parses an integer parameter. The argument none is the default for "".
func number(text string, none, least, most int) (int, error) {
	if text == "" {
		return none, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, refuse(http.StatusBadRequest, "invalid_parameter", "a number must be from %d to %d", least, most)
	}
	return n, nil
}
