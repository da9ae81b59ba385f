// Package scaffold generates a first configuration for a database, an HTTP API or cached descriptions, for "bailiwick
// init".
//
//	classes, Evidence of sampled records, Answers ─Of→ Draft
//	API document ─OfAPI→ Draft
//	folders of descriptions ─OfCaches→ Draft
//
// It guesses from names, types and sampled values. It looks for tenants, live records, large fields, credentials and
// personal data. Guesses are marked with "confirm". It hides fields that it can't classify. A Draft always compiles
// and contains no values of records.
//
// A Preset describes the tables of a common application. It lists tables that are of no use to agents, undeclared
// pointers, label fields, and the conditions for live records. Each application has a file in the folder known. It is
// recognised by tables and columns that no other application has.
//
// Package app samples the records and passes the result as Evidence.
package scaffold

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Source describes the database to configure.
type Source struct {
	Name, URL    string // as in config.Source. The URL contains no password
	WithPassword bool   // the password was removed from the URL. The configuration reads it from the environment
	RESTKey      bool   // the Parse Server requires a REST API key
	// The schemas and tables to read, or nil for all. They are written into the configuration.
	Schemas, Tables []string
	// The name of the file to write, without its folder, or "" for standard output. The classes of a large database are in
	// other files beside it, which it includes.
	File string
}

// A Draft is a generated configuration.
type Draft struct {
	Text string // YAML
	// Further files that Text includes, beside the first. It is nil for one file.
	Included []File
	Classes  int // number of classes with rules

	Operations int // number of API operations that have a class
	Confirm    int // number of guesses marked "confirm"

	Tenancies []Tenancy // all tenancies found, the most likely first
}

// A File is a file of a configuration.
type File struct{ Name, Text string }

// The possible answers.
const (
	Mask   = "mask"
	Show   = "show"
	Hide   = "hide"
	Off    = "off"
	Review = "review"
	None   = "none"
)

// Answers contains a person's answers, which are more reliable than guesses. The zero Answers use the best guess for
// tenants, mask personal data, and let agents only read.
type Answers struct {
	Tenant   string // the field that contains the tenant, such as org_id, or None. "" means the best guess
	Personal string // Mask, Show or Hide. "" means Mask
	Writes   string // Off means that agents only read. Review means that agents propose writes and people approve them. "" means Off
}

// Validate returns an error if a contains an invalid answer.
func (a Answers) Validate() error {
	if !slices.Contains([]string{"", Mask, Show, Hide}, a.Personal) {
		return fmt.Errorf("personal data: %q. Write mask, show or hide", a.Personal)
	}
	if !slices.Contains([]string{"", Off, Review}, a.Writes) {
		return fmt.Errorf("writes: %q. Write off or review", a.Writes)
	}
	return nil
}

// Of returns the configuration of a source with these classes. The source has described the classes, and e contains
// the evidence of sampled records.
func Of(s Source, classes []schema.Class, e Evidence, a Answers) (Draft, error) {
	if err := a.Validate(); err != nil {
		return Draft{}, err
	}

	floor, err := policyops.Floor(classes)
	if err != nil {
		return Draft{}, err
	}
	guesses := guessRules(pointing(classes, e.Points), floor, e, a)
	applications, err := recognise(classes)
	if err != nil {
		return Draft{}, err
	}
	for _, p := range applications {
		know(guesses, p)
	}
	found := tenancies(guesses, e)
	chosen, err := choose(found, a.Tenant)
	if err != nil {
		return Draft{}, err
	}
	if chosen != nil {
		chosen.apply(guesses)
	}
	write := func() (d Draft, p *policy.Policy, err error) {
		w := &writer{source: s, guesses: guesses, tenancies: found, tenancy: chosen, answers: a, missed: e.Missed, applications: applications}
		if d.Text, d.Included, err = w.rules(); err != nil {
			return d, nil, err
		}
		p, err = sound(d, s, classes)
		return d, p, err
	}
	d, p, err := write()
	if err == nil && follow(guesses, p.Derivations()) {
		d, _, err = write()
	}
	if err != nil {
		return Draft{}, err
	}
	d.Classes, d.Confirm, d.Tenancies = len(classes), strings.Count(d.Text, confirm), found
	for _, f := range d.Included {
		d.Confirm += strings.Count(f.Text, confirm)
	}
	return d, nil
}

// confirm marks a guess.
const confirm = "# confirm"

// choose returns the tenancy that an answer selects, or nil.
func choose(found []Tenancy, answer string) (*Tenancy, error) {
	switch {
	case answer == None, answer == "" && (len(found) == 0 || !found[0].likely):
		return nil, nil
	case answer == "":
		return &found[0], nil
	}
	var names []string
	for i := range found {
		if t := &found[i]; t.Field == answer || t.word == answer {
			return t, nil
		}
		names = append(names, found[i].Field)
	}
	return nil, fmt.Errorf("no class has a field %s that could name a tenant. Such fields are %s", answer, cmp.Or(strings.Join(names, ", "), "none"))
}

// sound checks that the generated configuration can be parsed and compiled. It returns the policy.
func sound(d Draft, of Source, classes []schema.Class) (p *policy.Policy, err error) {
	included := map[string]string{}
	for _, f := range d.Included {
		included[f.Name] = f.Text
	}
	c, err := config.ParseFiles(cmp.Or(of.File, "bailiwick.yaml"), []byte(d.Text), included, func(name string) (string, bool) {
		if name == mongoPassword || strings.HasPrefix(name, "PARSE_") {
			return "key", true
		}
		return "", false
	})
	if err == nil {
		p, err = policy.New(c.Rules, classes)
	}
	if err != nil {
		return nil, fmt.Errorf("the rules that were guessed for %s are not right, which is a fault of this program: %w", of.Name, err)
	}
	return p, nil
}
