package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
)

// A Survey contains the rules of a configuration, compiled against the classes of its sources. The sources are closed
// again.
type Survey struct {
	Policy   *policy.Policy
	Regime   *policyops.Regime
	Actions  *action.Set
	Metrics  *metric.Set
	Queries  *declared.Set
	Values   *Values  // nil until Sample is called
	Warnings []string // about unsupported settings, and parts that sources omit

	found   []schema.Class       // as the sources describe them
	natives declared.NativeCheck // checks statements in the own SQL of a source
}

// Examine opens the sources of c in turn, reads their classes, and compiles the rules. It reads no records. All faults
// are returned in one error.
func Examine(ctx context.Context, c *config.Config) (*Survey, error) {
	s := &Survey{Warnings: append([]string{}, c.Notes...)}
	var catalogue []schema.Class
	var errs []error
	readers := map[string]source.Source{}
	failed := false
	for _, of := range c.Sources {
		classes, warnings, reader, err := Describe(ctx, c, of)
		readers[of.Name] = reader
		errs = append(errs, err) // one per source, in order, as merge expects
		if failed = failed || err != nil; err != nil {
			continue
		}
		catalogue, s.Warnings = append(catalogue, classes...), append(s.Warnings, warnings...)
	}
	_, err := Prompts(c)
	errs = append(errs, checkTools(c), err)
	if !failed { // all classes are known, so the names in rules must exist
		s.found = copyFields(catalogue)
		rules := c.Rules
		rules.Native = declared.Natives(c.Queries)
		if s.Policy, err = policy.New(rules, catalogue); err != nil {
			errs = append(errs, RuleFaults(c, err))
		} else {
			s.Policy = s.Policy.AtMost()
			set, err := action.Compile(c.Actions, s.Policy)
			if s.Actions = set; err == nil {
				err = checkActions(c, s.Policy, set)
			}
			var wrong error
			s.Metrics, wrong = metric.Compile(c.Metrics, s.Policy)
			var unfit error
			s.natives = func(name, statement string) ([]string, error) {
				return source.CheckNative(readers[name], name, statement)
			}
			var measures declared.Measures // nil, if their faults are reported
			if wrong == nil {
				measures = s.Metrics
			}
			s.Queries, unfit = declared.Compile(c.Queries, s.Policy, s.found, s.natives, measures)
			errs = append(errs, RuleFaults(c, err), RuleFaults(c, wrong), RuleFaults(c, unfit))
		}
		warnings, err := c.CheckLists(namesOf(c, catalogue))
		s.Warnings, errs = slices.Concat(s.Warnings, warnings, heldOperationWarnings(c), tooDeep(c), elsewhere(c), credentialWarnings(c)), append(errs, err)
	}
	if err := merge(c, errs); err != nil {
		return nil, err
	}
	s.Regime, err = policyops.NewRegime(s.Policy, offers(c), s.Queries, s.Metrics)
	return s, err
}

// copyFields returns a copy of classes whose fields and relations the rules don't change.
func copyFields(classes []schema.Class) []schema.Class {
	out := slices.Clone(classes)
	for i := range out {
		out[i].Fields, out[i].Relations = slices.Clone(out[i].Fields), slices.Clone(out[i].Relations)
	}
	return out
}

// apisWithDocument returns the APIs whose document could be read, by name. A missing document is reported as a
// separate fault.
func apisWithDocument(c *config.Config) iter.Seq2[string, calls.Rules] {
	return func(yield func(string, calls.Rules) bool) {
		for _, name := range slices.Sorted(maps.Keys(c.Rules.APIs)) {
			if rules := c.Rules.APIs[name]; rules.Document != nil && !yield(name, rules) {
				return
			}
		}
	}
}

// heldOperationWarnings returns warnings that name the operations that agents can't call until a rule names them,
// grouped by reason.
func heldOperationWarnings(c *config.Config) (out []string) {
	for name, rules := range apisWithDocument(c) {
		classes, err := rules.Classes()
		if err != nil {
			continue // reported as a separate fault
		}
		by := map[spec.Decision][]string{}
		var order []spec.Decision
		for _, op := range rules.Document.Operations {
			d := classes.Of(op)
			if !d.Held {
				continue
			}
			if by[d] == nil {
				order = append(order, d)
			}
			by[d] = append(by[d], op.ID)
		}
		for _, d := range order {
			effect, class := "absent for agents", "read"
			if d.Class == spec.ClassForbidden {
				effect, class = "forbidden to agents", "write"
			}
			out = append(out, fmt.Sprintf("%s: %s until you confirm it, because %s: %s. To confirm one, name it in apis.%s.access: {operations: [%q], class: %s}",
				name, effect, d.Reason, firstOf(by[d], 20), name, by[d][0], class))
		}
	}
	return out
}

