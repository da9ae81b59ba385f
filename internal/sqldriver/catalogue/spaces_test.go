package catalogue_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/catalogue"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestOwn expects the name of a schema to be taken out of defaults and types only where it qualifies a name.
func TestOwn(t *testing.T) {
	for _, tt := range []struct{ space, text, want string }{
		{"acme", "nextval('acme.issues_id_seq'::regclass)", "nextval('issues_id_seq'::regclass)"},
		{"acme", "'low'::acme.mood", "'low'::mood"},
		{"acme", "'x.acme.y'::text || tacme.f() || acme.f()", "'x.acme.y'::text || tacme.f() || f()"},
		{"acme", "'info@acme.example'::text || 'acme.x' || 'acme.it''s.acme.x'::regclass", "'info@acme.example'::text || 'acme.x' || 'it''s.acme.x'::regclass"},
		{"acme", `"x".acme.f() + "acme".f()`, `"x".acme.f() + f()`},
		{"a", "data.f() + a.f(a.g())", "data.f() + f(g())"},
		{`A "b`, `nextval('"A ""b".s'::regclass) + "A ""b".f()`, "nextval('s'::regclass) + f()"},
		{"it's", `nextval('"it''s".s'::regclass) + "it's".f()`, "nextval('s'::regclass) + f()"},
		{"Acme", "acme.f()", "acme.f()"},
		{"other", "nextval('acme.issues_id_seq'::regclass)", "nextval('acme.issues_id_seq'::regclass)"},
	} {
		classes := []schema.Class{{Fields: []schema.Field{{Default: tt.text, Native: tt.space + ".mood", Element: &schema.Field{Native: tt.space + ".mood"}}, {Native: "elsewhere.mood"}}}}
		catalogue.Own(classes, tt.space)
		f := classes[0].Fields
		if own := schema.Unbound + ".mood"; f[0].Default != tt.want || f[0].Native != own || f[0].Element.Native != own || f[1].Native != "elsewhere.mood" {
			t.Errorf("%s in %s: %q %q %q", tt.text, tt.space, f[0].Default, f[0].Native, f[1].Native)
		}
	}
}
