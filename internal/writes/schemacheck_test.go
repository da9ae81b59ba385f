package writes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

func texts(all ...string) []value.Value {
	out := make([]value.Value, len(all))
	for i, s := range all {
		out[i] = value.OfString(s)
	}
	return out
}

func read(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// account is a class with a denied and a masked field.
func account() schema.Class {
	return schema.Class{Source: "org", Name: "Account", Recordless: true, Fields: []schema.Field{
		{Name: "Id", Type: schema.String, NotNull: true, Required: true, Generated: true}, {Name: "Name", Type: schema.String, NotNull: true, Required: true, Length: 5},
		{Name: "Industry", Type: schema.String, Values: texts("Banking", "Energy")}, {Name: "Active__c", Type: schema.Boolean, NotNull: true, Required: true},
		{Name: "SSN__c", Type: schema.String, NotNull: true, Required: true, Length: 3}, {Name: "Rating", Type: schema.String, Values: texts("Hot", "Cold")}, {Name: "Where", Type: schema.Any},
		{Name: "Flags", Type: schema.String, Native: "multipicklist", Values: texts("A", "B")}}}
}

var described = []schema.Class{account(),
	{Source: "org", Name: "Empty__c", Recordless: true},
	{Source: "org", Name: "Lead", Recordless: true, Fields: []schema.Field{{Name: "Phone", Type: schema.String, NotNull: true, Required: true}, {Name: "Email", Type: schema.String}}},
	{Source: "app", Name: "orders", Key: []string{"id"}, Relations: []schema.Relation{{Fields: []string{"buyer"}, Target: "orders", TargetFields: []string{"id"}}}, Fields: []schema.Field{
		{Name: "id", Type: schema.Integer, NotNull: true, Required: true}, {Name: "buyer", Type: schema.Integer}, {Name: "n", Type: schema.Integer}, {Name: "doc", Type: schema.Any}}},
	{Source: "crm", Name: "orders", Fields: []schema.Field{{Name: "id", Type: schema.Integer}}},
}

func checkRules(t *testing.T) *policy.Policy {
	t.Helper()
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{
		"Account": {Denied: []string{"SSN__c"}, Mask: map[string]policy.Mask{"Rating": policy.Null}},
		"Lead":    {Mask: map[string]policy.Mask{"Phone": policy.Null}}}}, described)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var (
	whole  = identity.Principal{ID: "a", Scopes: []identity.Scope{identity.Read}}
	narrow = identity.Principal{ID: "b", Scopes: []identity.Scope{identity.Read}, Classes: identity.List{Except: []string{"org.Account"}}}
)

// TestCompile checks the errors in declarations.
func TestCompile(t *testing.T) {
	all := []string{"Name", "Industry", "active"}
	named := map[string]string{"active": "Active__c"}
	for _, c := range []struct {
		d         writes.Declaration
		arguments []string
		want      string
	}{
		{writes.Declaration{Class: "Account", Fields: named, Record: writes.CheckNew}, all, ""},
		{writes.Declaration{Class: "org.Account"}, []string{"Name", "dry"}, ""},
		{writes.Declaration{Class: "org.Account", Fields: map[string]string{"secret": "SSN__c"}}, []string{"secret"}, ""}, // the field is hidden from the caller
		{writes.Declaration{Class: "Lead", Record: writes.CheckNew}, []string{"Email"}, ""},
		{writes.Declaration{Class: "Acount"}, all, "class: there is no such class. Did you mean Account or org.Account?"},
		{writes.Declaration{Class: "orders"}, all, "class: 2 sources have such a class. Write source.Class"},
		{writes.Declaration{Class: "Empty__c"}, all, "class: nothing is known of the fields of org.Empty__c: its source describes none of them, or can't read them"},
		{writes.Declaration{Class: "Account"}, []string{"a", "b"}, ": no argument is called as a field of org.Account. fields says which argument is for which field"},
		{writes.Declaration{Class: "Account"}, nil, ": no argument is called as a field of org.Account. fields says which argument is for which field"},
		{writes.Declaration{Class: "Account", Record: writes.CheckNew}, all,
			": a new record of org.Account needs Active__c, and no argument is for it. fields says which is, and record: change asks only for what is right in what is given"},
		{writes.Declaration{Class: "Account", Record: writes.CheckNew}, []string{"Industry"},
			": a new record of org.Account needs Name, Active__c, and no argument is for it. fields says which is, and record: change asks only for what is right in what is given"},
		{writes.Declaration{Class: "Account", Record: writes.CheckOnChange}, all, ""},
		{writes.Declaration{Class: "Account", Fields: map[string]string{"activ": "Active__c"}}, all, `fields.activ: there is no argument "activ". Did you mean active?`},
		{writes.Declaration{Class: "Account", Fields: map[string]string{"b": "Active__c"}, Record: writes.CheckNew}, []string{"a"}, `fields.b: there is no argument "b"`}, // no other error is reported
		{writes.Declaration{Class: "Account", Fields: map[string]string{"active": "Active_c"}}, all, `fields.active: org.Account has no field "Active_c". Did you mean Active__c?`},
		{writes.Declaration{Class: "Account", Fields: map[string]string{"active": "Name"}}, all, "fields: the arguments Name and active are both for the field Name"},
	} {
		var got []string
		writes.CompileCheck(checkRules(t), c.d, c.arguments, func(at []string, format string, args ...any) {
			got = append(got, strings.Join(at, ".")+": "+fmt.Sprintf(format, args...))
		})
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%+v %v: got\n%s\nwant\n%s", c.d, c.arguments, text, c.want)
		}
	}
}

