package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/metadata"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

var now = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writeFile writes files below dir. Their age is one hour, or one minute if the text begins with "new ".
func writeFile(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		path, at := filepath.Join(dir, path), now.Add(-time.Hour)
		text, fresh := strings.CutPrefix(text, "new ")
		if fresh {
			at = now.Add(-time.Minute)
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
		must(t, os.Chtimes(path, at, at))
	}
}

// org serves the tools for the sources in dir. Each folder of dir is one source.
func org(t testing.TB, dir string, budget int, rules policy.Rules) (*tool.Set, *audit.Memory) {
	t.Helper()
	sources := map[string]source.Source{}
	folders, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range folders {
		s, err := metadata.New(metadata.Options{Name: f.Name(), Roots: []string{filepath.Join(dir, f.Name())}, Home: dir})
		must(t, err)
		sources[f.Name()] = s
	}
	log := &audit.Memory{}
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: sources, Rules: rules, Audit: log, Secret: make([]byte, 32), Budget: budget,
		Now: func() time.Time { return now }})
	must(t, err)
	set, err := tool.NewSet(g, append(tool.Data(tool.Options{}), tools.DescribeTools(nil)...)...)
	must(t, err)
	return set, log
}

func describeAgent() identity.Principal {
	return identity.Principal{ID: "token:1", Owner: "ann", Scopes: []identity.Scope{identity.Read}}
}

// call returns the answer, or the code, detail, suggestion and near names of the error. It replaces DIR by dir.
func call(t testing.TB, set *tool.Set, principal identity.Principal, dir, name, args string) string {
	t.Helper()
	in, err := value.Read([]byte(strings.ReplaceAll(args, "DIR", dir)), 0)
	must(t, err)
	r, err := set.Call(t.Context(), principal, tool.Request{Name: name, Arguments: in, Correlation: "c1"})
	out := string(r.Structured) + "\n" + r.Text
	if err != nil {
		p := problem.Of(err)
		out = fmt.Sprint(p.Code, ": ", p.Detail, " ", p.Suggestion, p.Near)
	} else if !json.Valid(r.Structured) {
		t.Errorf("%s: no JSON: %s", args, r.Structured)
	}
	return strings.ReplaceAll(out, dir, "DIR")
}

// describeDesk is an organisation in the first cache layout, next to one in the second layout.
var describeDesk = map[string]string{
	"org/workspace-P/.metadata/.plugins/com.provar.eclipse.ui/MyOrg/default/SfObject/Account.xml":    `<sfObject><fields><sfField n="Name" type="string" required="true"/><sfField n="Fax" type="phone"/></fields></sfObject>`,
	"org/workspace-P/.metadata/.plugins/com.provar.eclipse.ui/MyOrg/default/SfObject/Invoice__c.xml": `<sfObject detailsLoaded="false"/>`,
	"org/workspace-P/.metadata/.plugins/com.provar.eclipse.ui/MyOrg/default/SfObject/Order.xml":      `<sfObject><fields>`,
	"org/workspace-P/.metadata/Sandbox/Case.json": `{"fields": [{"name": "Id", "type": "id", "nillable": false, "defaultedOnCreate": true},
		{"name": "Status", "type": "picklist", "nillable": false, "defaultValue": "New"}, {"name": "Api_Key__c", "type": "string", "defaultValue": "s3cret"}]}`,
}