// tooDeep names the operations whose arguments can't be checked, because their schemas are nested in too many ways.
func tooDeep(c *config.Config) (out []string) {
	for name, rules := range apisWithDocument(c) {
		v := spec.NewView(rules.Document, nil, spec.Filter{})
		checker := validate.New(v, validate.Options{OpenBodies: rules.OpenBodies, OpenFormats: rules.OpenFormats})
		for _, op := range v.Operations() {
			if deep := checker.TooDeep(op); deep != nil {
				out = append(out, fmt.Sprintf("%s.%s: calls are refused: the schemas of %s nest so that checking a value takes more than %d comparisons", name, op.ID, strings.Join(deep, ", "), validate.MaxSteps))
			}
		}
	}
	return out
}

// elsewhere names the operations that the document serves at another address than the address to which calls are
// sent.
func elsewhere(c *config.Config) (out []string) {
	for name, rules := range apisWithDocument(c) {
		by := map[string][]string{}
		for _, op := range spec.NewView(rules.Document, nil, spec.Filter{}).Operations() {
			if at := rules.Elsewhere(op); at != "" {
				by[at] = append(by[at], op.ID)
			}
		}
		for _, at := range slices.Sorted(maps.Keys(by)) {
			out = append(out, fmt.Sprintf("%s: calls of %s are refused: the document serves them at %s, not at base_url. List that address under servers with its credential", name, firstOf(by[at], 5), at))
		}
	}
	return out
}

// firstOf returns the first ids, at most most of them, and the number of the others.
func firstOf(ids []string, most int) string {
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}

// credentialWarnings returns warnings for visible operations whose calls are refused, because the document requires a
// credential that isn't configured. It also warns about each API whose document requires a credential while none is
// configured.
func credentialWarnings(c *config.Config) (out []string) {
	for name, rules := range apisWithDocument(c) {
		classes, err := rules.Classes()
		if err != nil {
			continue // reported as a separate fault
		}
		by := map[string][]string{}
		requires, all := []spec.Scheme(nil), 0
		for _, op := range spec.NewView(rules.Document, classes, spec.Filter{}).Operations() {
			if _, lacking := rules.Signs(op); lacking != nil {
				text := calls.SchemesText(lacking)
				by[text] = append(by[text], op.ID)
			}
			if len(op.Security) > 0 && !slices.ContainsFunc(op.Security, func(r spec.Requirement) bool { return len(r) == 0 }) {
				if all++; requires == nil {
					for _, scheme := range op.Security[0] {
						requires = append(requires, rules.Document.Scheme(scheme))
					}
				}
			}
		}
		for _, lacking := range slices.Sorted(maps.Keys(by)) {
			key := "credentials, by the name of the scheme"
			if strings.HasSuffix(lacking, "(mutualTLS)") {
				key = "tls"
			}
			out = append(out, fmt.Sprintf("%s: calls of %s (%d in all) are refused: the document requires %s for them, and no credential is configured for that. Write it into sources.%s.openapi.%s",
				name, firstOf(by[lacking], 5), len(by[lacking]), lacking, name, key))
		}
		if !rules.Signed && rules.Signing.Schemes == nil && all > 0 && len(rules.Sends) == 0 {
			out = append(out, fmt.Sprintf("%s: the document requires a credential for %d operations, such as %s, and none is configured: calls are sent without one", name, all, calls.SchemesText(requires)))
		}
	}
	return out
}

// merge combines all faults in the file into one error. Another error at index i becomes a fault of source i.
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
			key := "url"
			switch s := c.Sources[i]; {
			case s.Metadata != nil:
				key = "metadata"
			case s.OpenAPI != nil:
				key = "openapi"
			}
			if _, ok := errors.AsType[*source.NoTemplate](err); ok {
				key = "template"
			}
			all.Faults = append(all.Faults, c.Wrong(err.Error(), "sources", c.Sources[i].Name, key))
			continue
		}
		return err
	}
	if all.Faults == nil {
		return nil
	}
	return all
}
