package writing

import (
	"cmp"
	"fmt"
	"testing"
)

// testDeclaredTypes is like types for fields whose types the rules declare. It also writes values that the fields
// can't store.
func testDeclaredTypes(t *testing.T, d *database) {
	for _, r := range []struct{ field, value, want string }{
		{"made_ms", `"2026-03-29T02:30:00.123Z"`, ``},
		{"made_ms", `"1969-12-31T23:59:59.5Z"`, ``},
		{"made_s", `"2026-10-25T02:30:00+02:00"`, `"2026-10-25T00:30:00Z"`},
		{"made_text", `"2026-07-01T12:00:00.5Z"`, ``},
		{"doc_text", `{"a":[1,2,{"b":null}],"c":"é \"x\""}`, ``},
		{"doc_text", `"text"`, ``},
		{"price_text", `12.5`, ``},
		{"price_text", `-3`, ``},
		{"n_text", `9223372036854775807`, ``},
		{"x_text", `0.1`, ``},
		{"done", `true`, ``},
		{"done", `false`, ``},
		{"due", `"2026-07-01"`, ``},
		{"due", `"0001-01-01"`, ``},
	} {
		d.roundTrip(t, r.field+" "+r.value, r.field, r.value, cmp.Or(r.want, r.value))
	}
	for _, r := range []struct{ field, value, want string }{
		{"made_s", `"2026-07-01T12:00:00.5Z"`, `invalid_argument: made_s holds whole seconds`},
		{"made_ms", `"2026-07-01T12:00:00.0005Z"`, `invalid_argument: made_ms holds whole milliseconds`},
		{"due", `"2026-07-01T12:00:00Z"`, `invalid_argument: due must be a date without a time, as in 2026-01-31, not the text "2026-07-01T12:00:00Z"`},
		{"n_text", `1.5`, `invalid_argument: n_text must be a whole number of at most 64 bits, not 1.5`},
		{"done", `1`, `invalid_argument: done must be true or false, not 1`},
	} {
		_, err := d.previewWrites(t, fmt.Sprintf(`{"op":"create","class":"things","data":{%q:%s}}`, r.field, r.value))
		if got := fmt.Sprint(err); got != r.want {
			t.Errorf("%s %s\n got %q\nwant %q", r.field, r.value, got, r.want)
		}
	}
	c := d.newApprovedChange(t, `{"op":"create","class":"things","data":{"made_ms":"2026-03-29T02:30:00.123Z","made_s":"2026-03-29","doc_text":{"a":[1]},"price_text":12.50,"done":true}}`)
	r, err := d.apply(t, c, 1)
	if err != nil {
		t.Fatal(err)
	}
	var ms, s, done int64
	var doc, price string
	if err := d.outside.QueryRow("SELECT made_ms, made_s, doc_text, price_text, done FROM things WHERE id = "+r.Keys[0]).Scan(&ms, &s, &doc, &price, &done); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%d %d %s %s %d", ms, s, doc, price, done), `1774751400123 1774742400 {"a":[1]} 12.50 1`; got != want {
		t.Errorf("the database holds %s, want %s", got, want)
	}
}