func compiledCheck(t *testing.T, d writes.Declaration, arguments ...string) *writes.Check {
	t.Helper()
	return writes.CompileCheck(checkRules(t), d, arguments, func(at []string, format string, args ...any) { t.Errorf("%v "+format, append([]any{at}, args...)...) })
}

// checkOutcome formats the results of a check for the caller and for reviewers.
func checkOutcome(doubts []write.Doubt, err error) string {
	var out []string
	if err != nil {
		p := problem.Of(err)
		out = append(out, fmt.Sprint(p.Code, " ", p.Pointer, " near ", p.Near))
		for _, f := range p.Faults {
			out = append(out, fmt.Sprint(f.Pointer, " ", f.Rule, " ", f.Message))
		}
	}
	for _, d := range doubts {
		out = append(out, fmt.Sprintf("doubt %s %s: %s", d.Class, d.Field, d.Text))
	}
	return strings.Join(out, "\n")
}

// TestArguments checks the faults for a caller who sees the class, and the doubts for reviewers.
func TestArguments(t *testing.T) {
	p, now := checkRules(t), account()
	d := writes.Declaration{Class: "Account", Fields: map[string]string{"active": "Active__c", "number": "SSN__c"}, Record: writes.CheckNew}
	check := compiledCheck(t, d, "Name", "Industry", "active", "number", "Rating", "Where", "reason")
	d.Record = writes.CheckOnChange
	change := compiledCheck(t, d, "Name", "Industry", "active", "number", "Rating", "Where", "reason")
	const good = `"Name": "Acme", "active": true, "number": "123"`
	for _, c := range []struct {
		check  *writes.Check
		args   string
		whole  string // the faults for a caller who sees the class
		narrow string // the faults for a caller who doesn't see it
	}{
		{check, `{` + good + `}`, "", ""},
		{check, `{` + good + `, "Where": {"any": ["thing"]}, "reason": 5}`, "", ""},
		{check, `{` + good + `, "Industry": "Bankin"}`,
			"invalid_argument /arguments/Industry near [Banking]\n/arguments/Industry enum Industry must be one of Banking, Energy, not \"Bankin\". Did you mean Banking?",
			"doubt org.Account Industry: Industry must be one of Banking, Energy, not \"Bankin\". Did you mean Banking?"},
		{check, `{"number": "123"}`,
			"invalid_argument /arguments/Name near []\n/arguments/Name required the field \"Name\" is missing\n/arguments/active required the field \"Active__c\" is missing",
			"doubt org.Account Name: the field \"Name\" is missing\ndoubt org.Account Active__c: the field \"Active__c\" is missing"},
		{change, `{}`, "", ""},
		{change, `{"Name": "Too long", "active": "yes"}`,
			"invalid_argument /arguments/Name near []\n/arguments/Name length Name must have at most 5 characters, not 8\n/arguments/active type Active__c must be true or false, not the text \"yes\"",
			"doubt org.Account Name: Name must have at most 5 characters, not 8\ndoubt org.Account Active__c: Active__c must be true or false, not the text \"yes\""},
		// hidden or masked fields
		{change, `{"number": "1234"}`, "doubt org.Account SSN__c: SSN__c must have at most 3 characters, not 4", "doubt org.Account SSN__c: SSN__c must have at most 3 characters, not 4"},
		{change, `{"Rating": "Warm"}`, "doubt org.Account Rating: Rating must be one of Hot, Cold, not \"Warm\"", "doubt org.Account Rating: Rating must be one of Hot, Cold, not \"Warm\""},
		{check, `{"Name": "Acme", "active": true}`, "doubt org.Account SSN__c: the field \"SSN__c\" is missing", "doubt org.Account SSN__c: the field \"SSN__c\" is missing"},
		{change, `{"Name": null, "number": 1}`, "invalid_argument /arguments/Name near []\n/arguments/Name required Name must have a value, not null",
			"doubt org.Account Name: Name must have a value, not null\ndoubt org.Account SSN__c: SSN__c must be a text, not 1"},
	} {
		for _, principal := range []identity.Principal{whole, narrow} {
			want := c.whole
			if principal.ID == narrow.ID {
				want = c.narrow
			}
			described := writes.Described{Class: &now, View: p.Fresh(principal, &now)}
			if got := checkOutcome(c.check.Arguments(described, read(t, c.args), "/arguments")); got != want {
				t.Errorf("%s for %s: got\n%s\nwant\n%s", c.args, principal.ID, got, want)
			}
		}
	}
}

