package validate

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
)

const formatted = `{"openapi":"3.0.0","paths":{"/silences/{id}":{"post":{"operationId":"op",
	"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string","format":"uuid"}},{"name":"since","in":"query","schema":{"type":"string","format":"date-time"},"example":"now-6h"}],
	"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Silence"},"example":{"note":{"until":"end of day"},"steps":[{"at":"noon"}]}}}}}}},
	"components":{"schemas":{
		"Silence":{"type":"object","example":{"owner":"usr_1","password":"x"},"properties":{
			"startsAt":{"type":"string","format":"date-time"},"endsAt":{"type":"string","format":"date-time","nullable":true},"day":{"type":"string","format":"date"},"hour":{"type":"string","format":"time"},
			"team":{"type":"string","format":"uuid"},"owner":{"type":"string","format":"uuid"},"mail":{"type":"string","format":"email"},"link":{"type":"string","format":"uri"},
			"host":{"type":"string","format":"hostname"},"v4":{"type":"string","format":"ipv4"},"v6":{"type":"string","format":"ipv6"},"bytes":{"type":"string","format":"byte"},
			"size":{"type":"integer","format":"int64"},"small":{"type":"integer","format":"int32","nullable":true},"stamp":{"type":"integer","format":"int32","example":1732789000000},"port":{"type":"integer","format":"uint16","maximum":9},
			"when":{"type":"string","format":"date-time","default":"now"},"mode":{"type":"string","format":"date-time","enum":["never"]},"tags":{"type":"array","example":["a"],"items":{"type":"string","format":"uuid"}},
			"seconds":{"type":"integer","format":"date-time"},"either":{"oneOf":[{"type":"string","format":"date"},{"type":"string","format":"date-time"}]},"word":{"oneOf":[{"type":"string"},{"type":"string","format":"uuid"}]},
			"not":{"type":"string","not":{"type":"string","format":"uuid","minLength":40}},"odd":{"type":"string","format":"regex"},"span":{"type":"string","format":"duration"},
			"note":{"type":"object","properties":{"until":{"type":"string","format":"date"}}},"steps":{"type":"array","items":{"type":"object","properties":{"at":{"type":"string","format":"time"}}}},
			"password":{"type":"string"}}}}}}`

