package metadata

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// FuzzJSON reads arbitrary JSON files.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{short, `{"fields": {}}`, `{"fields": [{"name": "A", "picklistValues": [{"value": "x", "active": "false"}], "length": 3, "defaultValue": [1]}]}`,
		`{"fields":`, "\xEF\xBB\xBF{}", utf16Of(short, true, true), strings.Repeat("[", 100)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzz(t, ".json", data) })
}

// FuzzXML reads arbitrary XML files.
func FuzzXML(f *testing.F) {
	for _, seed := range []string{sf(`<sfField n="A" type="string" required="true"/>`), custom(`<fields><fullName>A</fullName><valueSet><valueSetDefinition><value><fullName>x</fullName></value></valueSetDefinition></valueSet></fields>`),
		`<!DOCTYPE x [<!ENTITY e "x">]><sfObject>&e;</sfObject>`, "<sfObject><fields>", utf16Of(sf(`<sfField n="A"/>`), false, true), strings.Repeat("<a>", 100), `<?xml version="1.0" encoding="latin1"?><sfObject/>`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzz(t, ".xml", data) })
}

// fuzz reads data and checks the invariants of the result.
func fuzz(t *testing.T, ending string, data []byte) {
	fields, err := readSalesforce(ending, data)
	if err != nil {
		p := problem.Of(err)
		if p.Code != problem.Upstream || fields != nil || len(p.Detail) > 120 || !utf8.ValidString(p.Detail) {
			t.Fatalf("%v with %d fields", err, len(fields))
		}
		return
	}
	seen := map[string]bool{}
	for _, f := range fields {
		switch {
		case f.Name == "" || len(f.Name) > maxName || seen[f.Name] || strings.ContainsFunc(f.Name, unprintable) || !utf8.ValidString(f.Name):
			t.Fatalf("a field is called %q", f.Name)
		case f.Required && (!f.NotNull || f.Generated || f.Default != ""), f.Length < 0:
			t.Fatalf("%+v", f)
		case !utf8.ValidString(f.Native+f.Default+f.Description) || f.Type > schema.Opaque:
			t.Fatalf("%+v", f)
		}
		seen[f.Name] = true
	}
}
