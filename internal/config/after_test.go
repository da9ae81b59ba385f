package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

func parsed(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse("f.yaml", []byte(text), env)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestChooser checks which of four tables are kept and the names of their classes, or the faults, for the keys of a
// source.
func TestChooser(t *testing.T) {
	found := [][2]string{{"", "issues"}, {"", "crm_deals"}, {"crm", "deals"}, {"hr", "pay"}}
	for _, row := range []struct{ keys, want string }{
		{"", "issues crm_deals crm_deals hr_pay"},
		{", schemas: [public]", "issues crm_deals"},
		{", schemas: [crm, public], tables: {except: [issues]}", "crm_deals crm_deals"},
		{", tables: {except: [crm_deals]}", "issues hr_pay"},
		{", tables: {except: [crm.deals]}", "issues crm_deals hr_pay"},
		{", tables: {only: [issues, hr_pay]}", "issues hr_pay"},
		{", tables: {only: [public.crm_deals, hr.pay]}", "crm_deals hr_pay"},
		{", rename: {crm.deals: eu, public.issues: bugs}", "bugs! crm_deals eu! hr_pay"},
		{", rename: {crm.deals: eu}, tables: {only: [eu]}", "eu!"},
		{", rename: {crm.deals: eu}, tables: {except: [eu, hr.pay]}", "issues crm_deals"},
		{", tables: {only: [isues]}", "f.yaml:1:55: sources.s.tables.only.0: there is no such name in the source. Did you mean issues?"},
		{", schemas: [crm], tables: {except: [issues]}", "f.yaml:1:73: sources.s.tables.except.0: there is no such name in the source"},
		{", schemas: [publik]", "f.yaml:1:49: sources.s.schemas.0: there is no such name in the source. Did you mean public?"},
		{", schemas: [crn]", "f.yaml:1:49: sources.s.schemas.0: there is no such name in the source. Did you mean crm?"},
		{", rename: {crm.deal: eu}", "f.yaml:1:48: sources.s.rename.crm.deal: there is no such name in the source. Did you mean crm.deals or crm_deals?"},
	} {
		chooser := parsed(t, "sources: {s: {url: 'postgres://h/db'"+row.keys+"}}\n").Chooser("s")
		chooser.Begin()
		var names []string
		for _, at := range found {
			name, given := chooser.Choose(at[0], at[1])
			if given {
				name += "!"
			}
			if name != "" {
				names = append(names, name)
			}
		}
		got := strings.Join(names, " ")
		if err := chooser.Faults(); err != nil {
			got, _, _ = strings.Cut(err.Error(), "\n")
		}
		if got != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.keys, got, row.want)
		}
	}
	if name, given := new(config.Config).Chooser("s").Choose("a", "b"); name != "a_b" || given {
		t.Errorf("of a source that no file names: %s, %t; want a_b, false", name, given)
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
	const want = `f.yaml:2:28: tools.only.1: there is no tool "get_objct". Did you mean get_object?
    2 | tools: {only: [get_object, get_objct], except: [drop]}
      |                            ^
f.yaml:2:49: tools.except.0: there is no tool "drop"
    2 | tools: {only: [get_object, get_objct], except: [drop]}
      |                                                 ^
f.yaml:3:21: limits.timeouts.query_clas: there is no tool "query_clas". Did you mean query_class?
    3 | limits: {timeouts: {query_clas: 1s}}
      |                     ^`
	if got := fmt.Sprint(err); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestWrongRule checks that faults from package policy get the position of their rule.
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