// TestFormats checks which strings and numbers fit a format. For each field, it has accepted and refused values.
func TestFormats(t *testing.T) {
	c, v := checker(t, formatted, Options{})
	open := New(v, Options{OpenFormats: true})
	op, err := v.Operation("op")
	if err != nil {
		t.Fatal(err)
	}
	const path = `"path":{"id":"3fa85f64-5717-4562-b3fc-2c963f66afa6"}`
	for _, tt := range []struct{ field, fits, not string }{
		{"startsAt", `"2026-11-28T13:05:00Z" "2026-11-28T13:05:00.123+01:00" "2026-11-28 13:05" "2026-11-28T13:05:00" "2026-11-28" "20261128T130500Z" "1732789000" "1435781430.781" "" " 2024-02-29T00:00:00Z" "Wed, 19 Jun 2019 22:04:00 -0000"
			"06/11/2019 22:05:25 MST" "28.11.2026" "November 28, 2026" "28 Nov 2026" "2026-11" "2026-W48-6" "0000-00-00 00:00:00" "2026-11-28T24:00:00Z" "2026-11-28T13:05:00+01:00[Europe/Berlin]" "2026-1-2"`,
			`"now" "tomorrow" "next Monday" "in 2 hours" "+2h" "now-6h" "13:05" "TBD" "2026-02-30T00:00:00Z" "2026-13-01T00:00:00Z" "2026-11-28T25:00:00Z" "2026-11-28T13:61:00Z"`},
		{"endsAt", `null "2026-11-28T13:05:00Z"`, `"now"`},
		{"day", `"2026-11-28" "2026" "2024-08-31T00:00:00.000Z" ""`, `"today" "2026-11-31" "2025-02-29"`},
		{"hour", `"13:05" "13:05:00Z" "9:00 am" "T13:05" "1305" ""`, `"noon" "25:00" "13:75"`},
		{"team", `"3fa85f64-5717-4562-b3fc-2c963f66afa6" "3FA85F6457174562B3FC2C963F66AFA6" "{3fa85f64-5717-4562-b3fc-2c963f66afa6}" "urn:uuid:3fa85f64-5717-4562-b3fc-2c963f66afa6" "536e564f316c83104c000020" "01ARZ3NDEKTSV4RRFFQ69G5FAV"
			"usr_2NzXQ8o1LwRkYvB3c7Jd" ""`, `"web" "42" "my team" "3fa85f64-5717-4562-b3fc-2c963f66afa" "3fa85f64-5717-4562-b3fc-2c963f66afag" "the-best-team-of-the-world" "me"`},
		{"owner", `"usr_2"`, ``}, // the schema's own example is not a UUID
		{"mail", `"ana@example.com" "Ana <ana@example.com>" "a@b, c@d" "root@localhost" ""`, `"ana" "@example.com" "ana@"`},
		{"link", `"https://a.example/b" "example.com" "/path" "mailto:ana@example.com" "https://a.example/a b" "urn:a:b" ""`, `"see the wiki" "the homepage"`},
		{"host", `"db.example.com" "db:5432" "*.example.com" "münchen.example" ""`, `"the database" "https://db.example.com"`},
		{"v4", `"192.0.2.1" "10.0.0.0/8" ""`, `"192.0.2.256" "2001:db8::1" "localhost" "any"`},
		{"v6", `"2001:db8::1" "::1" "fe80::1%eth0" "2001:db8::/32" ""`, `"192.0.2.1" "2001:db8:::1" "localhost"`},
		{"bytes", `"aGVsbG8=" "aGVsbG8" "-_-_" "" "aGVs\nbG8="`, `"hello world" "{}" "hello" "a@bc"`},
		{"size", `9223372036854775807 -9223372036854775808`, `9223372036854775808 -9223372036854775809`},
		{"small", `2147483647 null`, `2147483648`},
		{"stamp", `1732789000000`, ``}, // the example is larger than the format
		{"port", `0 9`, `-1 10`},
		{"when", `"now" "later"`, ``}, // the default is not a date
		{"mode", `"never"`, `"2026-11-28T13:05:00Z"`},
		{"tags", `["a"]`, ``},
		{"seconds", `1732789000`, ``},
		{"either", `"2026-11-28" "2026-11-28T13:05:00Z"`, `"now"`},
		{"word", `"a" "3fa85f64-5717-4562-b3fc-2c963f66afa6"`, ``},
		{"not", `"x" "3fa85f64-5717-4562-b3fc-2c963f66afa6"`, ``},
		{"odd", `"("`, ``},
		{"span", `"1h"`, ``},
		{"note", `{"until":"2026-11-28"} {"until":"never"}`, ``},          // the example of the body is not a date
		{"steps", `[{"at":"13:05"},{"at":"some time"}] [{"at":"x"}]`, ``}, // the example of steps is not a time
	} {
		for text, want := range map[string]bool{tt.fits: true, tt.not: false} {
			for _, one := range valuesOf(t, text) {
				body := `{` + path + `,"body":{"` + tt.field + `":` + one + `}}`
				if _, err := c.Check(t.Context(), op, arguments(t, body)); (err == nil) != want {
					t.Errorf("%s %s: %v", tt.field, one, err)
				}
				if _, err := open.Check(t.Context(), op, arguments(t, body)); err != nil && strings.HasPrefix(one, `"`) && tt.field != "mode" {
					t.Errorf("%s %s with OpenFormats: %v", tt.field, one, err)
				}
			}
		}
	}
	for query, want := range map[string]bool{`"now-6h"`: true, `"-1d"`: true} { // the parameter's example has this form
		if _, err := c.Check(t.Context(), op, arguments(t, `{`+path+`,"query":{"since":`+query+`}}`)); (err == nil) != want {
			t.Errorf("since %s: %v", query, err)
		}
	}
}

// valuesOf splits a sequence of JSON values, one or several per line.
func valuesOf(t *testing.T, text string) (out []string) {
	t.Helper()
	for depth, start, quoted, i := 0, -1, false, 0; i <= len(text); i++ {
		switch {
		case i == len(text) || depth == 0 && !quoted && strings.ContainsRune(" \t\n", rune(text[i])):
			if start >= 0 {
				out, start = append(out, text[start:i]), -1
			}
			continue
		case text[i] == '"':
			quoted = !quoted
		case !quoted && (text[i] == '{' || text[i] == '['):
			depth++
		case !quoted && (text[i] == '}' || text[i] == ']'):
			depth--
		}
		if start < 0 {
			start = i
		}
	}
	return out
}

// TestFormatFaults checks that a fault contains the place, the correct form, and the given value. The fault omits
// bytes, which may be secret.
func TestFormatFaults(t *testing.T) {
	c, v := checker(t, formatted, Options{})
	op, err := v.Operation("op")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Check(t.Context(), op, arguments(t, `{"path":{"id":"web"},"body":{"startsAt":"now","bytes":"not base64!","note":{"until":"never"}}}`))
	var got []string
	for _, f := range problem.Of(err).Faults {
		got = append(got, f.Pointer+" "+f.Rule+" "+f.Message)
	}
	const want = `/body/bytes format body/bytes must be bytes in base64, such as aGVsbG8=
/body/startsAt format body/startsAt must be a date and time, such as 2026-11-28T13:05:00Z, not "now"
/path/id format path/id must be a UUID, such as 3fa85f64-5717-4562-b3fc-2c963f66afa6, not "web"`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
	later := arguments(t, `{"path":{"id":"$1.id"},"body":{"startsAt":"$1.at"}}`)
	later.Later = []string{"/path/id", "/body/startsAt"}
	if _, err := c.Check(t.Context(), op, later); err != nil {
		t.Errorf("values that are not known yet: %v", errors.Unwrap(err))
	}
}
