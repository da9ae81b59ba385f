package endtoend

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A world is the data of one application with visible and hidden data for one principal. In two worlds with the same
// visible part, the principal must receive the same answers, byte for byte.

// A table is a table of the worlds. Columns in hidden aren't visible, and a secret table isn't visible at all. The
// twin is a database without these columns and tables. Its answers must also have the same bytes.
type table struct {
	name    string
	columns []string // in the form "name type". %json, %time, %uuid and %double stand for types of the dialect
	after   []string // constraints and indexes on visible columns
	hidden  []string // the hidden columns
	behind  []string // constraints and indexes that include hidden columns
	words   []string // visible columns with a full-text index
	whisper []string // hidden columns in the same index or in a separate one
	secret  bool
}

var tables = []table{
	{name: "orgs", columns: []string{"id text PRIMARY KEY", "name text"}},
	{name: "users", columns: []string{"id integer PRIMARY KEY", "org_id text REFERENCES orgs (id)", "name text", "role text", "age integer",
		"boss_id integer REFERENCES users (id)", "vault_id integer", "phone text", "born %time", "about text", "alias text"},
		hidden: []string{"email text", "password_hash text", "rank integer"}, behind: []string{"UNIQUE (email)", "FOREIGN KEY (vault_id) REFERENCES vaults (id)"},
		words: []string{"name", "role"}, whisper: []string{"email", "phone"}},
	{name: "issues", columns: []string{"id %uuid PRIMARY KEY", "org_id text", "title text NOT NULL", "status text", "estimate %double", "points integer",
		"due %time", "urgent boolean", "custom %json", "assignee_id integer REFERENCES users (id)", "vault_id integer", "deleted_at %time", "extra %json", "watcher_ids %json"},
		hidden: []string{"score integer", "internal_note text"}, behind: []string{"FOREIGN KEY (vault_id) REFERENCES vaults (id)"},
		words: []string{"title", "status"}, whisper: []string{"internal_note"}},
	{name: "comments", columns: []string{"id integer PRIMARY KEY", "issue_id %uuid", "author_id integer REFERENCES users (id)", "body text"},
		hidden: []string{"private boolean", "draft text"}, words: []string{"body"}, whisper: []string{"draft"}},
	{name: "shifts", columns: []string{"org_id text", "day integer", "slot integer", "who integer"}, after: []string{"PRIMARY KEY (day, slot)"},
		hidden: []string{"pay integer"}, behind: []string{"UNIQUE (day, slot, pay)"}},
	{name: "events", columns: []string{"kind text", "hint text", "n integer"}, hidden: []string{"org_id text", "trace text"}},
	{name: "labels", columns: []string{"id integer PRIMARY KEY", "name text"}},
	// Rules declare the types of made, meta, price and user_ids. Some values don't have the declared form.
	{name: "readings", columns: []string{"id integer PRIMARY KEY", "org_id text", "made bigint", "meta text", "price text", "user_ids text", "label_ids %json", "note text",
		"addr %inet", "net %cidr", "waited %interval", "at %clock", "cost %money", "lexemes %lexemes"},
		hidden: []string{"seen bigint", "draft text", "origin %inet", "spent %money", "whispers %lexemes"}},
	// A share belongs to every tenant in its list. A part belongs to the tenants of its share.
	{name: "shares", columns: []string{"id integer PRIMARY KEY", "title text", "orgs %json", "owner_id integer REFERENCES users (id)"}, hidden: []string{"draft text"}},
	{name: "parts", columns: []string{"id integer PRIMARY KEY", "share_id integer REFERENCES shares (id)", "note text"}, hidden: []string{"trace text"}},
	{name: "vaults", columns: []string{"id integer PRIMARY KEY", "code text"}, secret: true},
	{name: "isues", columns: []string{"id integer PRIMARY KEY", "title text"}, secret: true}, // similar to a name that agents see
}

