package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestCheckLists checks that unknown names in lists of principals are faults, or warnings if the file is lenient.
func TestCheckLists(t *testing.T) {
	names := config.NamesOf([]string{"query_class", "list_tools"}, []schema.Class{{Source: "s", Name: "issues"}, {Source: "s", Name: "users"}})
	const src = "sources: {s: {url: sqlite:x}}\n"
	const bad = src + `stdio:
  scopes: [read]
  tools: {only: [query_class, query_clas]}
  classes: {only: [issues, s.users], except: [s.isues]}
  filters: {default: {a: 1}, s.users: {a: 1}, t.users: {a: 1}}
auth: {anonymous: {scopes: [read], tools: {except: [drop]}}}
`
	for _, row := range []struct{ text, want string }{
		{src, ""},
		{src + "stdio: {scopes: [read], tools: {only: [list_tools]}, classes: {only: [s.issues, users]}}\n", ""},
		{src + `review:
  - {when: change.class == "s.issues" || change.class == "issues"}
  - {when: 'change.tool == "query_clas" || change.source == "t"'}
  - {when: '"s.user" in change.classes', approvals: 2}
notifications: {webhooks: {ops: {url: "https://example.com/hook", secret: 0123456789abcdef0123456789abcdef, when: change.action == "close"}}}
`, `
f.yaml:3:58: review.0.when: character 47 of the expression: change.class is never "issues". Did you mean s.issues?
    3 |   - {when: change.class == "s.issues" || change.class == "issues"}
      |                                                          ^
f.yaml:4:28: review.1.when: character 16 of the expression: change.tool is never "query_clas". Did you mean query_class?
    4 |   - {when: 'change.tool == "query_clas" || change.source == "t"'}
      |                            ^
f.yaml:5:13: review.2.when: character 1 of the expression: change.classes is never "s.user". Did you mean s.users?
    5 |   - {when: '"s.user" in change.classes', approvals: 2}
      |             ^
f.yaml:6:132: notifications.webhooks.ops.when: character 18 of the expression: change.action is never "close"
    6 | notifications: {webhooks: {ops: {url: "https://example.com/hook", secret: ********************************, when: change.action == "close"}}}
      |                                                                                                                                    ^`},
		{bad, `
f.yaml:7:53: auth.anonymous.tools.except.0: there is no tool "drop"
    7 | auth: {anonymous: {scopes: [read], tools: {except: [drop]}}}
      |                                                     ^
f.yaml:4:31: stdio.tools.only.1: there is no tool "query_clas". Did you mean query_class?
    4 |   tools: {only: [query_class, query_clas]}
      |                               ^
f.yaml:5:47: stdio.classes.except.0: there is no class "s.isues". Did you mean issues or s.issues?
    5 |   classes: {only: [issues, s.users], except: [s.isues]}
      |                                               ^
f.yaml:6:47: stdio.filters.t.users: there is no class "t.users". Did you mean s.users or users?
    6 |   filters: {default: {a: 1}, s.users: {a: 1}, t.users: {a: 1}}
      |                                               ^`},
	} {
		warnings, err := parsed(t, row.text).CheckLists(names)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if want := strings.TrimPrefix(row.want, "\n"); got != want || warnings != nil {
			t.Errorf("%s\ngot %q and\n%s\nwant\n%s", row.text, warnings, got, want)
		}
	}
	warnings, err := parsed(t, bad+"policy: {strict: false}\n").CheckLists(names)
	if d := cmp.Diff([]string{
		`f.yaml:7:53: auth.anonymous.tools.except.0: there is no tool "drop"`,
		`f.yaml:4:31: stdio.tools.only.1: there is no tool "query_clas". Did you mean query_class?`,
		`f.yaml:5:47: stdio.classes.except.0: there is no class "s.isues". Did you mean issues or s.issues?`,
		`f.yaml:6:47: stdio.filters.t.users: there is no class "t.users". Did you mean s.users or users?`,
	}, warnings); d != "" || err != nil {
		t.Error(err, d)
	}
}

// TestGates checks the gates in force for each file and environment, and the notes or faults.
func TestGates(t *testing.T) {
	const src = "sources: {s: {url: sqlite:x}}\n"
	for _, row := range []struct {
		text, env string // env contains NAME=value pairs, separated by spaces, without the prefix BAILIWICK_
		want      string
	}{
		{"", "", "review off off"},
		{"gates: {writes: on, raw_writes: on, schema_writes: review}", "", "on on review"},
		{"gates: {writes: on, raw_writes: on, schema_writes: review}", "WRITES=review RAW_WRITES=off SCHEMA_WRITES=off", "review off off"},
		{"gates: {writes: on}", "WRITES=on", "on off off"},
		{"gates: {writes: on}", "WRITES=off", "off off off"},
		{"", "WRITES=off", "off off off"},
		{"", "WRITES=review RAW_WRITES=off", "review off off"},
		{"", "WRITES=on", "review off off the environment variable BAILIWICK_WRITES asks for on, and gates.writes is review: variables only lower gates"},
		{"gates: {raw_writes: review}", "RAW_WRITES=on SCHEMA_WRITES=review", "review review off the environment variable BAILIWICK_RAW_WRITES asks for on, and gates.raw_writes is review: variables only lower gates " +
			"the environment variable BAILIWICK_SCHEMA_WRITES asks for review, and gates.schema_writes is off: variables only lower gates"},
		{"gates: {writes: on}", "WRITES=yes RAW_WRITES=Off SCHEMA_WRITES=", `f.yaml:2:1: gates: the environment variable BAILIWICK_WRITES must be off, review or on, not "yes". The environment variable BAILIWICK_RAW_WRITES must be off, review or on, not "Off"
    2 | gates: {writes: on}
      | ^`},
		{"gates: {}", "", "f.yaml:2:8: gates: is empty. Leave it out\n    2 | gates: {}\n      |        ^"},
	} {
		c, err := config.Parse("f.yaml", []byte(src+row.text+"\n"), func(name string) (string, bool) {
			for _, v := range strings.Fields(row.env) {
				if key, text, _ := strings.Cut(v, "="); "BAILIWICK_"+key == name {
					return text, true
				}
			}
			return "", false
		})
		got := fmt.Sprint(err)
		if err == nil {
			g := c.Rules.Gates.WithDefaults()
			got = strings.TrimSpace(fmt.Sprint(g.Writes, " ", g.RawWrites, " ", g.SchemaWrites, " ", strings.Join(c.Notes, " ")))
			if c.Rules.Version != config.Digest(policy.Rules{Gates: g}) {
				t.Errorf("%s with %s: the version doesn't tell of the gates", row.text, row.env)
			}
		}
		if got != row.want {
			t.Errorf("%s with %s\n got %s\nwant %s", row.text, row.env, got, row.want)
		}
	}
}

// TestStrays checks Strays without names.
func TestStrays(t *testing.T) {
	if got := (config.Names{}).Strays(identity.List{}, identity.List{}, []string{"default"}); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}
