package bailiwick

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A force is everything that is in force at one moment: rules, actions, and the parts that belong to them. It never
// changes.
type force struct {
	policy   *policy.Policy
	actions  *action.Set // compiled against policy
	metrics  *metric.Set // likewise
	queries  *declared.Set
	rules    policy.Rules
	declared Declarations
	natives  declared.NativeCheck
	found    []schema.Class      // as the sources describe them
	known    map[string]bool     // the classes that existed when the rules were put into force, by full name
	withheld map[string][]string // the fields that are hidden because of their values, by class
	closed   []string            // why classes and actions of the rules are left out
	parts    Parts
}

// Parts are other values in force beside the rules, such as the tools of a tool.Set. The key is the owner. A part never
// changes: its owner replaces it.
type Parts map[any]any

// A With checks and returns the parts for the rules of a moment, such as tools. Parts that it doesn't return stay in
// force.
type With func(Moment) (Parts, error)

// SetRules puts other rules and actions into force, compiled against the classes as last described. Other declarations
// stay as they are. It is atomic: on an error the previous rules stay in force. A running call ends under the rules with
// which it began. Its record has their version. The audit has a record of the new rules before they are in force.
func (g *Gateway) SetRules(ctx context.Context, rules policy.Rules, actions []action.Declaration) error {
	d := g.force.Load().declared
	d.Actions = actions
	return g.Install(ctx, rules, d, func(Moment) (Parts, error) { return nil, nil })
}

// Install is like SetRules, for all declarations and for a program that makes other parts from the rules. Rules,
// declarations and parts are replaced in one step (see Moment). If with fails, nothing changes.
func (g *Gateway) Install(ctx context.Context, rules policy.Rules, d Declarations, with With) error {
	g.changes.Lock()
	defer g.changes.Unlock()
	next, err := compile(rules, d, g.force.Load().found, g.checkNative)
	if err != nil {
		return err
	}
	if next, err = g.withholdCredentials(ctx, next, false); err != nil {
		return err
	}
	parts, err := with(Moment{next})
	if err != nil {
		return err
	}
	r := audit.Record{Time: g.options.Now(), Principal: "gateway", Tool: "rules/changed", Outcome: audit.OK, Policy: next.policy.Version(), Step: "rules:" + rand.Text()}
	if err := g.options.Audit.Append(context.WithoutCancel(ctx), &r); err != nil {
		return fmt.Errorf("the rules stay as they were, since their change could not be recorded: %w", err)
	}
	g.enforce(next, parts)
	g.Announce(RulesChanged)
	return nil
}

// Renew is like Install, but keeps the rules and actions in force and replaces only the parts that with returns.
func (g *Gateway) Renew(with With) error {
	g.changes.Lock()
	defer g.changes.Unlock()
	now := g.force.Load()
	parts, err := with(Moment{now})
	if err != nil {
		return err
	}
	g.force.Store(now.beside(now, parts))
	return nil
}

// beside returns f with parts, and with the parts in before of other owners. before may be nil.
func (f *force) beside(before *force, parts Parts) *force {
	next := *f
	next.parts = Parts{}
	if before != nil {
		maps.Copy(next.parts, before.parts)
	}
	maps.Copy(next.parts, parts)
	return &next
}

// Part returns the part of an owner that is in force, or nil if there is none.
func (g *Gateway) Part(owner any) any { return g.force.Load().parts[owner] }

// A Moment is the rules and actions that were in force at one moment. The zero Moment is the present.
type Moment struct{ *force }

// Policy returns the rules of m, which must not be the zero Moment.
func (m Moment) Policy() *policy.Policy { return m.policy }

// Actions returns the actions of m, which must not be the zero Moment.
func (m Moment) Actions() *action.Set { return m.actions }

// Moment calls look and returns the rules that were in force during the call. If rules or parts were replaced in the
// meantime, it calls look again. With CallSpec.Moment, a call runs under the same rules under which its tool was looked
// up.
func (g *Gateway) Moment(look func()) Moment {
	for {
		m := Moment{g.force.Load()}
		if look(); g.force.Load() == m.force {
			return m
		}
	}
}

// An Event names what changed in a gateway.
type Event string

// The events that Subscribe reports.
const (
	RulesChanged     Event = "rules"     // other rules are in force
	CatalogueChanged Event = "catalogue" // the sources were described again
	ToolsChanged     Event = "tools"     // tools were added or removed
	PromptsChanged   Event = "prompts"   // prompts were added or removed
	WithheldChanged  Event = "withheld"  // other fields are hidden because of their values
)

// Subscribe calls f for every event from now on, until stop is called. f is called in the goroutine that makes the
// change, after it is in force, one event at a time. It must return quickly and must not make changes itself.
func (g *Gateway) Subscribe(f func(Event)) (stop func()) { return g.subscribers.Subscribe(f) }

