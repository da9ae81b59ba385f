package app_test

import (
	"slices"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// TestSecretsOf checks that the passwords of all connections and the keys of a Parse Server count as credentials of a
// source.
func TestSecretsOf(t *testing.T) {
	c := &config.Config{Sources: []config.Source{
		{Name: "desk", URL: "postgres://app:read@db/desk", WriteURL: "postgres://app:write@db/desk"},
		{Name: "open", URL: "mariadb://app@db/desk"},
		{Name: "shop", URL: "parse+https://shop/parse", Parse: &config.ParseServer{MasterKey: "master", RESTKey: "rest", Direct: "postgres://app:direct@db/shop"}},
		{Name: "file", URL: "sqlite:a.db"},
	}}
	got := app.SecretsOf(c)
	got = slices.DeleteFunc(got, func(s string) bool { return s == "" })
	slices.Sort(got)
	if want := []string{"direct", "master", "read", "rest", "write"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
