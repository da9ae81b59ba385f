package prompt_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/prompt"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const shop = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, org TEXT NOT NULL, name TEXT NOT NULL, password_hash TEXT, joined_at TIMESTAMP, vip BOOLEAN NOT NULL DEFAULT 0);
CREATE TABLE orders (id INTEGER PRIMARY KEY, org TEXT NOT NULL, customer_id INTEGER REFERENCES customers (id), state TEXT NOT NULL CHECK (state IN ('open', 'paid', 'sent')),
	total DECIMAL(10,2), placed_at TIMESTAMP, updated_at TIMESTAMP, note TEXT, margin REAL, secret_id INTEGER REFERENCES secrets (id), deleted_at TIMESTAMP);
CREATE TABLE lines (order_id INTEGER NOT NULL REFERENCES orders (id), n INTEGER NOT NULL, sku TEXT, PRIMARY KEY (order_id, n));
CREATE TABLE "odd ""class/1" (id INTEGER PRIMARY KEY, word TEXT);
CREATE TABLE secrets (id INTEGER PRIMARY KEY, word TEXT, created_at TIMESTAMP);
CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, customer_id INTEGER REFERENCES customers (id), started_at DATE);
INSERT INTO customers VALUES (1, 'acme', 'Ada', 'x', '2025-01-01', 1), (2, 'acme', 'Bob', 'y', '2025-06-01', 0), (3, 'globex', 'Cat', 'z', NULL, 0);
INSERT INTO orders VALUES (10, 'acme', 1, 'open', 12.5, '2026-01-31 10:00:00', NULL, 'first', 0.1, NULL, NULL), (11, 'acme', 2, 'paid', 99, '2026-02-01', NULL, NULL, 0.2, 7, NULL),
	(20, 'globex', 3, 'open', 7, '2026-01-01', NULL, 'theirs', 0.5, NULL, NULL);
INSERT INTO lines VALUES (10, 1, 'a'), (10, 2, 'b'), (20, 1, 'c');
INSERT INTO secrets VALUES (7, 'crown', '2026-01-01');`

func rules() policy.Rules {
	tenant := &policy.TenantRule{Field: "org"}
	return policy.Rules{Version: "v1", Classes: map[string]policy.ClassRule{
		"customers": {Tenant: tenant, Description: "People who buy.", Denied: []string{"org"}},
		"orders": {Tenant: tenant, Denied: []string{"margin", "org"}, Large: []string{"note"}, Canonical: query.Compare{Path: query.Path{"deleted_at"}, Op: query.Eq},
			Fields: map[string]policy.FieldRule{"state": {Description: "How far it is"}}},
		"lines":        {Tenant: &policy.TenantRule{Through: "order_id"}},
		`odd "class/1`: {Description: "A class\nwith an odd name."},
		"secrets":      {Hidden: true},
		"staff":        {Hidden: true, HiddenBut: identity.Operator},
	}}
}

// people are the principals in the conversations. ann sees the shop. otto also sees the parts for operators. carl may
// only count, and nora has no scope.
var people = map[string]identity.Principal{
	"ann":  {ID: "token:ann", Owner: "ann", Tenant: "acme", Scopes: []identity.Scope{identity.Read}},
	"otto": {ID: "token:otto", Owner: "otto", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Operator}},
	"carl": {ID: "token:carl", Owner: "carl", Tenant: "acme", Scopes: []identity.Scope{identity.Read}, Tools: identity.List{Only: []string{"count_objects"}}},
	"nora": {ID: "token:nora", Owner: "nora", Tenant: "acme"},
}

// stand contains the prompts for a shop, behind a complete gateway.
type stand struct {
	*prompt.Set
	gateway *bailiwick.Gateway
	log     *audit.Memory
}

func open(t testing.TB, more ...prompt.Prompt) *stand {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(shop); err != nil {
		t.Fatal(err)
	}
	db.Close()
	src, err := sqlite.Open(t.Context(), "shop", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	s := &stand{log: &audit.Memory{}}
	s.gateway, _, err = bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"shop": src}, Rules: rules(), Audit: s.log,
		Secret: make([]byte, 32), Limits: limit.Options{PerMinute: 1e6, Burst: 1e6}, Now: func() time.Time { return time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := tool.NewSet(s.gateway, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	s.Set, err = prompt.NewSet(s.gateway, tools, append(prompt.Builtin(), more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stand) last(t *testing.T) (last audit.Record) {
	t.Helper()
	if err := s.log.Backwards(t.Context(), audit.Last, func(r audit.Record) bool { last = r; return false }); err != nil {
		t.Fatal(err)
	}
	return last
}

// TestConversations plays each file of testdata/conversations: lines that begin with ">" are requests of a principal,
// followed by the exact answer. Run with -update to rewrite the answers, and review the change.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := open(t, custom(t)...)
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			lines := bufio.NewScanner(bytes.NewReader(want))
			for lines.Scan() {
				switch line := lines.Text(); {
				case strings.HasPrefix(line, "#"):
					fmt.Fprintln(&out, line)
				case strings.HasPrefix(line, "> "):
					fmt.Fprintln(&out, line)
					out.WriteString(s.answer(t, strings.TrimPrefix(line, "> ")))
					out.WriteByte('\n')
				}
			}
			if *update {
				if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("%s (-file +now):\n%s", file, diff)
			}
		})
	}
}

