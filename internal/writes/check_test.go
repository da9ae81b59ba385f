package writes

import (
	"fmt"
	"strings"
	"testing"

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

func read(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// letters contains thirteen values. A message lists at most twelve.
var letters = texts("aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii", "jj", "kk", "ll", "mm")

// opportunity has a field of each kind.
var opportunity = []*schema.Field{
	{Name: "Id", Type: schema.String, NotNull: true, Required: true, Generated: true},
	{Name: "Name", Type: schema.String, NotNull: true, Required: true, Length: 5},
	{Name: "Stage", Type: schema.String, NotNull: true, Default: "New", Values: texts("New", "Qualified", "Won")},
	{Name: "Tags", Type: schema.String, Native: "multipicklist", Values: texts("Hot", "Cold", "Old")}, {Name: "Sets", Type: schema.String, Native: "MultiselectPicklist", Values: texts("A", "B")},
	{Name: "Many", Type: schema.String, Values: letters}, {Name: "Dozen", Type: schema.String, Values: letters[:12]}, {Name: "None", Type: schema.String, Values: texts()},
	{Name: "Amount", Type: schema.Decimal}, {Name: "Count", Type: schema.Integer}, {Name: "Owner", Type: schema.Integer}, {Name: "Share", Type: schema.Double},
	{Name: "Open", Type: schema.Boolean}, {Name: "Close", Type: schema.Day}, {Name: "At", Type: schema.Date},
	{Name: "Key", Type: schema.UUID}, {Name: "Raw", Type: schema.Bytes, Length: 3}, {Name: "List", Type: schema.Array}, {Name: "Doc", Type: schema.JSON}, {Name: "What", Type: schema.Any, Length: 2},
	{Name: "Motto", Type: schema.String, Least: 1}, {Name: "Points", Type: schema.Integer, Bounds: []schema.Bound{{Op: ">=", Value: value.OfInt(0)}, {Op: "<", Value: value.OfInt(100)}}},
	{Name: "Height", Type: schema.Decimal, Bounds: []schema.Bound{{Op: "<", Value: value.OfInt(3)}}},
	{Name: "Price", Type: schema.Decimal, Scaled: true, Scale: 2, Bounds: []schema.Bound{{Op: ">", Value: value.OfDecimal("0.5")}, {Op: "<>", Value: value.OfInt(7)}}},
	{Name: "Moods", Type: schema.Array, Element: &schema.Field{Type: schema.String, Values: texts("sad", "ok")}}, {Name: "Sizes", Type: schema.Array, Element: &schema.Field{Type: schema.Integer}},
	{Name: "Span", Type: schema.Opaque, Form: "a duration"}, {Name: "Until", Type: schema.Date, Native: "timestamptz", Endless: true},
	{Name: "Box", Type: schema.Opaque}, {Name: "Level", Type: schema.Integer, Values: []value.Value{value.OfInt(1), value.OfInt(2)}},
}

// TestValue checks one value for a field. The result is the converted value, or "rule: message [near]".
func TestValue(t *testing.T) {
	for _, c := range []struct{ field, v, want string }{
		{"Name", `"Äpfel"`, `"Äpfel"`},
		{"Name", `"Äpfel1"`, `length: Name must have at most 5 characters, not 6`},
		{"Name", `7`, `type: Name must be a text, not 7`},
		{"Name", `["a"]`, `type: Name must be a text, not a list`},
		{"Name", `{}`, `type: Name must be a text, not an object`},
		{"Name", `true`, `type: Name must be a text, not true`},
		{"Name", `null`, `required: Name must have a value, not null`},
		{"Id", `null`, `null`}, // the source generates it
		{"Amount", `null`, `null`},
		{"Stage", `null`, `required: Stage must have a value, not null`},
		{"Stage", `"Won"`, `"Won"`},
		{"Stage", `"Wn"`, `enum: Stage must be one of New, Qualified, Won, not "Wn". Did you mean Won? [Won]`},
		{"Stage", `"Lost and found"`, `enum: Stage must be one of New, Qualified, Won, not "Lost and found" []`},
		{"Stage", `""`, `enum: Stage must be one of New, Qualified, Won, not "" []`},
		{"Stage", `"New;Won"`, `enum: Stage must be one of New, Qualified, Won, not "New;Won" []`},
		{"Stage", `1`, `type: Stage must be a text, not 1`},
		{"Tags", `"Hot;Old"`, `"Hot;Old"`},
		{"Tags", `"Hot;Warm"`, `enum: Tags must be one of Hot, Cold, Old, not "Warm" []`},
		{"Tags", `"Hot;"`, `enum: Tags must be one of Hot, Cold, Old, not "" []`},
		{"Sets", `"A;B"`, `"A;B"`},
		{"Many", `"aaa"`, `enum: Many must be one of aa, bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, mm, not "aaa". Did you mean aa? [aa]`},
		{"Many", `"something else"`, `enum: Many must be one of aa, bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, mm, not "something else" []`},
		{"Many", `"mm"`, `"mm"`},
		{"Dozen", `"something else"`, `enum: Dozen must be one of aa, bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, not "something else" []`},
		{"None", `"a"`, `enum: None must have no value, not "a"`},
		{"Level", `2`, `2`},
		{"Level", `3`, `enum: Level must be one of 1, 2, not 3`},
		{"Amount", `12.50`, `12.50`},
		{"Amount", `"12"`, `12`},
		{"Amount", `"12.50"`, `12.50`},
		{"Amount", `"1e9999999"`, `type: Amount must be a number, not the text "1e9999999"`},
		{"Amount", `"12 €"`, `type: Amount must be a number, not the text "12 €"`},
		{"Amount", `"NaN"`, `"NaN"`},
		{"Share", `"-Infinity"`, `"-Infinity"`},
		{"Share", `0.5`, `0.5`},
		{"Share", `true`, `type: Share must be a number, not true`},
		{"Count", `9007199254740993`, `9007199254740993`},
		{"Count", `3.0`, `3`},
		{"Count", `1.5`, `type: Count must be a whole number of at most 64 bits, not 1.5`},
		{"Count", `"1"`, `1`},
		{"Count", `"9007199254740993"`, `9007199254740993`},
		{"Count", `"9223372036854775808"`, `type: Count must be a whole number of at most 64 bits, not the text "9223372036854775808"`},
		{"Count", `"1.5"`, `type: Count must be a whole number of at most 64 bits, not the text "1.5"`},
		{"Count", `"one"`, `type: Count must be a whole number of at most 64 bits, not the text "one"`},
		{"Count", `"NaN"`, `type: Count must be a whole number of at most 64 bits, not the text "NaN"`},
		{"Moods", `["sad", null, ["ok"]]`, `["sad",null,["ok"]]`},
		{"Moods", `["sad", "bad"]`, `/1 enum: an element of Moods must be one of sad, ok, not "bad". Did you mean sad? [sad]`},
		{"Moods", `[["sad"], ["ok", 1]]`, `/1/1 type: an element of Moods must be a text, not 1`},
		{"Sizes", `["1", 2.0]`, `[1,2]`},
		{"Sizes", `[1, "a"]`, `/1 type: an element of Sizes must be a whole number of at most 64 bits, not the text "a"`},
		{"Span", `"P1D"`, `"P1D"`},
		{"Span", `5`, `type: Span must be a duration, not 5`},
		{"Until", `"infinity"`, `"infinity"`},
		{"Until", `"12026-01-31T10:00:00Z"`, `"12026-01-31 10:00:00+00"`},
		{"Until", `"soon"`, `type: Until must be a date in ISO 8601, as in 2026-01-31T13:00:00Z, not the text "soon"`},
		{"At", `"infinity"`, `type: At must be a date in ISO 8601, as in 2026-01-31T13:00:00Z, not the text "infinity"`},
		{"Count", `9223372036854775808`, `type: Count must be a whole number of at most 64 bits, not 9223372036854775808`},
		{"Owner", `7`, `7`},
		{"Owner", `"7"`, `7`},
		{"Owner", `"-7"`, `-7`},
		{"Owner", `"07"`, `type: Owner must be a whole number of at most 64 bits, not the text "07"`},
		{"Owner", `"99999999999999999999"`, `type: Owner must be a whole number of at most 64 bits, not the text "99999999999999999999"`},
		{"Open", `false`, `false`},
		{"Open", `"true"`, `type: Open must be true or false, not the text "true"`},
		{"Open", `1`, `type: Open must be true or false, not 1`},
		{"Close", `"2026-01-31"`, `"2026-01-31"`},
		{"Close", `"2026-02-30"`, `type: Close must be a date without a time, as in 2026-01-31, not the text "2026-02-30"`},
		{"Close", `"2026-01-31T00:00:00Z"`, `type: Close must be a date without a time, as in 2026-01-31, not the text "2026-01-31T00:00:00Z"`},
		{"Close", `5`, `type: Close must be a date without a time, as in 2026-01-31, not 5`},
		{"At", `"2026-01-31T10:00:00+01:00"`, `"2026-01-31T09:00:00Z"`},
		{"At", `"2026-01-31"`, `"2026-01-31"`},
		{"At", `"soon"`, `type: At must be a date in ISO 8601, as in 2026-01-31T13:00:00Z, not the text "soon"`},
		{"Key", `"0B0E7A4C-8F5B-4E39-9D7F-3C0C5D1C2A11"`, `"0b0e7a4c-8f5b-4e39-9d7f-3c0c5d1c2a11"`},
		{"Key", `"x"`, `type: Key must be a UUID, not the text "x"`},
		{"Raw", `"aGk="`, `"aGk="`},
		{"Raw", `"aGVsbG8="`, `"aGVsbG8="`}, // length applies to texts only
		{"Raw", `"%"`, `type: Raw must be bytes in base64, not the text "%"`},
		{"Raw", `5`, `type: Raw must be bytes in base64, not 5`},
		{"List", `["x"]`, `["x"]`},
		{"List", `{}`, `type: List must be a list, not an object`},
		{"Doc", `{"a": [1]}`, `{"a":[1]}`},
		{"Doc", `"x"`, `"x"`},
		{"What", `1`, `1`},
		{"What", `"x"`, `"x"`},
		{"What", `true`, `true`},
		{"What", `[]`, `type: What must be a text, a number or a boolean, not a list`},
		{"What", `"xyz"`, `length: What must have at most 2 characters, not 3`},
		{"Motto", `""`, `range: Motto must have at least 1 character, not 0`},
		{"Motto", `"é"`, `"é"`},
		{"Points", `0`, `0`},
		{"Points", `-1`, `range: Points must be at least 0, not -1`},
		{"Points", `100`, `range: Points must be less than 100, not 100`},
		{"Height", `2.51`, `2.51`},
		{"Height", `3.51`, `range: Height must be less than 3, not 3.51`},
		{"Price", `0.51`, `0.51`},
		{"Price", `0.5`, `range: Price must be more than 0.5, not 0.5`},
		{"Price", `7.00`, `range: Price must be other than 7, not 7.00`},
		{"Price", `0.499`, `0.499`}, // the source rounds it
		{"Price", `-1e3`, `-1e3`},   // the source compares this value without rounding
		{"Box", `{}`, `{}`},
	} {
		var f *schema.Field
		for _, one := range opportunity {
			if one.Name == c.field {
				f = one
			}
		}
		fitted, fault := checkValue(f, read(t, c.v), "/data/x", fieldOptions{Key: func(name string) bool { return name == "Owner" }})
		got := string(fitted.AppendJSON(nil))
		if fault != nil {
			got = fault.Rule + ": " + fault.Message
			if fault.Near != nil {
				got += fmt.Sprint(" ", fault.Near)
			}
			if rest := strings.TrimPrefix(fault.Pointer, "/data/x"); rest != "" {
				got = rest + " " + got
			}
			if !strings.HasPrefix(fault.Pointer, "/data/x") || fault.Name != c.field {
				t.Errorf("%s %s: %+v", c.field, c.v, fault)
			}
		}
		if got != c.want {
			t.Errorf("%s %s: got\n%s\nwant\n%s", c.field, c.v, got, c.want)
		}
	}
}

// TestKinds checks value kinds that JSON doesn't have. Expressions return such values.
func TestKinds(t *testing.T) {
	day, instant := value.OfDay(0), value.OfDay(0)
	if at, ok := value.OfDateText("2026-01-31T13:00:00Z"); ok {
		instant = at
	}
	for _, c := range []struct {
		typ  schema.Type
		v    value.Value
		kind value.Kind
		ok   bool
	}{
		{schema.Date, instant, value.Date, true}, {schema.Date, day, value.Day, true}, {schema.Day, day, value.Day, true}, {schema.Day, instant, 0, false},
		{schema.Bytes, value.OfBytes("hi"), value.Bytes, true}, {schema.Bytes, value.OfString("aGk="), value.Bytes, true}, {schema.Integer, value.OfInt(1), value.Int, true},
		{schema.Any, instant, 0, false},
	} {
		fitted, fault := checkValue(&schema.Field{Name: "f", Type: c.typ}, c.v, "", fieldOptions{})
		if (fault == nil) != c.ok || c.ok && fitted.Kind() != c.kind {
			t.Errorf("%v as %v: %v %v", c.v, c.typ, fitted.Kind(), fault)
		}
	}
	if v, fault := checkValue(opportunity[0], value.OfInt(1), "", fieldOptions{}); fault == nil || v.Kind() != value.Int {
		t.Error("what doesn't fit is given back as it came", v)
	}
}

// TestRecord checks records with options. It shows each fault on one line: "pointer rule message".
func TestRecord(t *testing.T) {
	deal := opportunity[1:3]
	titled := map[string]string{"title": "Name"}
	for _, c := range []struct {
		values  string
		options fieldOptions
		want    string
	}{
		{`{"Name": "Acme"}`, fieldOptions{At: "/data"}, ""},
		{`{}`, fieldOptions{At: "/data"}, "/data/Name required the field \"Name\" is missing"},
		{`[]`, fieldOptions{At: "/data"}, "/data type data must be an object, by field name, not a list"},
		{`{"Name": null}`, fieldOptions{At: "/data"}, "/data/Name required Name must have a value, not null"},
		{`{"Name": "A", "a/b~": 1}`, fieldOptions{At: "/data", Fields: map[string]string{"a/b~": "Stage"}}, `/data/a~1b~0 type Stage must be a text, not 1`},
		{`{"Stage": "x1234567890123", "Zip": "a"}`, fieldOptions{At: "/data"}, "/data/Stage enum Stage must be one of New, Qualified, Won, not \"x1234567890123\"\n/data/Name required the field \"Name\" is missing"},
		{`{"Stage": "Won"}`, fieldOptions{Changes: true}, ""},
		{`{"Name": null}`, fieldOptions{Changes: true}, "/Name required Name must have a value, not null"},
		{`{"title": "A"}`, fieldOptions{Fields: titled}, ""},
		{`{"title": "A long one"}`, fieldOptions{Fields: titled}, "/title length Name must have at most 5 characters, not 10"},
		{`{"title": "A", "Name": "A long one"}`, fieldOptions{Fields: titled}, "/Name length Name must have at most 5 characters, not 10"},
		{`{"Name": "A", "dry_run": true}`, fieldOptions{}, ""},
		{`{"Name": "A", "What": [null]}`, fieldOptions{Open: true}, ""},
		{`{"Name": "A", "What": [null]}`, fieldOptions{}, `/What type What must be a text, a number or a boolean, not a list`},
	} {
		fields := deal
		if strings.Contains(c.values, "What") {
			fields = opportunity
		}
		var lines []string
		faults := checkRecord(fields, read(t, c.values), c.options)
		for _, f := range faults {
			lines = append(lines, fmt.Sprint(f.Pointer, " ", f.Rule, " ", f.Message))
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.values, got, c.want)
		}
	}
}