// Announce notifies all subscribers of an event. The owner of the changed state calls it: the gateway for its rules
// and sources, a tool.Set for its tools.
func (g *Gateway) Announce(e Event) {
	g.subscribers.Announce(e, func(panicked any) {
		if g.options.Log != nil {
			g.options.Log.Error("a subscriber panicked", "change", string(e), "error", problem.PanicError(panicked).Err)
		}
	})
}

// recompile compiles the rules and actions in force against classes that may have changed. If the rules of a class no
// longer fit the class, the class is closed. A renamed field would otherwise not be hidden under its new name. For the
// same reason, new classes of a source stay closed while a class that a rule names is missing. A declaration that no
// longer fits is left out.
//
// withheld are the fields to hide because of their values.
func (f *force) recompile(found []schema.Class, withheld map[string][]string) (*force, error) {
	rules, d, open := f.rules, f.declared.clone(), slices.Clone(found)
	rules.Withheld = withheld
	rules.Classes = maps.Clone(rules.Classes)
	var closed []string
	shut := func(class, why string) {
		if n := len(open); n > 0 {
			open = slices.DeleteFunc(open, func(c schema.Class) bool { return c.FullName() == class })
			if len(open) < n {
				closed = append(closed, fmt.Sprintf("class %s is closed: %s", class, why))
			}
		}
	}
	missing := f.missing(found)
	if !rules.Unlisted { // a class without a rule is hidden
		missing = nil
	}
	for _, name := range missing {
		for _, c := range found {
			if !f.known[c.FullName()] && f.rule(&c) == "" && f.mayBe(name, c.Source) {
				shut(c.FullName(), "it is new, and the rules name the class "+name+", which is gone. Correct the rules, and reload them")
			}
		}
	}
	for {
		next, err := compile(rules, d, open, f.natives)
		if err == nil {
			next.rules, next.declared, next.found, next.closed, next.withheld = f.rules, f.declared, found, closed, withheld
			maps.Copy(next.known, f.known)
			return next, nil
		}
		before := len(rules.Classes) + d.len()
		for _, fault := range faultsIn(err) {
			switch fault := fault.(type) {
			case *policy.RuleFault:
				for _, c := range found {
					if fault.Class == c.Name || fault.Class == c.FullName() {
						shut(c.FullName(), fault.Message)
					}
				}
				if _, ok := rules.Classes[fault.Class]; ok {
					delete(rules.Classes, fault.Class)
					closed = append(closed, fault.Error())
				}
			default:
				what := d.drop(fault)
				if what == "" {
					return nil, err
				}
				closed = append(closed, what+" is left out: "+fault.Error())
			}
		}
		if len(rules.Classes)+d.len() == before {
			return nil, err
		}
	}
}

// rule returns the name by which the rules name a class, or "".
func (f *force) rule(c *schema.Class) string {
	for _, name := range []string{c.FullName(), c.Name} {
		if _, ok := f.rules.Classes[name]; ok {
			return name
		}
	}
	return ""
}

// missing returns the names in the rules that no class has.
func (f *force) missing(found []schema.Class) []string {
	names := maps.Clone(f.rules.Classes)
	for i := range found {
		delete(names, found[i].Name)
		delete(names, found[i].FullName())
	}
	return slices.Sorted(maps.Keys(names))
}

// mayBe reports whether a name in the rules can be the name of a class of source.
func (f *force) mayBe(name, source string) bool {
	of, _, dotted := strings.Cut(name, ".")
	return !dotted || of == source
}

// faultsIn returns the errors that err joins.
func faultsIn(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, faultsIn(e)...)
	}
	return out
}

// Sampling configures how a Gateway looks at samples of values that principals could see. If the values of a field look
// like credentials, it hides the field from everybody until the rule of its class lifts it. Answers are the same as for
// a field that doesn't exist. The zero Sampling looks at the start, once a day, and when rules or classes change.
type Sampling struct {
	Off   bool          // switches sampling off
	First time.Duration // maximum time of sampling in New and SetRules. The rest follows in the background. 0 means 10 s
	Every time.Duration // the interval of looking at all fields again. 0 means a day
}

// A Withheld is a Field of a Class ("source.Class") that is hidden because of its values. Why describes the values.
// Whole means that the whole class is hidden, because its rule compares the field in canonical or stale.version.
type Withheld = samples.Withheld

// The time limits of sampling, besides those in Sampling.
const (
	firstLook = 10 * time.Second
	driftLook = 2 * time.Second // while a call may wait
	everyLook = 24 * time.Hour
	longLook  = time.Hour
)

