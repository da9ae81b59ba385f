// Package scaffold writes a first configuration for a database or an HTTP API, from a look at what it has.
//
// It stands beside the way and takes no part in it. It guesses from names and types alone: whose a record is, what
// counts as live, what is heavy, what holds credentials; and it marks what it guessed with "confirm". What it can't
// place it hides. It refuses to give a configuration that would not compile.
package scaffold

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyreport"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Source is the database as the configuration is to name it.
type Source struct {
	Name, URL    string // as in config.Source; the URL holds no password
	WithPassword bool   // one was taken out of the URL, and is to come from the environment
}

// A Draft is a configuration with its guesses.
type Draft struct {
	Text    string // YAML
	Classes int    // how many it has rules for

	Operations int // of an API, likewise
	Confirm    int // how many guesses it marks
}

// Of writes the configuration of a source with these classes, as the source describes them.
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

// sound makes sure that what was written says what is right: it is read and compiled as check does.
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