// TestNow checks that the current description of the class is used.
func TestNow(t *testing.T) {
	p := checkRules(t)
	check := compiledCheck(t, writes.Declaration{Class: "Account", Fields: map[string]string{"a": "Industry"}}, "a", "Name", "Phone")
	args := read(t, `{"a": "Coal", "Name": "Acme Ltd", "Phone": 5}`)
	grown, less, other := account(), account(), account()
	grown.Fields = append(grown.Fields, schema.Field{Name: "Phone", Type: schema.String})
	grown.Fields[1].Length, grown.Fields[2].Values = 20, texts("Coal")
	less.Fields = less.Fields[:2]
	other.Fields = nil
	for _, c := range []struct {
		name string
		d    writes.Described
		want string
	}{
		{"as it was", writes.Described{Class: &described[0]}, "doubt org.Account Industry: Industry must be one of Banking, Energy, not \"Coal\"\ndoubt org.Account Name: Name must have at most 5 characters, not 8"},
		{"longer, with another value and a field of the argument's name", writes.Described{Class: &grown, View: p.Fresh(whole, &grown)}, "invalid_argument /Phone near []\n/Phone type Phone must be a text, not 5"},
		{"without a field that was named", writes.Described{Class: &less}, "doubt org.Account Name: Name must have at most 5 characters, not 8\ndoubt org.Account Industry: there is no field Industry any more"},
		{"without fields", writes.Described{Class: &other, View: p.Fresh(whole, &other)}, "doubt org.Account : it could not be checked: nothing is known of its fields"},
		{"gone", writes.Described{Why: "it isn't cached any more"}, "doubt org.Account : it could not be checked: it isn't cached any more"},
	} {
		if got := checkOutcome(check.Arguments(c.d, args, "")); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestTable checks arguments against a database class. Ids are written as text.
func TestTable(t *testing.T) {
	p := checkRules(t)
	view, err := p.View(whole, "app.orders", "", true)
	if err != nil {
		t.Fatal(err)
	}
	check := compiledCheck(t, writes.Declaration{Class: "app.orders"}, "id", "buyer", "n", "doc")
	for _, c := range []struct{ args, want string }{
		{`{"id": "7", "buyer": "8", "n": 9, "doc": "x"}`, ""},
		{`{"id": 7, "buyer": 8}`, ""},
		{`{"buyer": "x", "n": "nine", "doc": []}`, "invalid_argument /buyer near []\n/buyer type buyer must be a whole number of at most 64 bits, not the text \"x\"\n" +
			"/doc type doc must be a text, a number or a boolean, not a list\n/n type n must be a whole number of at most 64 bits, not the text \"nine\""},
	} {
		if got := checkOutcome(check.Arguments(writes.Described{Class: &described[3], View: view}, read(t, c.args), "")); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.args, got, c.want)
		}
	}
}