// withholdCredentials returns next without the fields whose values look like credentials. It first looks at the fields
// that it has not looked at yet, for a limited time. Before that, it looks at new fields for a limited time. With
// drift the time is short, because a call may wait. The caller holds g.changes.
func (g *Gateway) withholdCredentials(ctx context.Context, next *force, drift bool) (*force, error) {
	if g.options.Sampling.Off {
		return next, nil
	}
	most := cmp.Or(g.options.Sampling.First, firstLook)
	if drift {
		most = min(most, driftLook)
	}
	if targets := g.guard.Targets(next.policy, false); len(targets) > 0 {
		g.guard.Look(ctx, g.options.Sources, targets, most, false)
	}
	overlay := g.guard.Overlay()
	if samples.Same(next.withheld, overlay) {
		return next, nil
	}
	return next.recompile(next.found, overlay)
}

// WithheldFields returns, for operators, the fields that are hidden because of their values, ordered by class and field.
func (g *Gateway) WithheldFields() []Withheld { return g.guard.WithheldFields(g.force.Load().policy) }

// Resample looks at a sample of all values that principals could see. It hides the fields whose values look like
// credentials before it returns.
func (g *Gateway) Resample(ctx context.Context) error { return g.resample(ctx, true) }

// resample is like Resample. If all is false, it looks only at new fields.
func (g *Gateway) resample(ctx context.Context, all bool) error {
	if g.options.Sampling.Off {
		return nil
	}
	g.guard.Look(ctx, g.options.Sources, g.guard.Targets(g.force.Load().policy, all), longLook, all)
	g.changes.Lock()
	defer g.changes.Unlock()
	now, overlay := g.force.Load(), g.guard.Overlay()
	if samples.Same(now.withheld, overlay) {
		return ctx.Err()
	}
	next, err := now.recompile(now.found, overlay)
	if err != nil {
		return fmt.Errorf("hide fields whose values look like credentials: %w", err)
	}
	g.enforce(next, nil)
	g.Announce(CatalogueChanged)
	return ctx.Err()
}

// enforce puts next into force together with parts, and records which fields are now hidden. The caller holds
// g.changes.
func (g *Gateway) enforce(next *force, parts Parts) {
	var before []Withheld
	now := g.force.Load()
	if now != nil {
		before = g.WithheldFields()
	}
	g.force.Store(next.beside(now, parts))
	hidden := g.WithheldFields()
	for _, w := range hidden {
		if !slices.ContainsFunc(before, func(old Withheld) bool { return old.Class == w.Class && old.Field == w.Field }) {
			g.recordWithheldField(w, next.policy.Version())
		}
	}
	if len(hidden) > 0 && !slices.Equal(hidden, before) {
		g.Announce(WithheldChanged)
	}
}

// recordWithheldField logs that a field is hidden, and appends a record to the audit, once per version of the rules. The
// field stays hidden if that fails.
func (g *Gateway) recordWithheldField(w Withheld, version string) {
	field, log := w.Class+"."+w.Field, g.options.Log
	r := audit.Record{Time: g.options.Now(), Principal: "gateway", Tool: "fields/withheld", Class: w.Class, Outcome: audit.OK, Kind: "withheld", Policy: version, Uses: []string{field},
		Step: "withheld:" + field + ":" + version}
	err := g.options.Audit.Append(context.Background(), &r)
	if log == nil {
		return
	}
	confirm, lift := w.Confirm()
	log.Warn("a field is hidden, because its values look like credentials", "field", field, "class_hidden", w.Whole, "why", w.Why, "confirm", confirm, "lift", lift)
	if err != nil {
		log.Error("a hidden field could not be recorded in the audit", "field", field, "error", err)
	}
}

// looks starts the sampling of values, which runs until Close. It continues at once with the fields that the start
// didn't reach, and repeats all fields regularly. It returns the warnings for operators at the start.
func (g *Gateway) looks(ctx context.Context) []string {
	if g.options.Sampling.Off {
		return nil
	}
	g.looking = samples.Repeat(ctx, cmp.Or(g.options.Sampling.Every, everyLook), func(ctx context.Context, all bool) {
		err := g.resample(ctx, all)
		missed := g.guard.MissedClasses()
		switch log := g.options.Log; {
		case log == nil || ctx.Err() != nil:
		case err != nil:
			log.Error("fields whose values look like credentials could not be hidden", "error", err)
		case len(missed) > 0:
			log.Warn("values of some classes could not be looked at", "classes", missed[:min(len(missed), 20)], "number", len(missed))
		}
	})
	missed := g.guard.MissedClasses()
	if len(missed) > 0 {
		g.looking.Now(false)
	}
	return samples.Notes(g.WithheldFields(), missed)
}
