package connstring_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/connstring"
)

func TestUserless(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://app:p%40ss@db:5432/desk?sslmode=require": "postgres://db:5432/desk?sslmode=require", "mariadb://app@db/desk": "mariadb://db/desk",
		"postgres://db/desk": "postgres://db/desk", "sqlite:a b.db": "sqlite:a b.db", "postgres://app:p%zz@db": "postgres://app:p%zz@db", "": "",
	} {
		if got := connstring.Userless(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