// TestHints checks that hints contain nothing that is hidden from the caller.
func TestHints(t *testing.T) {
	p := checkRules(t)
	check := compiledCheck(t, writes.Declaration{Class: "Account", Fields: map[string]string{"active": "Active__c", "number": "SSN__c"}, Record: writes.CheckNew},
		"Name", "Industry", "active", "number", "Rating", "Where", "Flags", "reason")
	declared := read(t, `{"type": "object", "properties": {"Name": {"maxLength": 80, "description": "d"}, "Industry": {"type": "string"}, "active": {"type": "string"}, "number": {}, "Rating": {}, "Where": {}, "Flags": {}, "reason": {}}, "required": ["Name"]}`)
	now := account()
	for _, c := range []struct {
		view         *policy.View
		hint, schema string
	}{
		{p.Fresh(whole, &now), `{"class_name":"Account","record":"new","fields":{"Name":"Name","Industry":"Industry","active":"Active__c","Where":"Where","Flags":"Flags"}}`,
			`{"type":"object","properties":{"Name":{"maxLength":80,"description":"d","type":"string"},"Industry":{"type":"string","enum":["Banking","Energy"]},"active":{"type":"string"},"number":{},"Rating":{},"Where":{},"Flags":{"type":"string"},"reason":{}},"required":["Name","active"]}`},
		{p.Fresh(narrow, &now), "null", string(declared.AppendJSON(nil))},
	} {
		if got := string(check.Hint(c.view).AppendJSON(nil)); got != c.hint {
			t.Errorf("hint %s\nwant %s", got, c.hint)
		}
		if got := string(check.CompleteSchema(c.view, declared).AppendJSON(nil)); got != c.schema {
			t.Errorf("schema %s\nwant %s", got, c.schema)
		}
	}
	for _, c := range []struct {
		record            writes.CheckedRecord
		declared, narrows string
	}{
		{writes.CheckNew, `{"properties":{"Id":{},"Name":{},"Active__c":{"default":true},"Industry":{"type":"number"}}}`,
			`{"properties":{"Id":{"type":"string"},"Name":{"type":"string","maxLength":5},"Active__c":{"default":true,"type":"boolean"},"Industry":{"type":"number"}},"required":["Name"]}`},
		{writes.CheckOnChange, `{"properties":{"Name":{}}}`, `{"properties":{"Name":{"type":"string","maxLength":5}}}`},
	} {
		check := compiledCheck(t, writes.Declaration{Class: "Account", Record: c.record}, "Id", "Name", "Active__c", "Industry")
		if got := string(check.CompleteSchema(p.Fresh(whole, &now), read(t, c.declared)).AppendJSON(nil)); got != c.narrows {
			t.Errorf("schema %s\nwant %s", got, c.narrows)
		}
	}
	if got, _ := compiledCheck(t, writes.Declaration{Class: "Account"}, "Name").Hint(p.Fresh(whole, &now)).Get("record"); got.Text() != "change" {
		t.Error(got)
	}
	many := make([]value.Value, 51)
	for i := range many {
		many[i] = value.OfInt(int64(i))
	}
	for _, c := range []struct {
		f    schema.Field
		want string
	}{
		{schema.Field{Type: schema.UUID}, `{"type":"string","format":"uuid"}`},
		{schema.Field{Type: schema.Integer, Values: many[:50]}, `{"type":"integer","enum":` + string(value.OfArray(many[:50]).AppendJSON(nil)) + `}`},
		{schema.Field{Type: schema.Integer, Values: many, Length: 4}, `{"type":"integer"}`},
		{schema.Field{Type: schema.String, Length: 4}, `{"type":"string","maxLength":4}`},
		{schema.Field{Type: schema.String, Length: 4, Least: 2}, `{"type":"string","maxLength":4,"minLength":2}`},
		{schema.Field{Type: schema.Integer, Least: 2}, `{"type":"integer"}`},
		{schema.Field{Type: schema.Any, Length: 4}, `{}`},
	} {
		if got := string(writes.ArgumentSchema(&c.f).AppendJSON(nil)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if !slices.ContainsFunc(now.Fields, func(f schema.Field) bool { return f.Name == "SSN__c" }) {
		t.Fatal("the class has the field that is not told of")
	}
}
