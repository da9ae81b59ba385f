package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/config"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

func checkCommand(t *terminal) *cobra.Command {
	var from setup
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check a configuration against its databases, and say what agents would see",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := from.load()
			if err != nil {
				return err
			}
			r, err := examine(cmd.Context(), c)
			if err != nil {
				return err
			}
			return t.printExamination(r)
		},
	}
	from.flags(cmd.Flags())
	return cmd
}

// An examination is what agents would see of each class.
type examination struct {
	Rules    string     `json:"rules"` // the digest of the rules
	Classes  []examined `json:"classes"`
	Warnings []string   `json:"warnings"`
}

// An examined class: of its fields, those that are visible, those left out of visible, those denied by the rule, and
// those that the floor denies because their names say credential.
type examined struct {
	Class     string   `json:"class"`
	Shown     bool     `json:"shown"`
	Why       string   `json:"why,omitempty"` // when it is not shown
	Visible   []string `json:"visible"`
	Hidden    []string `json:"hidden"`
	Denied    []string `json:"denied"`
	Floor     []string `json:"denied_by_name"`
	Tenant    string   `json:"tenant"` // "" when the class is shared by all
	Canonical bool     `json:"canonical"`
}

// examine opens the sources of c, one by one so that all that is wrong is told at once, and compiles its rules.
func examine(ctx context.Context, c *config.Config) (*examination, error) {
	r := &examination{Rules: c.Rules.Version, Warnings: []string{}}
	var catalogue []schema.Class
	var errs []error
	for _, s := range c.Sources {
		classes, warnings, err := describe(ctx, c, s)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		catalogue, r.Warnings = append(catalogue, classes...), append(r.Warnings, warnings...)
	}
	errs = append(errs, checkTools(c))
	if len(errs) == 1 { // all sources are there, so what rules name must be too
		_, err := policy.New(c.Rules, catalogue)
		if err != nil {
			errs = append(errs, ruleFaults(c, err))
		}
	}
	if err := merge(c, errs); err != nil {
		return nil, err
	}
	var err error
	r.Classes, err = exposures(c.Rules, catalogue)
	return r, err
}

func describe(ctx context.Context, c *config.Config, s config.Source) (_ []schema.Class, _ []string, err error) {
	opened, err := openSource(ctx, c, s)
	if err != nil {
		return nil, nil, err
	}
	defer closeAfter(opened, &err)
	return opened.Describe(ctx)
}

// merge makes one error of all faults of the file, with what else is wrong as faults of its source.
func merge(c *config.Config, errs []error) error {
	all := &config.Error{}
	for i, err := range errs {
		if err == nil {
			continue
		}
		if e, ok := errors.AsType[*config.Error](err); ok {
			all.Faults, all.More = append(all.Faults, e.Faults...), all.More+e.More
			continue
		}
		if i < len(c.Sources) {
			all.Faults = append(all.Faults, c.Wrong(err.Error(), "sources", c.Sources[i].Name, "url"))
			continue
		}
		return err
	}
	if all.Faults == nil {
		return nil
	}
	return all
}

// everyTenant may see every class that anybody may, when tenants are left aside.
var everyScope = []identity.Scope{identity.Read, identity.Schema, identity.Audit, identity.Operator, identity.Explain}

// exposures compiles rules, and variations of them, to tell why a field is or isn't seen.
func exposures(rules policy.Rules, catalogue []schema.Class) ([]examined, error) {
	seen, err := visible(rules, catalogue, func(r *policy.ClassRule) { r.Tenant, r.Canonical = nil, nil })
	if err != nil {
		return nil, err
	}
	open := rules
	open.Unlisted = true
	floor, err := visible(open, catalogue, func(r *policy.ClassRule) { *r = policy.ClassRule{} })
	if err != nil {
		return nil, err
	}
	out := make([]examined, 0, len(catalogue))
	for i := range catalogue {
		class := &catalogue[i]
		rule, listed := rules.Classes[class.FullName()]
		if !listed {
			rule, listed = rules.Classes[class.Name]
		}
		e := examined{Class: class.FullName(), Visible: []string{}, Hidden: []string{}, Denied: []string{}, Floor: []string{},
			Tenant: tenantOf(rule.Tenant), Canonical: rule.Canonical != nil}
		fields, shown := seen[class.FullName()]
		e.Shown = shown
		switch {
		case rule.Hidden && rule.HiddenBut != "":
			e.Why = "hidden, but for the scope " + string(rule.HiddenBut)
			e.Shown = false
		case rule.Hidden:
			e.Why = "hidden"
		case !listed && !rules.Unlisted:
			e.Why = "no rule names it"
		case !shown:
			e.Why = "no field of it is visible"
		}
		for _, f := range class.Fields {
			switch {
			case slices.Contains(fields, f.Name):
				e.Visible = append(e.Visible, f.Name)
			case slices.Contains(rule.Denied, f.Name):
				e.Denied = append(e.Denied, f.Name)
			case !slices.Contains(floor[class.FullName()], f.Name):
				e.Floor = append(e.Floor, f.Name)
			default:
				e.Hidden = append(e.Hidden, f.Name)
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// visible returns the visible fields of each class under rules, each rule changed first.
func visible(rules policy.Rules, catalogue []schema.Class, change func(*policy.ClassRule)) (map[string][]string, error) {
	rules.Classes = maps.Clone(rules.Classes)
	for name, r := range rules.Classes {
		change(&r)
		rules.Classes[name] = r
	}
	p, err := policy.New(rules, catalogue)
	if err != nil {
		return nil, fmt.Errorf("compile the rules: %w", err)
	}
	out := map[string][]string{}
	for _, v := range p.Views(identity.Principal{ID: "check", Kind: identity.Human, Scopes: everyScope}) {
		for _, f := range v.Fields() {
			out[v.Class().FullName()] = append(out[v.Class().FullName()], f.Name)
		}
	}
	return out, nil
}

func tenantOf(t *policy.TenantRule) string {
	switch {
	case t == nil:
		return ""
	case t.Through != "":
		return "through " + t.Through
	case t.Is == "":
		return t.Field + " is principal.tenant"
	}
	return t.Field + " is " + t.Is
}

func (t *terminal) printExamination(r *examination) error {
	if t.json {
		return t.printJSON(r)
	}
	w := tabwriter.NewWriter(t.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "CLASS\tVISIBLE\tHIDDEN\tDENIED\tRECORDS")
	shown := 0
	for _, e := range r.Classes {
		if !e.Shown {
			fmt.Fprintf(w, "%s\t-\t-\t-\t%s\n", e.Class, e.Why)
			continue
		}
		shown++
		records := e.Tenant
		if records == "" {
			records = "all, for every tenant"
		}
		if e.Canonical {
			records += "; canonical"
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", e.Class, len(e.Visible), len(e.Hidden), len(e.Denied)+len(e.Floor), records)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	for _, warning := range r.Warnings {
		t.notef("%s %s", styled(amber, "warning:"), warning)
	}
	for _, e := range r.Classes {
		if e.Shown && len(e.Floor) > 0 {
			t.printf("%s: denied by name: %s\n", e.Class, strings.Join(e.Floor, ", "))
		}
	}
	t.printf("%s  %d of %d classes can be seen; rules %s\n", styled(green, "good"), shown, len(r.Classes), r.Rules)
	return nil
}
