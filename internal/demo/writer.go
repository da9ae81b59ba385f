package demo

import (
	"context"
	"database/sql"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// A writer fills the tables. It stores the first error in err and does nothing after an error.
type writer struct {
	ctx   context.Context
	tx    *sql.Tx
	rng   *rand.Rand
	stmts map[string]*sql.Stmt
	err   error
}

type user struct{ id, name string }

func newWriter(ctx context.Context, tx *sql.Tx) *writer {
	return &writer{ctx: ctx, tx: tx, rng: rand.New(rand.NewPCG(1887, 2026)), stmts: map[string]*sql.Stmt{}}
}

func (w *writer) close() {
	for _, s := range w.stmts {
		w.fail(s.Close())
	}
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// insert adds one row to a table. The values are in the order of the table's columns.
func (w *writer) insert(table string, values ...any) {
	if w.err != nil {
		return
	}
	s := w.stmts[table]
	if s == nil {
		var err error
		s, err = w.tx.PrepareContext(w.ctx, "INSERT INTO "+table+" VALUES (?"+strings.Repeat(", ?", len(values)-1)+")")
		if err != nil {
			w.fail(err)
			return
		}
		w.stmts[table] = s
	}
	if _, err := s.ExecContext(w.ctx, values...); err != nil {
		w.fail(fmt.Errorf("a row of %s: %w", table, err))
	}
}

// all fills every table.
func (w *writer) all() {
	var issues []issue
	legacy := int64(1)<<53 + 1
	for i, c := range companies() {
		founded := time.Date(2024, time.November, 4+i, 9, 0, 0, 0, time.UTC)
		w.insert("organisations", c.id, c.name, c.plan, instant(founded))
		users := w.users(c, founded)
		w.apiKeys(c, users, founded)
		var labels []int
		for j, name := range labelNames() {
			id := i*len(labelNames()) + j + 1
			w.insert("labels", id, c.id, name, fmt.Sprintf("#%06x", w.rng.IntN(1<<24)))
			labels = append(labels, id)
		}
		for _, d := range domains() {
			if d.org != c.id {
				continue
			}
			t := team{rng: w.rng, domain: d, project: uuid(w.rng, founded), users: users, people: c.people, labels: labels, legacy: legacy}
			w.insert("projects", t.project, c.id, d.key, d.name, d.about, pick(w.rng, users).id, false, instant(founded))
			issues = append(issues, t.issues()...)
			legacy = t.legacy
		}
	}
	// Sort by creation time, as in a real tracker. A parent is older than its children.
	slices.SortStableFunc(issues, func(a, b issue) int { return a.created.Compare(b.created) })
	for i := range issues {
		w.issue(&issues[i])
	}
	w.comments(issues)
}

func (w *writer) users(c company, founded time.Time) []user {
	var out []user
	for i, name := range c.people {
		joined := founded.AddDate(0, 0, 3*i)
		u := user{uuid(w.rng, joined), name}
		role := "Member"
		switch {
		case i == 0:
			role = "Admin"
		case i%7 == 1:
			role = "Lead"
		case i%11 == 10:
			role = "Viewer"
		}
		var session, mfa any
		if w.rng.IntN(2) == 0 {
			session = "ses_" + base64.RawURLEncoding.EncodeToString(w.bytes(24))
		}
		if w.rng.IntN(3) > 0 {
			mfa = base32.StdEncoding.EncodeToString(w.bytes(20))
		}
		hash := "$argon2id$v=19$m=65536,t=3,p=4$" + base64.RawStdEncoding.EncodeToString(w.bytes(16)) + "$" +
			base64.RawStdEncoding.EncodeToString(w.bytes(32))
		seen := Clock().Add(-time.Duration(w.rng.IntN(20*24*3600)) * time.Second)
		w.insert("users", u.id, c.id, mailbox(name)+"@"+c.mail, name, role, jobTitles()[i%len(jobTitles())], c.zone, i%13 != 12,
			hash, session, mfa, instant(joined), instant(seen))
		out = append(out, u)
	}
	return out
}

func (w *writer) apiKeys(c company, users []user, founded time.Time) {
	for i, name := range []string{"CI", "Nightly export", "Status page", "Chat bot", "Old importer"} {
		created := founded.AddDate(0, i+1, 0)
		var revoked any
		if name == "Old importer" {
			revoked = instant(created.AddDate(0, 6, 0))
		}
		prefix := "trk_" + hex.EncodeToString(w.bytes(4))
		w.insert("api_keys", nil, c.id, users[i].id, name, prefix, hex.EncodeToString(w.bytes(32)),
			instant(created), instant(created.AddDate(0, 5, i)), revoked)
	}
}

func (w *writer) issue(is *issue) {
	w.insert("issues", is.id, is.org, is.project, is.number, is.typ, is.status, is.priority, is.title, is.body,
		orNull(is.assignee), is.reporter, orNull(is.parent), orNull(is.estimate), day(is.due), is.custom, orNull(is.legacy),
		orNull(is.note), instant(is.created), instant(is.updated), instant(is.deleted), nil)
	for _, label := range is.labels {
		w.insert("issue_labels", is.id, label)
	}
}

// comments writes the comments of all issues in the order of their creation. It first drops random comments until
// exactly Comments remain.
func (w *writer) comments(issues []issue) {
	var all []comment
	for i := range issues {
		all = append(all, issues[i].comments...)
	}
	if len(all) < Comments {
		w.fail(fmt.Errorf("%d comments made, %d wanted", len(all), Comments))
		return
	}
	w.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:Comments]
	slices.SortStableFunc(all, func(a, b comment) int { return a.created.Compare(b.created) })
	for i, c := range all {
		w.insert("comments", i+1, c.issue, c.author, c.body, instant(c.created), nil)
	}
}

func (w *writer) bytes(n int) []byte { return randomBytes(w.rng, n) }

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// uuid returns a version 7 UUID for the time t.
func uuid(rng *rand.Rand, t time.Time) string {
	b := randomBytes(rng, 16)
	ms := t.UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// mailbox returns the local part of an email address for a name.
func mailbox(name string) string {
	plain := strings.NewReplacer("á", "a", "é", "e", "è", "e", "í", "i", "ó", "o", "ö", "o", "ü", "u", "ı", "i", "ş", "s", "č", "c",
		"ń", "n", "'", "", "Ş", "s", "á", "a").Replace(name)
	ascii := strings.Map(func(r rune) rune {
		if r > 127 {
			return -1
		}
		return r
	}, plain)
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(ascii), " ", "."))
}

// orNull returns v, or nil for its zero value.
func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// instant returns t in the form of the tables, or nil for the zero time.
func instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// day returns the date of t, or nil for the zero time.
func day(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.DateOnly)
}