// answer handles the lines "WHO prompts", "WHO get NAME JSON", "WHO complete NAME ARGUMENT WRITTEN JSON", "WHO
// resources", "WHO templates", "WHO read URI" and "WHO watch URI".
func (s *stand) answer(t *testing.T, line string) string {
	name, line, _ := strings.Cut(line, " ")
	principal, ok := people[name]
	if !ok {
		t.Fatalf("who is %s?", name)
	}
	verb, line, _ := strings.Cut(line, " ")
	ctx, before := t.Context(), s.last(t).Seq
	var out strings.Builder
	switch verb {
	case "prompts":
		for _, p := range s.List(principal) {
			fmt.Fprintf(&out, "%s: %s. %s\n", p.Name, p.Title, p.Description)
			for _, a := range p.Arguments {
				fmt.Fprintf(&out, "    %s (required %t): %s\n", a.Name, a.Required, a.Description)
			}
		}
	case "get":
		name, args, _ := strings.Cut(line, " ")
		res, err := s.Get(ctx, principal, prompt.Request{Name: name, Arguments: texts(t, args)})
		if err != nil {
			return refusal(err)
		}
		fmt.Fprintf(&out, "%s\n", res.Description)
		for _, m := range res.Messages {
			fmt.Fprintf(&out, "  | %s\n", strings.ReplaceAll(m.Text, "\n", "\n  | "))
		}
	case "complete":
		parts := strings.SplitN(line, " ", 4)
		r := prompt.Completion{Prompt: parts[0], Argument: parts[1], Written: strings.Trim(parts[2], `"`), Given: texts(t, parts[3])}
		if strings.Contains(parts[0], ":") {
			r.Prompt, r.Template = "", parts[0]
		}
		res, err := s.Complete(ctx, principal, r)
		if err != nil {
			return refusal(err)
		}
		fmt.Fprintf(&out, "%d: %q\n", res.Total, res.Values)
	case "resources":
		page, err := s.Resources(ctx, principal, "", "c1")
		if err != nil {
			return refusal(err)
		}
		for _, r := range page.Resources {
			fmt.Fprintf(&out, "%s %q %q: %s\n", r.URI, r.Name, r.Title, r.Description)
		}
	case "templates":
		for _, r := range s.Templates(principal) {
			fmt.Fprintf(&out, "%s %q: %s. %s\n", r.URI, r.Name, r.Title, r.Description)
		}
	case "read":
		res, err := s.Read(ctx, principal, prompt.Request{Name: line})
		if err != nil {
			return refusal(err)
		}
		fmt.Fprintf(&out, "%s\n%s\n", res.Text, res.Class)
	case "watch":
		if err := s.Watch(ctx, principal, strings.Fields(line), ""); err != nil {
			return refusal(err)
		}
		out.WriteString("watched\n")
	default:
		t.Fatalf("what is %s?", verb)
	}
	if r := s.last(t); r.Seq > before {
		fmt.Fprintf(&out, "(audit) %s %s %s\n", r.Tool, r.Class, r.Outcome)
	}
	return out.String()
}

func texts(t *testing.T, doc string) map[string]string {
	t.Helper()
	var out map[string]string
	if doc == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(doc), &out); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return out
}

func refusal(err error) string {
	p := problem.Of(err)
	out := fmt.Sprintf("! %s %s: %s\n", p.Code, p.Pointer, p.Detail)
	for _, more := range []struct{ name, text string }{{"near", strings.Join(p.Near, ", ")}, {"suggestion", p.Suggestion}, {"(audit) kind", p.Kind}} {
		if more.text != "" {
			out += "  " + more.name + ": " + more.text + "\n"
		}
	}
	return out
}

// custom returns three prompts: one from a template, one that requires a tool that few may call, and one whose text
// is too long.
func custom(t *testing.T) []prompt.Prompt {
	t.Helper()
	p, err := prompt.FromTemplate(prompt.Prompt{Name: "team_health", Description: "How a team does",
		Arguments: []prompt.Argument{{Name: "team", Description: "its name", Required: true}, {Name: "since", Description: "a date"}}},
		`Report on the team {{json .team}}{{if .since}} since {{.since}}{{end}}.`)
	if err != nil {
		t.Fatal(err)
	}
	return []prompt.Prompt{p,
		{Name: "absent_tool", Uses: []string{"rebuild_database"}, Handle: p.Handle},
		{Name: "long", Handle: func(context.Context, *bailiwick.Call, prompt.Input) (prompt.Result, error) {
			return prompt.Say("", strings.Repeat("x", 64<<10+1)), nil
		}},
		{Name: "panics", Handle: func(context.Context, *bailiwick.Call, prompt.Input) (prompt.Result, error) { panic("secret in memory") }},
	}
}
