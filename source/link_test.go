package source_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/source"
)

// TestAccount follows the URL of a source through changes of its configuration: new connections have the account that was configured last for
// the same database.
func TestAccount(t *testing.T) {
	const begun = "postgres://app:first@db/desk"
	now := begun
	account := source.Link{Fresh: func(string) string { return now }}.Account(begun)
	for _, step := range []struct{ now, user, password string }{
		{begun, "", ""},
		{"postgres://app:second@db/desk", "app", "second"},
		{"postgres://app:second@db/desk?sslmode=require", "app", "second"}, // takes effect only after a restart
		{"postgres://app:third@other/desk", "app", "second"},               // a password is never sent to another server
		{"", "app", "second"}, // the configuration can't be read
		{"postgres://db/desk", "app", "second"},
		{"postgres://app2:third@db/desk", "app2", "third"},
		{begun, "", ""},
		{"postgres://app:third@other/desk", "", ""},
	} {
		now = step.now
		user, password, ok := account()
		if user != step.user || password != step.password || ok != (step.user != "") {
			t.Errorf("at %s: %s %s %t, want %s %s", step.now, user, password, ok, step.user, step.password)
		}
	}
	if user, _, ok := (source.Link{}).Account(begun)(); ok {
		t.Errorf("without a configuration: %s", user)
	}
}
