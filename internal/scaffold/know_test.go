package scaffold

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyreport"
	"github.com/bailiwick-dev/bailiwick/internal/scaffold/presets"
)

// presetOf names the preset of each application of testdata/applications that has one.
var presetOf = map[string]string{"wordpress": "WordPress", "directus": "Directus", "ghost": "Ghost", "strapi": "Strapi", "django": "Django", "devise": "Rails with Devise",
	"supabase_auth": "Supabase Auth", "parse": "Parse Server"}

// TestPresets checks presets on the recorded schemas of real applications: each is recognised, and no other; all that it names is
// there; what it hides is hidden, and what it says of the rest is in rules that compile.
func TestPresets(t *testing.T) {
	all, err := presets.All()
	if err != nil || len(all) != len(presetOf) {
		t.Fatal(len(all), err)
	}
	for _, app := range applications(t) {
		for i := range app.classes {
			c := &app.classes[i]
			c.Key = []string{c.Fields[0].Name}
		}
		found, err := presets.Recognise(app.classes)
		if err != nil {
			t.Fatal(err)
		}
		want := presetOf[app.name]
		if want == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || found[0].Name != want {
			t.Errorf("%s: recognised as %v, want %q", app.name, found, want)
			continue
		}
		checkPreset(t, app, found[0])
	}
}

// checkPreset checks that all that p names is in the classes of an application, and in the rules that are written for them.
func checkPreset(t *testing.T, app application, p presets.Preset) {
	t.Helper()
	of := func(personal string) *config.Config {
		d, err := Of(Source{Name: "app", URL: "sqlite:app.db"}, app.classes, Evidence{}, Answers{Tenant: None, Personal: personal})
		if err != nil {
			t.Fatalf("%s, personal data %s: %v", app.name, personal, err)
		}
		if !strings.Contains(d.Text, "# These are tables of "+p.Name+" (") {
			t.Errorf("%s: the configuration doesn't name the application", app.name)
		}
		c, err := config.Parse("bailiwick.yaml", []byte(d.Text), func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatal(app.name, err)
		}
		return c
	}
	of(Mask) // what is masked or hidden is no label, pointer or condition
	of(Hide)
	c := of(Show)
	report, err := policyreport.Of(c.Rules, app.classes)
	if err != nil {
		t.Fatal(app.name, err)
	}
	there := 0
	for i := range app.classes {
		class := &app.classes[i]
		knows, ok := p.Classes[class.Name]
		if !ok {
			continue
		}
		there++
		rule := c.Rules.Classes["app."+class.Name]
		if rule.Hidden != (knows.Hidden != "") || rule.Hidden && len(report[i].Visible) > 0 {
			t.Errorf("%s.%s: hidden %t", app.name, class.Name, rule.Hidden)
		}
		if rule.Hidden {
			continue
		}
		for field := range knows.Denied {
			if slices.Contains(report[i].Visible, field) || class.Field(field) == nil {
				t.Errorf("%s.%s.%s is not denied, or not there", app.name, class.Name, field)
			}
		}
		if knows.Label != rule.Label || knows.Label != "" && !slices.Contains(report[i].Visible, knows.Label) {
			t.Errorf("%s.%s: label %q, want %q", app.name, class.Name, rule.Label, knows.Label)
		}
		if len(knows.Live) > 0 && rule.Canonical == nil {
			t.Errorf("%s.%s: every record is live", app.name, class.Name)
		}
		for field, target := range knows.Pointers {
			to := rule.Pointers[field].Class
			for _, r := range class.Relations {
				if len(r.Fields) == 1 && r.Fields[0] == field {
					to = r.Target
				}
			}
			if to != target {
				t.Errorf("%s.%s.%s: points to %q, want %q", app.name, class.Name, field, to, target)
			}
		}
	}
	if there*2 < len(p.Classes) {
		t.Errorf("%s: only %d of the %d classes of the preset are there", app.name, there, len(p.Classes))
	}
}
