package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/schema"
)

func parsed(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse("f.yaml", []byte(text), env)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestKeep checks, for the keys of a source, which of four tables stay, or the faults.
func TestKeep(t *testing.T) {
	found := []schema.Class{{Name: "issues"}, {Name: "users"}, {Name: "crm_deals", Space: "crm"}, {Name: "hr_pay", Space: "hr"}}
	for _, row := range []struct{ keys, want string }{
		{"", "issues users crm_deals hr_pay"},
		{", schemas: [public]", "issues users"},
		{", schemas: [crm, public], tables: {except: [users]}", "issues crm_deals"},
		{", tables: {only: [issues, hr_pay]}", "issues hr_pay"},
		{", tables: {only: [isues]}", `f.yaml:1:55: sources.s.tables.only.0: there is no such name in the source; did you mean issues?
    1 | sources: {s: {url: 'postgres://h/db', tables: {only: [isues]}}}
      |                                                       ^`},
		{", schemas: [crm], tables: {except: [users]}", `f.yaml:1:73: sources.s.tables.except.0: there is no such name in the source
    1 | sources: {s: {url: 'postgres://h/db', schemas: [crm], tables: {except: [users]}}}
      |                                                                         ^`},
		{", schemas: [publik]", `f.yaml:1:49: sources.s.schemas.0: there is no such name in the source; did you mean public?
    1 | sources: {s: {url: 'postgres://h/db', schemas: [publik]}}
      |                                                 ^`},
		{", schemas: [crn]", `f.yaml:1:49: sources.s.schemas.0: there is no such name in the source; did you mean crm?
    1 | sources: {s: {url: 'postgres://h/db', schemas: [crn]}}
      |                                                 ^`},
	} {
		kept, err := parsed(t, "sources: {s: {url: 'postgres://h/db'"+row.keys+"}}\n").Keep("s", found)
		names := make([]string, len(kept))
		for i, k := range kept {
			names[i] = k.Name
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.keys, got, row.want)
		}
	}
	if kept, err := new(config.Config).Keep("s", found); err != nil || len(kept) != 4 {
		t.Errorf("of a source that no file names: %d classes, %v; want all", len(kept), err)
	}
}

func TestSQLite(t *testing.T) {
	for url, want := range map[string]string{"sqlite:a:b.db": "a:b.db true", "postgres://h/db": "postgres://h/db false"} {
		path, ok := config.Source{URL: url}.SQLite()
		if got := fmt.Sprint(path, " ", ok); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

func TestCheckTools(t *testing.T) {
	tools := []string{"query_class", "get_object", "get_schema"}
	if err := parsed(t, full(t)).CheckTools(tools); err != nil {
		t.Error(err)
	}
	err := parsed(t, `sources: {s: {url: sqlite:x}}
tools: {only: [get_object, get_objct], except: [drop]}
limits: {timeouts: {query_clas: 1s}}
auth: {anonymous: {scopes: [read], tools: {only: [a]}}}
stdio: {scopes: [read], tools: {except: [b]}}
`).CheckTools(tools)
	const want = `f.yaml:2:28: tools.only.1: there is no tool "get_objct"; did you mean get_object?
    2 | tools: {only: [get_object, get_objct], except: [drop]}
      |                            ^
f.yaml:2:49: tools.except.0: there is no tool "drop"
    2 | tools: {only: [get_object, get_objct], except: [drop]}
      |                                                 ^
f.yaml:3:21: limits.timeouts.query_clas: there is no tool "query_clas"; did you mean query_class?
    3 | limits: {timeouts: {query_clas: 1s}}
      |                     ^`
	if got := fmt.Sprint(err); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestWrongRule checks that messages of package policy point at the rule they are about.
func TestWrongRule(t *testing.T) {
	c := parsed(t, "sources: {s: {url: sqlite:x}}\nclasses:\n  a: {tenant: {through: b_id}}\n  s.b: {visible: [id]}\n")
	for _, row := range []struct{ class, message, want string }{
		{"s.a", "tenant.through: b_id is not a pointer", "f.yaml:3:16: classes.a.tenant.through: b_id is not a pointer\n    3 |   a: {tenant: {through: b_id}}\n      |                ^"},
		{"s.b", "visible: there is no field id", "f.yaml:4:9: classes.s.b.visible: there is no field id\n    4 |   s.b: {visible: [id]}\n      |         ^"},
		{"s.b", "large: no: no", "f.yaml:4:3: classes.s.b: large: no: no\n    4 |   s.b: {visible: [id]}\n      |   ^"},
		{"a", "there is no such class", "f.yaml:3:3: classes.a: there is no such class\n    3 |   a: {tenant: {through: b_id}}\n      |   ^"},
	} {
		if got := c.WrongRule(row.class, row.message).String(); got != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.class, got, row.want)
		}
	}
}
