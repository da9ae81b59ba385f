package writing

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// types writes each value into its field by a create and an update. It compares the value in the preview, the receipt
// and a query.
func types(t *testing.T, d *database) {
	for _, r := range []struct {
		field, value string
		want         string    // the value read back. "" means the same value
		others       [3]string // results of dialects that differ. "refused" if the dialect can't store the value
	}{
		{field: "name", value: `"plain"`},
		{field: "name", value: `""`},
		{field: "name", value: `null`},
		{field: "name", value: `"Zoë 日本 \u0000e\u0301 👩‍🚀 \" ' \\ % _ ; -- ${x}"`, others: [3]string{"refused", "refused", "refused"}},
		{field: "name", value: `"Zoë 日本 e\u0301 👩‍🚀 \" ' \\ % _ ; -- ${x}"`, want: "\"Zoë 日本 e\u0301 👩‍🚀 \\\" ' \\\\ % _ ; -- ${x}\""},
		{field: "name", value: `"trailing  "`},
		{field: "code", value: `"日本語字"`},
		{field: "state", value: `"done"`},
		{field: "small", value: `-2147483648`},
		{field: "big", value: `9223372036854775807`},
		{field: "big", value: `-9223372036854775808`},
		{field: "big", value: `9007199254740993`},
		{field: "x", value: `0.1`},
		{field: "x", value: `-1.7976931348623157e308`, want: `-1.7976931348623157e+308`},
		{field: "x", value: `5e-324`},
		{field: "x", value: `123456789012`},
		{field: "single", value: `0.1`, others: [3]string{2: "0.10000000149011612"}},
		{field: "price", value: `9999999999.99`},
		{field: "price", value: `-0.10`, want: `-0.1`, others: [3]string{1: `-0.10`}},
		{field: "exact", value: `12345678901234567890.123456789`, others: [3]string{"refused"}},
		{field: "exact", value: `9007199254740993`},
		{field: "yes", value: `true`},
		{field: "yes", value: `false`},
		{field: "at", value: `"2026-03-29T02:30:00.123456Z"`},
		{field: "at", value: `"2026-10-25T02:30:00+02:00"`, want: `"2026-10-25T00:30:00Z"`},
		{field: "at", value: `"1969-12-31T23:59:59.5Z"`},
		{field: "local", value: `"2026-07-01T12:00:00Z"`},
		{field: "day", value: `"2024-02-29"`},
		{field: "uid", value: `"6F9619FF-8B86-D011-B42D-00C04FC964FF"`, want: `"6f9619ff-8b86-d011-b42d-00c04fc964ff"`},
		{field: "raw", value: `"AAECAwR//v8="`},
		{field: "raw", value: `""`},
		{field: "doc", value: `{"a":[1,2,{"b":null}],"c":"é"}`, want: `{"a":[1,2,{"b":null}],"c":"é"}`},
		{field: "doc", value: `{"n":9007199254740993}`},
		{field: "doc", value: `"text"`},
		{field: "doc", value: `[]`},
		{field: "tags", value: `["a","b \"c\" \\d","NULL",""]`},
		{field: "tags", value: `["{x}",null,"a,b"]`},
		{field: "tags", value: `[]`},
		{field: "body", value: `"` + string(long(100_000)) + `"`},
	} {
		want := cmp.Or(r.others[d.Kind], r.want, r.value)
		name := r.field + " " + problem.Cut(r.value)
		if want == "refused" {
			if _, err := value.Read([]byte(r.value), 0); err != nil {
				continue // no API accepts the value
			}
			if _, err := d.previewWrites(t, fmt.Sprintf(`{"op":"create","class":"things","data":{%q:%s}}`, r.field, r.value)); problem.CodeOf(err) != problem.InvalidArgument {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		d.roundTrip(t, name, r.field, r.value, want)
	}
}

func long(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + i%26)
	}
	return b
}