// ddl returns the schema. For the twin, it omits everything hidden.
func ddl(dialect map[string]string, twin bool) string {
	var b strings.Builder
	order := slices.Clone(tables)
	slices.SortStableFunc(order, func(x, y table) int { // secret tables first, because others reference them
		switch {
		case x.secret == y.secret:
			return 0
		case x.secret:
			return -1
		}
		return 1
	})
	for _, t := range order {
		if t.secret && twin {
			continue
		}
		parts := append(slices.Clone(t.columns), t.after...)
		if !twin {
			parts = append(append(slices.Clone(t.columns), t.hidden...), t.after...)
			parts = append(parts, t.behind...)
		}
		if twin && t.name == "events" {
			parts = append(parts, "org_id text") // required by the tenant rule
		}
		fmt.Fprintf(&b, "CREATE TABLE %s (%s);\n", t.name, strings.Join(parts, ", "))
	}
	b.WriteString("CREATE INDEX by_status ON issues (org_id, status);\n")
	if !twin {
		b.WriteString("CREATE INDEX by_score ON issues (score, status);\nCREATE INDEX by_rank ON users (rank);\n")
	}
	sql := b.String()
	for name, typ := range dialect {
		sql = strings.ReplaceAll(sql, name, typ)
	}
	return sql
}

// sqliteWords returns the full-text indexes of SQLite. Each table has one index for all its texts, including hidden
// ones. The statements in again update them after new data.
func sqliteWords(twin bool) (ddl string, again []string) {
	for _, t := range tables {
		columns := t.words
		if !twin {
			columns = append(slices.Clone(t.whisper), t.words...)
		}
		if t.words != nil && t.name != "issues" { // its key isn't an integer
			ddl += fmt.Sprintf("CREATE VIRTUAL TABLE %s_words USING fts5(%s, content='%[1]s', content_rowid='id');\n", t.name, strings.Join(columns, ", "))
			again = append(again, fmt.Sprintf("INSERT INTO %s_words (%[1]s_words) VALUES ('rebuild')", t.name))
		}
	}
	return ddl, again
}

// postgresWords returns the full-text indexes of PostgreSQL. There is one for each text, and one for hidden and
// visible texts together.
func postgresWords(twin bool) (ddl string) {
	for _, t := range tables {
		for i, c := range t.words {
			ddl += fmt.Sprintf("CREATE INDEX ON %s USING gin (to_tsvector('%s', %s));\n", t.name, []string{"english", "simple"}[i], c)
		}
		for _, c := range t.whisper {
			if !twin {
				ddl += fmt.Sprintf("CREATE INDEX ON %s USING gin (to_tsvector('simple', %s));\n", t.name, c)
				ddl += fmt.Sprintf("CREATE INDEX ON %s USING gin (to_tsvector('simple', coalesce(%s, '') || ' ' || coalesce(%s, '')));\n", t.name, t.words[0], c)
			}
		}
	}
	// Triggers maintain two columns: one from visible texts, and one that also uses hidden texts.
	kept := "ALTER TABLE readings ENABLE ALWAYS TRIGGER %[1]s; CREATE INDEX ON readings USING gin (%[1]s);\n"
	trigger := "CREATE TRIGGER %[1]s BEFORE INSERT OR UPDATE ON readings FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger(%[1]s, 'pg_catalog.simple', %[2]s);\n" + kept
	ddl += fmt.Sprintf(trigger, "lexemes", "note")
	if !twin {
		ddl += fmt.Sprintf(trigger, "whispers", "note, draft")
	}
	return ddl
}

