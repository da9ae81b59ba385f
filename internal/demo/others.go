package demo

import (
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

func (a *API) listProjects(r *http.Request, _ http.Header) (int, any, error) {
	type project struct {
		Key         string `json:"key"`
		Name        string `json:"name"`
		Description string `json:"description"`
		Archived    bool   `json:"archived"`
		Lead        string `json:"lead_id"`
		Created     string `json:"created_at"`
	}
	page := struct {
		Items []project `json:"items"`
	}{[]project{}}
	err := a.rows(r.Context(), "SELECT key, name, description, archived, lead_id, CAST(created_at AS TEXT) FROM projects WHERE org_id = ? AND archived = ? ORDER BY key",
		[]any{r.PathValue("org"), r.URL.Query().Get("archived") == "true"}, func(scan func(...any) error) error {
			var p project
			err := scan(&p.Key, &p.Name, &p.Description, &p.Archived, &p.Lead, &p.Created)
			page.Items = append(page.Items, p)
			return err
		})
	return http.StatusOK, page, err
}

func (a *API) listUsers(r *http.Request, _ http.Header) (int, any, error) {
	type user struct {
		ID     string  `json:"id"`
		Name   string  `json:"name"`
		Email  string  `json:"email"`
		Role   string  `json:"role"`
		Job    *string `json:"job_title"`
		Active bool    `json:"active"`
	}
	page := struct {
		Items []user `json:"items"`
	}{[]user{}}
	err := a.rows(r.Context(), "SELECT id, name, email, role, job_title, active FROM users WHERE org_id = ? ORDER BY name, id", []any{r.PathValue("org")}, func(scan func(...any) error) error {
		var u user
		err := scan(&u.ID, &u.Name, &u.Email, &u.Role, &u.Job, &u.Active)
		page.Items = append(page.Items, u)
		return err
	})
	return http.StatusOK, page, err
}

type apiComment struct {
	ID      int64  `json:"id"`
	Author  string `json:"author"`
	Body    string `json:"body"`
	Created string `json:"created_at"`
}

const selectComments = "SELECT c.id, coalesce(u.name, c.agent), c.body, CAST(c.created_at AS TEXT) FROM comments c LEFT JOIN users u ON u.id = c.author_id WHERE "

func (c *apiComment) into() []any { return []any{&c.ID, &c.Author, &c.Body, &c.Created} }

func (a *API) listComments(r *http.Request, _ http.Header) (int, any, error) {
	_, id, err := find(r.Context(), a.db, r)
	if err != nil {
		return 0, nil, err
	}
	limit, err := number(r.URL.Query().Get("limit"), 20, 1, 100)
	if err != nil {
		return 0, nil, err
	}
	after := int64(0)
	if text := r.URL.Query().Get("cursor"); text != "" {
		b, err := base64.RawURLEncoding.DecodeString(text)
		if after, _ = strconv.ParseInt(string(b), 10, 64); err != nil || after == 0 {
			return 0, nil, refuse(http.StatusBadRequest, "invalid_parameter", "cursor is none that a page gave")
		}
	}
	page := struct {
		Items []apiComment `json:"items"`
		Next  *string      `json:"next_cursor"`
	}{Items: []apiComment{}}
	err = a.rows(r.Context(), selectComments+"c.issue_id = ? AND c.id > ? ORDER BY c.id LIMIT ?", []any{id, after, limit + 1}, func(scan func(...any) error) error {
		var c apiComment
		err := scan(c.into()...)
		page.Items = append(page.Items, c)
		return err
	})
	if len(page.Items) > limit {
		page.Items = page.Items[:limit]
		next := base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(page.Items[limit-1].ID, 10)))
		page.Next = &next
	}
	return http.StatusOK, page, err
}

func (a *API) addComment(r *http.Request, _ http.Header) (int, any, error) {
	var given struct {
		Body string `json:"body"`
	}
	if err := read(r, &given); err != nil {
		return 0, nil, err
	}
	if strings.TrimSpace(given.Body) == "" {
		return 0, nil, invalid("body is empty")
	}
	var c apiComment
	err := a.within(r.Context(), func(tx *sql.Tx) error {
		_, issue, err := find(r.Context(), tx, r)
		if err != nil {
			return err
		}
		var id int64
		if err := tx.QueryRowContext(r.Context(), "INSERT INTO comments (issue_id, body, agent) VALUES (?, ?, 'api') RETURNING id", issue, given.Body).Scan(&id); err != nil {
			return err
		}
		return tx.QueryRowContext(r.Context(), selectComments+"c.id = ?", id).Scan(c.into()...)
	})
	return http.StatusCreated, c, err
}

// createKey creates an API key that belongs to the organisation's first administrator.
func (a *API) createKey(r *http.Request, _ http.Header) (int, any, error) {
	made := struct {
		Name string `json:"name"`
		Key  string `json:"key,omitempty"`
	}{}
	if err := read(r, &made); err != nil {
		return 0, nil, err
	}
	if made.Name = strings.TrimSpace(made.Name); made.Name == "" || made.Key != "" {
		return 0, nil, invalid("a name is needed, and nothing else")
	}
	made.Key = "trk_" + strings.ToLower(rand.Text())
	sum := sha256.Sum256([]byte(made.Key))
	_, err := a.db.ExecContext(r.Context(), "INSERT INTO api_keys (org_id, user_id, name, prefix, key_hash, created_at) SELECT org_id, id, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"+
		" FROM users WHERE org_id = ? AND role = 'Admin' ORDER BY created_at, id LIMIT 1", made.Name, made.Key[:12], hex.EncodeToString(sum[:]), r.PathValue("org"))
	return http.StatusCreated, made, err
}