// roundTrip writes a value into a new record and into an existing one.
func (d *database) roundTrip(t *testing.T, name, field, text, want string) {
	t.Helper()
	create := fmt.Sprintf(`{"op":"create","class":"things","data":{%q:%s}}`, field, text)
	seen, err := d.previewWrites(t, create)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if got, _ := seen.Effects[0].After.Get(field); string(got.AppendJSON(nil)) != want || seen.Refusal != "" {
		t.Errorf("%s is shown as %s, want %s; refused: %q", name, problem.Cut(string(got.AppendJSON(nil))), problem.Cut(want), seen.Refusal)
		return
	}
	r, err := d.apply(t, d.changeFrom(t, seen, create), 1)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if got := d.read(t, r.Keys[0], field); got != want {
		t.Errorf("%s is read as %s, want %s", name, problem.Cut(got), problem.Cut(want))
	}
	c := d.newApprovedChange(t, fmt.Sprintf(`{"op":"update","class":"things","id":%q,"data":{%q:null}}`, r.Keys[0], field))
	if _, err := d.apply(t, c, 1); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	c = d.newApprovedChange(t, fmt.Sprintf(`{"op":"update","class":"things","id":%q,"data":{%q:%s}}`, r.Keys[0], field, text))
	if r, err = d.apply(t, c, 1); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if got, _ := r.After[0].Get(field); string(got.AppendJSON(nil)) != want {
		t.Errorf("%s was updated to %s, want %s", name, problem.Cut(string(got.AppendJSON(nil))), problem.Cut(want))
	}
	// A new proposal for the same record must not report a change of the record.
	c = d.newApprovedChange(t, fmt.Sprintf(`{"op":"delete","class":"things","id":%q}`, r.Keys[0]))
	if _, err = d.apply(t, c, 1); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// read returns a field of a thing as a query returns it.
func (d *database) read(t *testing.T, id, field string) string {
	t.Helper()
	permit, err := d.policy.Read(asker, &query.Find{Class: "things", IDs: []string{id}, Keys: []query.Path{{field}}, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := d.Read(t.Context(), permit)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range plan.Columns {
			if c.Path.String() == field {
				return string(r[i].AppendJSON(nil))
			}
		}
	}
	return "nothing"
}

// misfits tests values that policy accepts for the type of the field but that the column can't store exactly. They
// must be refused before anything runs, with the name of the field. A refusal by the database itself is reported
// without its message.
func misfits(t *testing.T, d *database) {
	for _, r := range []struct {
		field, value string
		want         [3]string
	}{
		{"small", `2147483648`, [3]string{``, `invalid_argument: small holds integers from -2147483648 to 2147483647`, `invalid_argument: small must be at most 2147483647, not 2147483648`}},
		{"price", `0.125`, [3]string{``, `invalid_argument: price holds 2 digits behind the point`, `invalid_argument: price holds 2 digits behind the point`}},
		{"price", `10000000000`, [3]string{``, `invalid_argument: price holds 10 digits before the point`, `invalid_argument: price holds 10 digits before the point`}},
		{"x", `0.30000000000000004441`, [3]string{`invalid_argument: x can't hold all digits of 0.30000000000000004441`,
			`invalid_argument: x can't hold all digits of 0.30000000000000004441`, `invalid_argument: x can't hold all digits of 0.30000000000000004441`}},
		{"single", `0.123456789`, [3]string{``, `invalid_argument: single can't hold all digits of 0.123456789`, `invalid_argument: single can't hold all digits of 0.123456789`}},
		{"local", `"2026-07-01T12:00:00.5Z"`, [3]string{``, `invalid_argument: local holds 0 digits of a second`, `invalid_argument: local holds 0 digits of a second`}},
		{"code", `"five!"`, [3]string{`invalid_argument: code must have at most 4 characters, not 5`, `invalid_argument: code must have at most 4 characters, not 5`,
			`invalid_argument: code must have at most 4 characters, not 5`}},
		{"state", `"1"`, [3]string{`invalid_argument: state must be one of new, done, not "1"`, `invalid_argument: state must be one of new, done, not "1"`,
			`invalid_argument: state must be one of new, done, not "1"`}},
	} {
		seen, err := d.previewWrites(t, fmt.Sprintf(`{"op":"create","class":"things","data":{%q:%s}}`, r.field, r.value))
		got := seen.Refusal
		if err != nil {
			got = err.Error()
		}
		if got != r.want[d.Kind] {
			t.Errorf("%s %s\n got %q\nwant %q", r.field, r.value, got, r.want[d.Kind])
		}
	}
	if _, err := d.Preview(t.Context(), writes.Draft{}); problem.CodeOf(err) != problem.PermissionDenied {
		t.Errorf("the zero Draft: %v", err)
	}
	if _, err := d.Apply(t.Context(), writes.Permit{}); problem.CodeOf(err) != problem.PermissionDenied {
		t.Errorf("the zero Permit: %v", err)
	}
}