// TestAnswers compares calls with their exact answers.
func TestAnswers(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, describeDesk)
	set, log := org(t, dir, 0, policy.Rules{})
	for _, c := range []struct{ name, args, want string }{
		{"all of a connection", `{"project_path": "DIR/org/P", "connection_name": "MyOrg"}`,
			`{"requestId":"c1","workspace_path":"DIR/org/workspace-P","cache_age_ms":3600000,"objects":[` +
				`{"name":"Account","exists":true,"required_fields":[{"name":"Name","type":"string","default_value":null,"nillable":false}],"field_count":2},` +
				`{"name":"Invoice__c","exists":true,"required_fields":[],"field_count":0},` +
				`{"name":"Order","exists":true,"required_fields":[],"field_count":0,"error_message":"the file is not well-formed XML, at line 1"}],"total":3,` +
				`"details":{"suggestion":"Cached without fields: Invoice__c. Expand them in the IDE to load the details. The cached file can't be read: Order. Refresh them in the IDE"}}
Account: 1 of 2 fields required: Name string*
Invoice__c: cached without fields
Order: the file is not well-formed XML, at line 1
3 of 3 objects
Cached without fields: Invoice__c. Expand them in the IDE to load the details. The cached file can't be read: Order. Refresh them in the IDE`},
		{"all fields of one", `{"project_path": "DIR/org/P", "connection_name": "MyOrg", "environment": "UAT", "objects": ["Account", "Account"], "field_filter": "all"}`,
			`{"requestId":"c1","workspace_path":"DIR/org/workspace-P","cache_age_ms":3600000,"objects":[{"name":"Account","exists":true,` +
				`"required_fields":[{"name":"Name","type":"string","default_value":null,"nillable":false}],` +
				`"fields":[{"name":"Name","type":"string","default_value":null,"nillable":false},{"name":"Fax","type":"phone","default_value":null,"nillable":true}],"field_count":2}],"total":1}
Account: 1 of 2 fields required: Name string*, Fax phone
1 of 1 objects`},
		{"the second layout, defaults, and what the organisation fills in", `{"project_path": "DIR/org/P", "connection_name": "Sandbox", "field_filter": "all"}`,
			`{"requestId":"c1","workspace_path":"DIR/org/workspace-P","cache_age_ms":3600000,"objects":[{"name":"Case","exists":true,` +
				`"required_fields":[{"name":"Status","type":"picklist","default_value":"New","nillable":false}],` +
				`"fields":[{"name":"Id","type":"id","default_value":null,"nillable":false},{"name":"Status","type":"picklist","default_value":"New","nillable":false},` +
				`{"name":"Api_Key__c","type":"string","default_value":null,"nillable":true}],"field_count":3}],"total":1}
Case: 1 of 3 fields required: Id id, Status picklist*, Api_Key__c string
1 of 1 objects`},
		{"an object that isn't there", `{"project_path": "DIR/org/P", "connection_name": "MyOrg", "objects": ["Acount", "Nothing"]}`,
			`{"requestId":"c1","workspace_path":"DIR/org/workspace-P","cache_age_ms":3600000,"objects":[{"name":"Acount","exists":false,"required_fields":[],"field_count":0},` +
				`{"name":"Nothing","exists":false,"required_fields":[],"field_count":0}],"total":2,` +
				`"details":{"suggestion":"Not cached: Acount (Did you mean Account?), Nothing. Expand them in the IDE under this connection, or go on without and say that their fields are not checked"}}
Acount: not cached (Did you mean Account?)
Nothing: not cached
2 of 2 objects
Not cached: Acount (Did you mean Account?), Nothing. Expand them in the IDE under this connection, or go on without and say that their fields are not checked`},
		{"a connection that isn't there", `{"project_path": "DIR/org/P", "connection_name": "MyOrgs", "objects": ["Account"]}`,
			`{"requestId":"c1","workspace_path":"DIR/org/workspace-P","cache_age_ms":null,"objects":[{"name":"Account","exists":null,"required_fields":[],"field_count":0}],"total":1,` +
				`"details":{"suggestion":"nothing is cached of the connection \"MyOrgs\": Did you mean MyOrg? Else open the project in the IDE and load the connection, or go on without it and say that fields and types are not checked"}}
Account: not cached
1 of 1 objects
nothing is cached of the connection "MyOrgs": Did you mean MyOrg? Else open the project in the IDE and load the connection, or go on without it and say that fields and types are not checked`},
		{"another connection", `{"project_path": "DIR/org/P", "connection_name": "Production"}`,
			`{"requestId":"c1","workspace_path":"DIR/org/workspace-P","cache_age_ms":null,"objects":[],"total":0,` +
				`"details":{"suggestion":"nothing is cached of the connection \"Production\": there are MyOrg, Sandbox. Else open the project in the IDE and load the connection, or go on without it and say that fields and types are not checked"}}
0 of 0 objects
nothing is cached of the connection "Production": there are MyOrg, Sandbox. Else open the project in the IDE and load the connection, or go on without it and say that fields and types are not checked`},
		{"no workspace", `{"project_path": "DIR/org/Other", "connection_name": "MyOrg", "objects": ["Account"]}`,
			`{"requestId":"c1","workspace_path":null,"cache_age_ms":null,"objects":[{"name":"Account","exists":null,"required_fields":[],"field_count":0}],"total":1,` +
				`"details":{"suggestion":"no workspace with a cache was found for this project where the owner allows to look. To have the connection \"MyOrg\", open the project in the IDE and load the connection, or go on without it and say that fields and types are not checked"}}
Account: not cached
1 of 1 objects
no workspace with a cache was found for this project where the owner allows to look. To have the connection "MyOrg", open the project in the IDE and load the connection, or go on without it and say that fields and types are not checked`},
		{"past the end", `{"project_path": "DIR/org/P", "connection_name": "MyOrg", "offset": 9000000000000000000}`,
			`{"requestId":"c1","workspace_path":"DIR/org/workspace-P","cache_age_ms":3600000,"objects":[],"total":3}` + "\n0 of 3 objects"},
		{"a path for a connection", `{"project_path": "DIR/org/P", "connection_name": "../MyOrg"}`,
			`security_blocked: PATH_TRAVERSAL: connection_name: a name of one thing belongs here: not empty, no separators, no "..", no drive []`},
		{"an empty environment", `{"project_path": "DIR/org/P", "connection_name": "MyOrg", "environment": ""}`,
			`security_blocked: PATH_TRAVERSAL: environment: a name of one thing belongs here: not empty, no separators, no "..", no drive []`},
		{"a path for an object", `{"project_path": "DIR/org/P", "connection_name": "MyOrg", "objects": ["Account", "../../../secret/out"]}`,
			`security_blocked: PATH_TRAVERSAL: objects/1: a name of one thing belongs here: not empty, no separators, no "..", no drive []`},
		{"outside", `{"project_path": "/etc", "connection_name": "MyOrg"}`, "security_blocked: PATH_NOT_ALLOWED: project_path: the project is not in a folder that the owner allowed []"},
		{"up", `{"project_path": "DIR/org/../org/P", "connection_name": "MyOrg"}`, `security_blocked: PATH_TRAVERSAL: project_path: the absolute path of a folder belongs here, without ".." []`},
		{"an unknown argument", `{"project_path": "DIR/org/P", "conection_name": "MyOrg"}`,
			`invalid_argument: unknown argument "conection_name". Did you mean connection_name? [connection_name]`},
		{"another filter", `{"project_path": "DIR/org/P", "connection_name": "MyOrg", "field_filter": "some"}`, `invalid_argument: field_filter must be one of required, all, not "some" []`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := call(t, set, describeAgent(), dir, "org_describe", c.args); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	var records []audit.Record
	must(t, log.Records(t.Context(), 0, func(r audit.Record) bool { records = append(records, r); return true }))
	first := records[1]
	if first.Class != "org.Account" || first.Tool != "org_describe" || first.Rows != 1 || fmt.Sprint(first.Uses) != "[org.Account]" || fmt.Sprint(first.ArgKeys) == "" {
		t.Errorf("the record: %+v", first)
	}
}

// TestHiddenIsAbsent compares the answers for a tree with hidden content and a tree without it. Objects, fields,
// ages, near names and counts must be the same in every tool that describes classes.
func TestHiddenIsAbsent(t *testing.T) {
	const at = "org/workspace-P/.metadata/MyOrg/"
	base := map[string]string{at + "Account.json": `{"fields": [{"name": "Name", "nillable": false}]}`, at + "Contact.json": "{}"}
	secret := map[string]string{
		at + "Account.json":     `{"fields": [{"name": "Name", "nillable": false}, {"name": "Secret", "type": "string", "nillable": false}]}`,
		at + "Hidden.json":      `new {"fields": [{"name": "Name"}]}`,
		at + "Unlisted__c.json": `new {"fields": [{"name": "Name"}]}`,
	}
	rule := policy.ClassRule{Visible: []string{"Name"}}
	p := describeAgent()
	p.Classes.Except = []string{"Unlisted__c"}
	var answers [2]string
	for i, rules := range []map[string]policy.ClassRule{{"Account": rule}, {"Account": rule, "Hidden": {Hidden: true}}} {
		dir := t.TempDir()
		writeFile(t, dir, base)
		if i == 1 {
			writeFile(t, dir, secret)
		}
		set, _ := org(t, dir, 0, policy.Rules{Classes: rules})
		for _, c := range [][2]string{
			{"org_describe", `{"project_path": "DIR/org/P", "connection_name": "MyOrg"}`},
			{"org_describe", `{"project_path": "DIR/org/P", "connection_name": "MyOrg", "field_filter": "all"}`},
			{"org_describe", `{"project_path": "DIR/org/P", "connection_name": "MyOrg", "objects": ["Hidden", "hidden", "Unlisted__c", "Account"], "field_filter": "all"}`},
			{"org_describe", `{"project_path": "DIR/org/P", "connection_name": "MyOrg", "objects": ["Hiden"]}`},
			{"get_all_schemas", `{}`}, {"get_schema", `{"class_name": "Hidden"}`}, {"get_schema", `{"class_name": "Unlisted__c"}`}, {"get_schema", `{"class_name": "Account"}`},
			{"query_class", `{"class_name": "Hidden"}`}, {"query_class", `{"class_name": "Account", "where": {"Secret": 1}}`}, {"query_class", `{"class_name": "Account"}`},
		} {
			answers[i] += call(t, set, p, dir, c[0], c[1]) + "\n\n"
		}
	}
	if answers[0] != answers[1] {
		t.Errorf("without\n%s\nwith\n%s", answers[0], answers[1])
	}
	if strings.Contains(answers[1], "60000,") || !strings.Contains(answers[1], "3600000") {
		t.Errorf("the age is not that of what can be seen:\n%s", answers[1])
	}
}

// TestLists checks which classes and fields remain after a principal's lists and a mask.
func TestLists(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, describeDesk)
	none := describeAgent()
	none.Classes.Only = []string{}
	unread := describeAgent()
	unread.Scopes = nil
	untooled := describeAgent()
	untooled.Tools.Except = []string{"org_describe"}
	set, _ := org(t, dir, 0, policy.Rules{Classes: map[string]policy.ClassRule{"Case": {Mask: map[string]policy.Mask{"Status": plan.MaskNull}}}})
	const args = `{"project_path": "DIR/org/P", "connection_name": "Sandbox"}`
	for want, p := range map[string]identity.Principal{
		`{"requestId":"c1","workspace_path":"DIR/org/workspace-P","cache_age_ms":null,"objects":[],"total":0}` + "\n0 of 0 objects": none,
		"permission_denied: org_describe needs the scope read []":                                                                   unread,
		`unknown_tool: unknown tool "org_describe" list_tools names the tools you may call[]`:                                       untooled,
		`{"requestId":"c1","workspace_path":"DIR/org/workspace-P","cache_age_ms":3600000,"objects":[{"name":"Case","exists":true,"required_fields":[` +
			`{"name":"Status","type":"picklist","default_value":null,"nillable":false}],"field_count":3}],"total":1}` + "\nCase: 1 of 3 fields required: Status picklist*\n1 of 1 objects": describeAgent(),
	} {
		if got := call(t, set, p, dir, "org_describe", args); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestSources uses several sources. The first source that has the connection answers, and each source refuses the
// projects of others.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, map[string]string{"one/workspace-P/.metadata/First/A.json": "{}", "two/workspace-P/.metadata/Second/B.json": "{}", "two/workspace-P/.metadata/First/C.json": "{}"})
	set, _ := org(t, dir, 0, policy.Rules{})
	for args, want := range map[string]string{
		`{"project_path": "DIR/one/P", "connection_name": "First"}`:  `"DIR/one/workspace-P"`,
		`{"project_path": "DIR/two/P", "connection_name": "Second"}`: `"DIR/two/workspace-P"`,
		`{"project_path": "DIR/two/P", "connection_name": "First"}`:  `"name":"C"`,
		`{"project_path": "DIR/one/P", "connection_name": "Second"}`: `there are First`,
		`{"project_path": "DIR/P", "connection_name": "First"}`:      `PATH_NOT_ALLOWED`,
	} {
		if got := call(t, set, describeAgent(), dir, "org_describe", args); !strings.Contains(got, want) {
			t.Errorf("%s: %s", args, got)
		}
	}
}