// rules returns the rules of the worlds. For the twin, it omits rules for classes and fields that the twin lacks.
func rules(twin bool) policy.Rules {
	tenant := &policy.TenantRule{Field: "org_id"}
	live := query.Compare{Path: query.Path{"deleted_at"}, Op: query.Eq}
	r := policy.Rules{Version: "1", Classes: map[string]policy.ClassRule{
		"orgs": {Tenant: &policy.TenantRule{Field: "id"}},
		"users": {Tenant: tenant, Visible: []string{"id", "org_id", "name", "role", "age", "boss_id", "vault_id", "phone", "born", "about", "alias"},
			Mask: map[string]policy.Mask{"phone": policy.Partial, "born": policy.Null, "about": policy.Inside, "alias": policy.Pseudonym}, MaskInside: map[string][]policy.Pattern{"about": policy.Patterns()}},
		"issues": {Tenant: tenant, Canonical: live, Large: []string{"custom"}, Visible: []string{"id", "org_id", "title", "status", "estimate", "points",
			"due", "urgent", "custom", "assignee_id", "vault_id", "deleted_at", "extra", "watcher_ids"},
			Pointers: map[string]policy.Pointer{"watcher_ids": {Class: "users"}}, Mask: map[string]policy.Mask{"extra": policy.Null},
			Fields: map[string]policy.FieldRule{"status": {Values: []policy.FieldValue{{Value: "Todo"}, {Value: "Done"}}}}},
		"comments": {Tenant: &policy.TenantRule{Through: "issue_id"}, Pointers: map[string]policy.Pointer{"issue_id": {Class: "issues"}}, Visible: []string{"id", "issue_id", "author_id", "body"}},
		"shifts":   {Tenant: tenant, Pointers: map[string]policy.Pointer{"who": {Class: "users", Key: "id"}}, Visible: []string{"org_id", "day", "slot", "who"}},
		"events":   {Tenant: tenant, Visible: []string{"kind", "n", "hint"}, Mask: map[string]policy.Mask{"hint": policy.Null}},
		"labels":   {},
		"shares":   {Tenant: &policy.TenantRule{Field: "orgs", Contains: true}, Visible: []string{"id", "title", "orgs", "owner_id"}},
		"parts":    {Tenant: &policy.TenantRule{Through: "share_id"}, Visible: []string{"id", "share_id", "note"}},
		"readings": {Tenant: tenant, Visible: []string{"id", "org_id", "made", "meta", "price", "user_ids", "label_ids", "note", "addr", "net", "waited", "at", "cost", "lexemes"},
			Types: typesOf(), Pointers: map[string]policy.Pointer{"label_ids": {Class: "labels"}, "user_ids": {Class: "users"}}, Mask: map[string]policy.Mask{"net": policy.Null}},
	}}
	users := r.Classes["users"]
	if !twin {
		users.Examples = []policy.Example{
			{Question: "Who has a vault?", SQL: "SELECT u.name FROM users u JOIN vaults v ON v.id = u.vault_id"},
			{Question: "Who scored?", SQL: "SELECT u.name FROM users u JOIN issues i ON i.assignee_id = u.id WHERE i.score > 1"},
			{Question: "Which vaults are there?", Tool: "query_class", Arguments: value.OfObject([]value.Member{{Name: "class_name", Value: value.OfString("vaults")}})},
		}
	}
	users.Examples = append(users.Examples,
		policy.Example{Question: "Whose phone is it?", SQL: "SELECT name FROM users WHERE phone = '1'"},
		policy.Example{Question: "Who is there?", SQL: "SELECT name FROM users"},
		policy.Example{Question: "Who is named often?", SQL: "SELECT name, count(*) FROM users GROUP BY name"})
	r.Classes["users"] = users
	if !twin {
		r.Classes["vaults"] = policy.ClassRule{Hidden: true, HiddenBut: identity.Operator}
		r.Classes["readings"].Types["seen"] = schema.EpochMillis
	}
	return r
}

// typesOf returns the types of the class readings that no source declares.
func typesOf() map[string]schema.Form {
	return map[string]schema.Form{"made": schema.EpochMillis, "meta": schema.JSONText, "price": schema.DecimalForm, "user_ids": schema.JSONText}
}

// A profile is a principal with the rows that it may see, computed independently of package policy.
type profile struct {
	who    identity.Principal
	sees   func(table string, r record) bool // reports whether a row of its tenant is visible
	noTwin bool                              // its filters use names that the twin lacks
}

func profiles() []profile {
	p := identity.Principal{ID: "token:1", Owner: "ann", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}
	filtered, narrow := p, p
	filtered.ID, narrow.ID = "token:2", "token:3"
	filtered.Filters = map[string]query.Filter{
		"issues": query.Compare{Path: query.Path{"score"}, Op: query.Ne, Value: value.OfInt(3)}, // filters by a field that it can't see
		"users":  query.In{Path: query.Path{"role"}, Values: []value.Value{value.OfString("dev"), value.OfString("ops")}},
	}
	narrow.Classes = identity.List{Only: []string{"comments", "users", "events"}}
	all := func(string, record) bool { return true }
	return []profile{
		{p, all, false},
		{filtered, func(table string, r record) bool {
			switch table {
			case "issues":
				return r["score"] != 3
			case "users":
				return r["role"] == "dev" || r["role"] == "ops"
			}
			return true
		}, true},
		{narrow, all, false},
	}
}

