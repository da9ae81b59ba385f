package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

func texts(all ...string) []value.Value {
	out := make([]value.Value, len(all))
	for i, s := range all {
		out[i] = value.OfString(s)
	}
	return out
}

// opportunity is a field of each kind.
var opportunity = []*schema.Field{
	{Name: "Id", Type: schema.String, NotNull: true, Generated: true},
	{Name: "Name", Type: schema.String, NotNull: true, Required: true, Length: 5},
	{Name: "Stage", Type: schema.String, NotNull: true, Default: "New", Values: texts("New", "Qualified", "Won")},
	{Name: "Tags", Type: schema.String, Native: "multipicklist", Values: texts("Hot", "Cold", "Old")},
	{Name: "Amount", Type: schema.Decimal}, {Name: "Count", Type: schema.Integer}, {Name: "Share", Type: schema.Double},
	{Name: "Open", Type: schema.Boolean}, {Name: "Close", Type: schema.Day}, {Name: "At", Type: schema.Date},
	{Name: "Key", Type: schema.UUID}, {Name: "Raw", Type: schema.Bytes}, {Name: "List", Type: schema.Array}, {Name: "Doc", Type: schema.JSON}, {Name: "What", Type: schema.Any},
	{Name: "Level", Type: schema.Integer, Values: []value.Value{value.OfInt(1), value.OfInt(2)}},
}

// TestRecord is values → "pointer rule message", one line each.
func TestRecord(t *testing.T) {
	for _, c := range []struct{ values, want string }{
		{`{"Name": "Acme"}`, ""},
		{`{"Name": "Acme", "Stage": "Won", "Tags": "Hot;Old", "Amount": 1.50, "Count": 3, "Share": 0.5, "Open": true, "Close": "2026-01-31", "At": "2026-01-31T13:00:00Z",
			"Key": "6f1c1f60-0000-4000-8000-00000000000a", "Raw": "aGk=", "List": [1], "Doc": {"a": 1}, "What": [null], "Level": 2, "Id": null}`, ""},
		{`{}`, "/data required Name is required"},
		{`{"Name": null}`, "/data/Name required Name can't be null"},
		{`{"Name": "Äpfel"}`, ""},
		{`{"Name": "Äpfel1"}`, "/data/Name length Name holds at most 5 characters, not 6"},
		{`{"Name": 7}`, "/data/Name type Name must be text, not 7"},
		{`{"Name": ["a"]}`, "/data/Name type Name must be text, not a list"},
		{`{"Name": "A", "Nmae": "B"}`, `/data/Nmae unknown there is no field "Nmae"; did you mean Name?`},
		{`{"Name": "A", "a/b~": 1}`, `/data/a~1b~0 unknown there is no field "a/b~"`},
		{`{"Name": "A", "Stage": "Wn"}`, `/data/Stage values Stage can't be "Wn", of 3 values; did you mean Won?`},
		{`{"Name": "A", "Stage": "Lost and found"}`, `/data/Stage values Stage must be one of New, Qualified, Won, not "Lost and found"`},
		{`{"Name": "A", "Stage": ""}`, `/data/Stage values Stage must be one of New, Qualified, Won, not ""`},
		{`{"Name": "A", "Stage": "New;Won"}`, `/data/Stage values Stage must be one of New, Qualified, Won, not "New;Won"`},
		{`{"Name": "A", "Tags": "Hot;Warm"}`, `/data/Tags values Tags must be one of Hot, Cold, Old, not "Warm"`},
		{`{"Name": "A", "Level": 3}`, `/data/Level values Level must be one of 1, 2, not "3"`},
		{`{"Name": "A", "Amount": "12"}`, `/data/Amount type Amount must be a number, not the text "12"`},
		{`{"Name": "A", "Count": 1.5}`, `/data/Count type Count must be a whole number, not 1.5`},
		{`{"Name": "A", "Count": 9223372036854775808}`, `/data/Count type Count must be a whole number, not 9223372036854775808`},
		{`{"Name": "A", "Open": "true"}`, `/data/Open type Open must be true or false, not the text "true"`},
		{`{"Name": "A", "Close": "2026-02-30"}`, `/data/Close type Close must be a date such as 2026-01-31, not the text "2026-02-30"`},
		{`{"Name": "A", "Close": "2026-01-31T00:00:00Z"}`, `/data/Close type Close must be a date such as 2026-01-31, not the text "2026-01-31T00:00:00Z"`},
		{`{"Name": "A", "At": "2026-01-31"}`, `/data/At type At must be an instant such as 2026-01-31T13:00:00Z, not the text "2026-01-31"`},
		{`{"Name": "A", "Key": "x"}`, `/data/Key type Key must be a UUID, not the text "x"`},
		{`{"Name": "A", "Raw": "%"}`, `/data/Raw type Raw must be base64, not the text "%"`},
		{`{"Name": "A", "List": {}}`, `/data/List type List must be a list, not an object`},
		{`[]`, "/data type must be an object with values by field"},
		{`{"Stage": "x1234567890123", "Count": "a"}`, "/data/Stage values Stage must be one of New, Qualified, Won, not \"x1234567890123\"\n/data/Count type Count must be a whole number, not the text \"a\"\n/data required Name is required"},
	} {
		v, err := value.Read([]byte(c.values), 0)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		faults := Record(opportunity, v, Options{At: "/data"})
		for _, f := range faults {
			lines = append(lines, fmt.Sprint(f.Pointer, " ", f.Rule, " ", f.Message))
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.values, got, c.want)
		}
		if err := Problem(faults); (err == nil) != (c.want == "") || err != nil && (problem.CodeOf(err) != problem.InvalidArgument || len(problem.Of(err).Faults) != len(faults)) {
			t.Errorf("%s: the problem is %v", c.values, err)
		}
	}
}

// TestOptions is what differs for changes, and for arguments that are not called as fields.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		values  string
		options Options
		want    string
	}{
		{`{"Count": 1}`, Options{Changes: true}, ""},
		{`{"Name": null}`, Options{Changes: true}, "/Name required Name can't be null"},
		{`{"title": "A"}`, Options{Fields: map[string]string{"title": "Name"}}, ""},
		{`{"title": "A long one"}`, Options{Fields: map[string]string{"title": "Name"}}, "/title length Name holds at most 5 characters, not 10"},
		{`{"Name": "A", "dry_run": true}`, Options{Others: true}, ""},
		{`{"Name": "A", "dry_run": true}`, Options{}, `/dry_run unknown there is no field "dry_run"`},
	} {
		v, err := value.Read([]byte(c.values), 0)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range Record(opportunity, v, c.options) {
			got += fmt.Sprint(f.Pointer, " ", f.Rule, " ", f.Message)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.values, got, c.want)
		}
	}
	if p := problem.Of(Problem(Record(opportunity, value.OfObject([]value.Member{{Name: "xxx1", Value: value.OfInt(1)}, {Name: "xxx2", Value: value.OfInt(1)}, {Name: "xxx3", Value: value.OfInt(1)}}), Options{}))); p.Detail !=
		`there is no field "xxx1"; there is no field "xxx2"; there is no field "xxx3"; and 1 more` {
		t.Error(p.Detail)
	}
}
