package scaffold

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// presetOf contains the preset for each application of testdata/applications that has a preset.
var presetOf = map[string]string{"wordpress": "WordPress", "directus": "Directus", "ghost": "Ghost", "strapi": "Strapi", "django": "Django", "devise": "Rails with Devise",
	"supabase_auth": "Supabase Auth", "parse": "Parse Server", "nextcloud": "Nextcloud", "gitlab": "GitLab", "discourse": "Discourse", "mastodon": "Mastodon", "keycloak": "Keycloak",
	"moodle": "Moodle", "redmine": "Redmine", "mattermost": "Mattermost", "gitea": "Gitea", "grafana": "Grafana"}

// TestPresets checks presets on the recorded schemas of real applications. Each application is recognised by its own
// preset and by no other. All names of the preset must exist in the schema. The rules must hide the same classes,
// contain the preset's facts about the other classes, and compile.
func TestPresets(t *testing.T) {
	all, err := All()
	if err != nil || len(all) != len(presetOf) {
		t.Fatal(len(all), err)
	}
	for _, app := range applications(t) {
		for i := range app.classes {
			c := &app.classes[i]
			c.Key = []string{c.Fields[0].Name}
			c.Relations = nil // the files don't contain the targets of pointers, and few of these databases declare pointers
		}
		found, err := recognise(app.classes)
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

// checkPreset checks that all names of p exist in the classes of an application and in the generated rules.
func checkPreset(t *testing.T, app application, p Preset) {
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
	of(Mask) // a masked or hidden field must not be a label, pointer or condition
	of(Hide)
	c := of(Show)
	report, err := policyops.Report(c.Rules, app.classes)
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

// TestPresetsOnFrameworks checks an application that is built on a framework. If both presets describe a class, the
// application's preset must win.
func TestPresetsOnFrameworks(t *testing.T) {
	classes := append(recordedClasses(t, "mastodon"), schema.Class{Source: "app", Name: "ar_internal_metadata", Fields: []schema.Field{{Name: "key", Type: schema.String}}})
	for i := range classes {
		if c := &classes[i]; c.Name == "users" {
			c.Key = []string{c.Fields[0].Name}
		}
	}
	found, err := recognise(classes)
	if err != nil || len(found) != 2 || found[0].Name != "Rails with Devise" || found[1].Name != "Mastodon" {
		t.Fatalf("recognised as %v, %v", found, err)
	}
	d, err := Of(Source{Name: "app", URL: "sqlite:app.db"}, classes, Evidence{}, Answers{Tenant: None, Personal: Show})
	if err != nil || !strings.Contains(d.Text, "Rails with Devise: bookkeeping of Rails.") || !strings.Contains(d.Text, "Mastodon: sessions of users.") {
		t.Fatal(err, d.Text)
	}
}

// recordedClasses returns the classes of one recorded application.
func recordedClasses(t *testing.T, name string) []schema.Class {
	t.Helper()
	for _, app := range applications(t) {
		if app.name == name {
			return app.classes
		}
	}
	t.Fatal(name, "is not recorded")
	return nil
}

// TestPresetsWithPrefix checks a preset whose tables have a prefix in the installation but not in the recorded file.
func TestPresetsWithPrefix(t *testing.T) {
	classes := recordedClasses(t, "moodle")
	for i := range classes {
		c := &classes[i]
		c.Name, c.Table, c.Relations = "mdl_"+c.Name, "mdl_"+c.Table, nil
	}
	found, err := recognise(classes)
	if err != nil || len(found) != 1 || found[0].Name != "Moodle" || found[0].Classes["mdl_forum_posts"].Pointers["userid"] != "mdl_user" {
		t.Fatalf("recognised as %v, %v", found, err)
	}
	checkPreset(t, application{name: "moodle with a prefix", classes: classes}, found[0])
}

// TestPresetsLiveByType checks that a condition on live records matches the type of the field in the actual database.
func TestPresetsLiveByType(t *testing.T) {
	for _, tt := range []struct {
		typ             schema.Type
		condition, want string
	}{
		{schema.Boolean, "{$ne: true}", "{$ne: true}"},
		{schema.Integer, "{$ne: true}", "{$ne: 1}"},
		{schema.Integer, "{$ne: false}", "{$ne: 0}"},
		{schema.Boolean, "0", "false"},
		{schema.Boolean, "1", "true"},
		{schema.Integer, "{$in: [1, 3]}", "{$in: [1, 3]}"},
		{schema.String, `"1"`, `"1"`},
	} {
		if got := liveOf(tt.typ, tt.condition); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.typ, tt.condition, got, tt.want)
		}
	}
}