// A record is one row by column. A missing column means null.
type record map[string]any

type world map[string][]record

// A maker creates random worlds.
type maker struct {
	*rand.Rand
	profile
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// text, number and document draw from a few values, so that conditions match and rows tie.
func (m *maker) text() any {
	return pick[any](m.Rand, nil, "", "a", "A", "ab", "b", "é", "z%_", "crash", "O'Neil \"x\"", "1", "0x", "ß")
}

func (m *maker) number() any {
	return pick[any](m.Rand, nil, -1, 0, 1, 2, 3, 5, 2147483647)
}

func (m *maker) document() any {
	return pick[any](m.Rand, nil, `{}`, `null`, `{"a": 1}`, `{"a": [1, 2, "x"]}`, `{"a": {"b": null}, "tags": ["x", "y"]}`,
		`{"a": [{"b": 1}, {"b": "x"}, 3]}`, `[1, "a", {"a": 2}]`, `"a"`, `5`, `{"tags": []}`,
		`[1, 2]`, `{"lat": 1, "lng": 2, "a": [3, 4]}`, `{"a": {"type": "Point", "coordinates": [5, 6]}}`)
}

func (m *maker) instant() any {
	return pick[any](m.Rand, nil, nil, "2026-01-31 10:00:00", "2026-02-01 00:00:00", "1969-12-31 23:59:59")
}

func uuid(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// row returns a random row of a table with the key n. visible says whether it must be in the principal's view.
func (m *maker) row(t string, n int, visible bool) record {
	for {
		r := m.draw(t, n)
		if !visible && m.IntN(3) == 0 {
			m.hostile(r)
		}
		if m.fits(t, r) == visible || t == "comments" || t == "parts" || t == "labels" {
			return r
		}
	}
}

// draw returns a random row of a table with the key n, without hidden columns.
func (m *maker) draw(t string, n int) record {
	r := record{"id": n, "name": m.text(), "org_id": pick(m.Rand, "acme", "globex"), "vault_id": pick[any](m.Rand, nil, 1, 2)}
	switch t {
	case "orgs":
		r["id"] = "org" + fmt.Sprint(n)
	case "users":
		r["role"], r["age"], r["boss_id"] = pick[any](m.Rand, nil, "dev", "ops", "boss"), m.number(), m.user()
		r["phone"], r["born"], r["about"] = m.contact(), m.instant(), m.about()
		r["alias"] = m.contact()
	case "issues":
		r["id"], r["title"], r["status"] = uuid(n), pick(m.Rand, "crash", "a", "A", "slow é"), pick[any](m.Rand, nil, "Todo", "Done")
		r["estimate"], r["points"], r["due"] = pick[any](m.Rand, nil, 0.5, 1, -2.25), m.number(), m.instant()
		r["urgent"], r["custom"], r["assignee_id"] = pick[any](m.Rand, nil, true, false), m.document(), m.user()
		r["deleted_at"], r["score"], r["extra"] = m.instant(), m.number(), m.document()
		r["watcher_ids"] = m.users()
	case "comments":
		delete(r, "org_id")
		r["author_id"], r["body"] = m.user(), m.text()
	case "shares":
		r["title"], r["orgs"], r["owner_id"] = m.text(), m.orgs(), m.user()
	case "parts":
		r["note"] = m.text()
	case "shifts":
		r["day"], r["slot"], r["who"] = n/10, n%10, m.user()
	case "events":
		r["kind"], r["n"], r["hint"] = m.text(), m.number(), m.text()
	case "readings":
		r["made"], r["meta"], r["price"], r["user_ids"], r["label_ids"], r["note"] = m.counted(), m.written(), m.amount(), m.users(), m.users(), m.text()
		r["addr"], r["net"], r["waited"] = m.address(), pick[any](m.Rand, nil, "10.0.0.0/8", "fe80::/64"), pick[any](m.Rand, nil, "PT1H", "P1DT2H30M", "PT-0.5S")
		r["at"], r["cost"] = pick[any](m.Rand, nil, "13:05:00", "00:00:00"), m.money()
	}
	return r
}

// orgs returns a list of tenants or another value.
func (m *maker) orgs() any {
	return pick[any](m.Rand, `["acme"]`, `["acme", "globex"]`, `["globex", "acme", "acme"]`, `"acme"`, nil, `[]`, `["globex"]`, `["Acme", "acme "]`, `[["acme"]]`, `{"0": "acme"}`, `"globex"`, `[null, 1]`)
}

// counted returns milliseconds since 1970, or sometimes a value that is not a date.
func (m *maker) counted() any {
	return pick[any](m.Rand, nil, 0, -1, 1769853600000, 1769853600000, 1769904000000, 1769904000001, int64(math.MaxInt64), int64(math.MinInt64))
}

// written returns JSON as a text, or sometimes a text that is not JSON.
func (m *maker) written() any {
	return pick(m.Rand, m.document(), m.document(), pick[any](m.Rand, `{"a"`, "", "[1,]", `{"a": 1e400}`, strings.Repeat("[", 9)+strings.Repeat("]", 9)))
}

// amount returns a decimal as a text. Sometimes the text is not a number.
func (m *maker) amount() any {
	return pick[any](m.Rand, nil, "1", "1.0", "0.5", "-2.25", "12.50", "abc", "", "1e3", "NaN", "99999999999999999999.99")
}

func (m *maker) address() any {
	return pick[any](m.Rand, nil, "10.0.0.1", "10.0.0.1", "10.0.0.7/8", "fe80::1")
}

func (m *maker) money() any { return pick[any](m.Rand, nil, "0.00", "1.00", "12.50", "-2.25") }

// hostile fills a hidden row with values on which expressions fail unless they are total.
func (m *maker) hostile(r record) {
	hostile := map[string][]any{
		"estimate": {1e308, -1e308, 5e-324}, "points": {2147483647, -2147483648, 0}, "age": {-2147483648, 0}, "n": {2147483647, 0},
		"due": {"0001-01-01 00:00:00", "9999-12-31 23:59:59"}, "deleted_at": {"9999-12-31 23:59:59"},
		"custom": {`{"a": 1e300, "tags": "x"}`, `{"a": "2026-02-31", "tags": [1e308, 1e308]}`, `{"a": 9223372036854775808}`, `[[[[[[1]]]]]]`,
			`[1e300, -1e300]`, `{"lat": "1", "lng": [], "a": [91, 181]}`, `{"lat": 90, "lng": -180, "a": {"type": "Point", "coordinates": [null, 1e308]}}`},
		"made": {int64(math.MaxInt64), int64(math.MinInt64), -62135596800001, 253402300800000}, "meta": {`{"a": 1e999}`, `{"a":`, `"\ud800"`, strings.Repeat("[", 9) + strings.Repeat("]", 9)},
		"price": {"1e999999", "-1e-400", "Infinity", "1_000", "٣"}, "cost": {"92233720368547758.07", "-92233720368547758.08"},
		"title": {"2026-02-31", "1e999", "99999999999999999999", ""}, "status": {"-9223372036854775809", "0x1F", "\\"}, "name": {"1e400", "infinity", "NaN"},
	}
	for _, name := range slices.Sorted(maps.Keys(r)) { // in a fixed order, so that a seed creates the same world each time
		if values := hostile[name]; values != nil {
			r[name] = pick(m.Rand, values...)
		}
	}
}

func (m *maker) user() any { return pick[any](m.Rand, nil, 1, 2, 3, 4, 101, 102, 103) }

// users returns a list of pointers to users. Some of the users are hidden and some don't exist.
func (m *maker) users() any {
	var list []string
	for range m.IntN(4) {
		list = append(list, pick(m.Rand, "1", "2", "3", "4", "101", "102", "103", "7777", "null"))
	}
	return pick[any](m.Rand, nil, "["+strings.Join(list, ", ")+"]", "["+strings.Join(list, ", ")+"]")
}

func (m *maker) fits(t string, r record) bool {
	switch orgs, _ := r["orgs"].(string); t {
	case "orgs":
		return r["id"] == "acme"
	case "shares":
		return !strings.HasPrefix(orgs, "[[") && !strings.HasPrefix(orgs, "{") && strings.Contains(orgs, `"acme"`)
	}
	return r["org_id"] == "acme" && m.sees(t, r)
}

// conceal changes the hidden columns of a row without moving the row into or out of the view. It gives masked columns
// other values that look the same under the mask.
func (m *maker) conceal(t string, r record) record {
	out := record{}
	for k, v := range r {
		out[k] = v
	}
	for _, column := range tables[slices.IndexFunc(tables, func(x table) bool { return x.name == t })].hidden {
		name, _, _ := strings.Cut(column, " ")
		switch name {
		case "org_id":
		case "email":
			out[name] = fmt.Sprintf("%d-%d", out["id"], m.IntN(1000))
		case "score":
			out[name] = m.number()
			if m.sees(t, out) != m.sees(t, r) {
				out[name] = r[name] // a filter depends on it, so another value could move the row into or out of the view
			}
		case "private":
			out[name] = pick[any](m.Rand, nil, true, false)
		case "rank", "pay":
			out[name] = m.number()
		default:
			out[name] = m.hidden(name, out["id"])
		}
	}
	m.remask(t, out)
	return out
}

// visible creates the part of a world that the principal may see.
func (m *maker) visible() world {
	w := world{"orgs": {{"id": "acme", "name": m.text()}}}
	for _, t := range []string{"users", "issues", "shifts", "events", "labels", "readings", "shares", "comments", "parts"} {
		for n := range 2 + m.IntN(9) {
			r := m.row(t, n+1, true)
			if whole, pointer := wholes(t); whole != "" {
				if len(w[whole]) == 0 {
					break
				}
				r[pointer] = pick(m.Rand, w[whole]...)["id"]
			}
			w[t] = append(w[t], r)
		}
	}
	return w
}

// whole adds data that is hidden from the principal: rows, columns and classes.
func (m *maker) whole(visible world) world {
	w := world{}
	for _, t := range tables {
		for _, r := range visible[t.name] {
			w[t.name] = append(w[t.name], m.conceal(t.name, r))
		}
	}
	for _, t := range []string{"orgs", "users", "issues", "shifts", "events", "readings", "shares", "comments", "parts"} {
		for n := range m.IntN(9) {
			r := m.conceal(t, m.row(t, 101+n, false))
			if whole, pointer := wholes(t); whole != "" {
				r[pointer] = m.elsewhere(whole, w[whole])
			}
			w[t] = append(w[t], r)
		}
	}
	for n := range m.IntN(4) {
		w["vaults"] = append(w["vaults"], record{"id": n + 1, "code": m.text()})
		w["isues"] = append(w["isues"], record{"id": n + 1, "title": m.text()})
	}
	m.shuffle(w)
	return w
}

// shuffle changes the physical order of rows, which must not matter.
func (m *maker) shuffle(w world) {
	for _, t := range tables { // in a fixed order, so that a seed creates the same world each time
		rows := w[t.name]
		m.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
}

// wholes returns the table whose records decide the visibility of t's records, and the pointer to it. It returns ""
// for a table with its own tenant.
func wholes(t string) (table, pointer string) {
	switch t {
	case "comments":
		return "issues", "issue_id"
	case "parts":
		return "shares", "share_id"
	}
	return "", ""
}

// elsewhere returns the id of a record that the principal may not see, or nil.
func (m *maker) elsewhere(t string, records []record) any {
	var ids []any
	for _, r := range records {
		if !m.fits(t, r) {
			ids = append(ids, r["id"])
		}
	}
	return pick(m.Rand, append(ids, nil)...)
}

// load returns the statements that replace the content of a database by w. For a twin they omit the hidden columns.
func (w world) load(twin bool) []string {
	var out []string
	for _, t := range tables {
		if twin && t.secret {
			continue
		}
		out = append(out, "DELETE FROM "+t.name)
		columns := t.columns
		if !twin {
			columns = append(slices.Clone(columns), t.hidden...)
		} else if t.name == "events" {
			columns = append(slices.Clone(columns), "org_id text")
		}
		var names []string
		for _, c := range columns {
			name, _, _ := strings.Cut(c, " ")
			names = append(names, name)
		}
		var rows []string
		for _, r := range w[t.name] {
			cells := make([]string, len(names))
			for i, n := range names {
				cells[i] = literal(r[n])
			}
			rows = append(rows, "("+strings.Join(cells, ", ")+")")
		}
		if rows != nil {
			out = append(out, "INSERT INTO "+t.name+" ("+strings.Join(names, ", ")+") VALUES "+strings.Join(rows, ", "))
		}
	}
	return out
}

func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	}
	return fmt.Sprint(v)
}
