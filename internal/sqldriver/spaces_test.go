package sqldriver_test

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestOwn checks that the name of a schema is removed from defaults and types only where it qualifies a name.
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
		{"acme", "1 -- don't use acme.g()\n + acme.f()", "1 -- don't use g()\n + f()"},
		{"acme", "1 /* it's\n acme.g() */ -acme.f()/acme.h() - 'acme.x -- y'", "1 /* it's\n g() */ -f()/h() - 'acme.x -- y'"},
		{"Acme", "acme.f()", "acme.f()"},
		{"other", "nextval('acme.issues_id_seq'::regclass)", "nextval('acme.issues_id_seq'::regclass)"},
	} {
		classes := []schema.Class{{Fields: []schema.Field{{Default: tt.text, Native: tt.space + ".mood", Element: &schema.Field{Native: tt.space + ".mood"}}, {Native: "elsewhere.mood"}}}}
		sqldriver.OwnClasses(classes, tt.space)
		f := classes[0].Fields
		if own := schema.Unbound + ".mood"; f[0].Default != tt.want || f[0].Native != own || f[0].Element.Native != own || f[1].Native != "elsewhere.mood" {
			t.Errorf("%s in %s: %q %q %q", tt.text, tt.space, f[0].Default, f[0].Native, f[1].Native)
		}
	}
}

// TestCodeOf checks that the same code in two schemas is equal, and that code which names another schema is not.
func TestCodeOf(t *testing.T) {
	const function = "CREATE OR REPLACE FUNCTION %s.f()\n RETURNS trigger\n LANGUAGE plpgsql\n SET search_path TO '%s', 'public'\nAS $function$BEGIN INSERT INTO %s.log SELECT 'it''s %s.x'; END$function$\n"
	of := func(kind, space, text string) sqldriver.RoutineCode {
		return sqldriver.RoutineCodeOf(map[sqldriver.DefinedObject][]string{{Kind: kind, Name: "f"}: {text}}, space)
	}
	template := sqldriver.SchemaTemplate{Classes: []schema.Class{{Table: "f"}}}
	for _, tt := range []struct{ kind, text, other, want string }{
		{"function", fmt.Sprintf(function, "a", "a", "a", "z"), fmt.Sprintf(function, "b", "b", "b", "z"), ""},
		{"function", fmt.Sprintf(function, "a", "a", "a", "z"), fmt.Sprintf(function, "b", "a", "b", "z"), "its function f has another definition"},
		{"function", fmt.Sprintf(function, "a", "a", "a", "z"), fmt.Sprintf(function, "b", "b", "a", "z"), "its function f has another definition"},
		{"function", fmt.Sprintf(function, "a", "a", "a", "a"), fmt.Sprintf(function, "b", "b", "b", "b"), "its function f has another definition"}, // the function might run the text as SQL
		{"view", " SELECT i.id FROM a.i WHERE i.m = 'high'::a.mood;", " SELECT i.id FROM b.i WHERE i.m = 'high'::b.mood;", ""},
		{"view", " SELECT i.id FROM a.i;", " SELECT i.id FROM a.i;", "f: the view has another definition"},
		{"trigger", "CREATE TRIGGER t AFTER INSERT ON a.i EXECUTE FUNCTION a.f() O", "CREATE TRIGGER t AFTER INSERT ON b.i EXECUTE FUNCTION b.f() D", "f: its triggers are others"},
	} {
		template.Code = of(tt.kind, "a", tt.text)
		have := schema.Class{Table: "f"}
		if got := template.Difference([]schema.Class{have}, of(tt.kind, "b", tt.other)); got != tt.want {
			t.Errorf("%s\nand %s\n: %q, want %q", tt.text, tt.other, got, tt.want)
		}
	}
	if got := template.Difference([]schema.Class{{Table: "f"}}, nil); got != "f: its triggers are others" {
		t.Errorf("without the trigger: %q", got)
	}
}
