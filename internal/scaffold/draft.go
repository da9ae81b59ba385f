// Package scaffold generates a first configuration for a database or an HTTP API, by looking at its structure.
//
// It guesses from names and types only: the owner of a record, what counts as live, what is heavy, what holds
// credentials; and it marks guesses with "confirm". It hides what it can't classify. It never returns a configuration
// that doesn't compile.
package scaffold

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyreport"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Source is the database to configure.
type Source struct {
	Name, URL    string // as in config.Source; the URL contains no password
	WithPassword bool   // a password was removed from the URL, and will come from the environment
}

// A Draft is a generated configuration.
type Draft struct {
	Text    string // YAML
	Classes int    // number of classes with rules

	Operations int // number of operations of an API with a class
	Confirm    int // number of guesses marked
}

// Of returns the configuration of a source with these classes, as the source describes them.
func Of(s Source, classes []schema.Class) (Draft, error) {
	floor, err := policyreport.Floor(classes)
	if err != nil {
		return Draft{}, err
	}
	guesses := guessRules(classes, floor)
	text := writeRules(s, tenantWord(classes), guesses)
	if err := sound(text, s.Name, classes); err != nil {
		return Draft{}, err
	}
	return Draft{Text: text, Classes: len(classes), Confirm: strings.Count(text, "# confirm")}, nil
}

// sound checks that the generated configuration can be parsed and compiled.
func sound(text, source string, classes []schema.Class) error {
	c, err := config.Parse("bailiwick.yaml", []byte(text), func(string) (string, bool) { return "", false })
	if err == nil {
		_, err = policy.New(c.Rules, classes)
	}
	if err != nil {
		return fmt.Errorf("the rules that were guessed for %s are not right, which is a fault of this program: %w", source, err)
	}
	return nil
}
