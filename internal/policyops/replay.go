package policyops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
)

// A Side contains rules and the principals that are known under them.
type Side struct {
	Regime    *Regime
	Directory CallDirectory
}

// The ways in which a call can end differently.
const (
	NowRefused = "refused" // the call was allowed and would be refused
	NowAllowed = "allowed" // the call was refused and would be allowed
	Otherwise  = "changed" // allowed before and after, but with other records, or with fields hidden, shown, masked or unmasked
	Undecided  = "undecided"
)

// A Difference describes similar calls that would end differently in the same way. They have the same principal, tool
// and names.
type Difference struct {
	Ends      string    `json:"ends"` // one of the constants above
	Principal string    `json:"principal"`
	Tenant    string    `json:"tenant,omitempty"`
	Tool      string    `json:"tool"`
	Uses      []string  `json:"uses"`
	Calls     int       `json:"calls"`
	Last      time.Time `json:"last"`
	Verdict   Verdict   `json:"verdict,omitzero"`  // the verdict of the side that refuses
	Details   []string  `json:"details,omitempty"` // other differences, or the reason why the outcome is undecided
	Rebuilt   bool      `json:"principal_rebuilt,omitempty"`
}

// A DiffReport describes the effect of changed rules.
type DiffReport struct {
	Calls   int          `json:"calls"` // number of calls judged
	Same    int          `json:"same"`
	Changes []Difference `json:"changes"` // ordered by refused, allowed, changed and undecided, and then by the number of calls
}

// A Trial collects calls and reports which calls would end differently under New. It judges similar calls once.
type Trial struct {
	Old, New Side

	calls int
	alike map[string]*seen
}

// A seen is a set of similar calls.
type seen struct {
	record audit.Record
	calls  int
	last   time.Time
}

// Add adds a recorded call.
func (t *Trial) Add(r audit.Record) {
	if t.alike == nil {
		t.alike = map[string]*seen{}
	}
	t.calls++
	key := fmt.Sprintf("%q", []any{r.Principal, r.TokenID, r.Tenant, r.Owner, r.Parent, r.Scopes, r.Tool, r.Class, r.Uses, r.ArgKeys, r.Outcome, r.Code, r.Kind})
	s := t.alike[key]
	if s == nil {
		s = &seen{record: r.Copy()}
		t.alike[key] = s
	}
	s.calls++
	if r.Time.After(s.last) {
		s.last = r.Time
	}
}

// Report judges all added calls.
func (t *Trial) Report() DiffReport {
	out := DiffReport{Calls: t.calls, Changes: []Difference{}}
	merged := map[string]*Difference{}
	for _, s := range t.alike {
		c, otherwise := t.judge(&s.record)
		if !otherwise {
			out.Same += s.calls
			continue
		}
		key := fmt.Sprintf("%q", []any{c.Ends, c.Principal, c.Tenant, c.Tool, c.Uses, c.Verdict, c.Details})
		if have := merged[key]; have != nil {
			have.Calls += s.calls
			if s.last.After(have.Last) {
				have.Last = s.last
			}
			continue
		}
		c.Calls, c.Last = s.calls, s.last
		merged[key] = &c
	}
	for _, c := range merged {
		out.Changes = append(out.Changes, *c)
	}
	order := []string{NowRefused, NowAllowed, Otherwise, Undecided}
	slices.SortFunc(out.Changes, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Ends), slices.Index(order, b.Ends)), -cmp.Compare(a.Calls, b.Calls), cmp.Compare(a.Principal, b.Principal),
			cmp.Compare(a.Tool, b.Tool), slices.Compare(a.Uses, b.Uses), slices.Compare(a.Details, b.Details))
	})
	return out
}

// judge returns how a call would end differently. otherwise is false if it would end in the same way.
func (t *Trial) judge(r *audit.Record) (c Difference, otherwise bool) {
	old, _ := t.Old.Directory.Of(r)
	now, rebuilt := t.New.Directory.Of(r)
	c = Difference{Principal: r.Principal, Tenant: r.Tenant, Tool: r.Tool, Uses: append([]string{}, r.Uses...), Rebuilt: rebuilt}
	if r.Uses == nil && r.Class != "" {
		c.Uses = []string{r.Class}
	}
	before, after := first(t.Old.Regime, old, r), first(t.New.Regime, now, r)
	refusedOtherwise := r.Outcome == audit.Refused && before.Allowed // the refusal was not caused by a rule about the principal
	switch {
	case refusedOtherwise && r.Kind == "field_masked":
		return t.judgeMask(c, r, old, now)
	case refusedOtherwise:
		return t.judgeScan(c, r)
	case before.Allowed && !after.Allowed:
		c.Ends, c.Verdict = NowRefused, after
	case !before.Allowed && after.Allowed:
		c.Ends, c.Verdict = NowAllowed, before
	case before.Allowed:
		c.Ends, c.Details = t.compare(old, now, r)
	}
	if c.Ends != "" && rebuilt {
		if why := t.claims(r); why != "" {
			c.Ends, c.Details, c.Verdict = Undecided, []string{why}, Verdict{}
		}
	}
	return c, c.Ends != ""
}

// first returns the first refusing verdict on a call, or an allowing verdict.
func first(g *Regime, p identity.Principal, r *audit.Record) Verdict {
	all := verdicts(g, p, r)
	if i := slices.IndexFunc(all, func(v Verdict) bool { return !v.Allowed }); i >= 0 {
		return all[i]
	}
	return Verdict{Allowed: true}
}

// judgeScan judges a call that was not refused because of its principal. Only the refusal of scans can change for
// such a call.
func (t *Trial) judgeScan(c Difference, r *audit.Record) (Difference, bool) {
	if r.Kind != "scan" {
		return c, false
	}
	before, after := scan(t.Old.Regime, r), scan(t.New.Regime, r)
	if before.Allowed || !after.Allowed {
		return c, false
	}
	c.Ends, c.Verdict = NowAllowed, before
	return c, true
}

// judgeMask judges a call that was refused because it used a masked field. The call would be allowed if none of its
// fields were masked any more.
func (t *Trial) judgeMask(c Difference, r *audit.Record, old, now identity.Principal) (Difference, bool) {
	mask := func(g *Regime, p identity.Principal) (Verdict, bool) {
		all := verdicts(g, p, r)
		i := slices.IndexFunc(all, func(v Verdict) bool { return !v.Allowed || v.Reason == "field_masked" })
		if i < 0 {
			return Verdict{}, false
		}
		all[i].Allowed, all[i].DeniedAt = false, cmp.Or(all[i].DeniedAt, atMask)
		return all[i], true
	}
	before, was := mask(t.Old.Regime, old)
	if _, is := mask(t.New.Regime, now); !was || is {
		return c, false
	}
	c.Ends, c.Verdict = NowAllowed, before
	return c, true
}

// claims describes a rule about the call's classes that depends on the principal's claims, or returns "". Claims are
// not recorded.
func (t *Trial) claims(r *audit.Record) string {
	for _, side := range []Side{t.Old, t.New} {
		classes, _ := usedNames(side.Regime, r)
		for _, name := range classes {
			rule, key, _ := side.Regime.RuleOf(side.Regime.Class(name))
			switch {
			case rule.Tenant != nil && (strings.Contains(rule.Tenant.Is, "claims") || rule.Tenant.Bypass != ""):
				return "classes." + key + ".tenant asks for what isn't recorded of the principal"
			case expression.Within(rule.Canonical):
				return "classes." + key + ".canonical asks about the principal, of whom not all is recorded"
			}
		}
	}
	return ""
}

// whole lists tools that return whole records unless their arguments name fields.
var whole = []string{"query_class", "get_object", "get_objects", "get_sample_objects", "export_data", "get_schema"}

// naming lists arguments that can use a field to find, order or group records.
var naming = []string{"where", "order", "pipeline", "field", "value_field", "fields", "query"}

// compare returns how the result would differ for a call that both sides allow.
func (t *Trial) compare(old, now identity.Principal, r *audit.Record) (ends string, details []string) {
	classes, fields := usedNames(t.New.Regime, r)
	has := func(args ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(r.ArgKeys, a) })
	}
	var undecided []string
	for i, class := range classes {
		a, before := t.Old.Regime.DescribeClass(old, class)
		b, after := t.New.Regime.DescribeClass(now, class)
		if !before.Allowed || !after.Allowed {
			continue
		}
		details = append(details, layers(class, a.Layers, b.Layers, has("object_id", "ids"))...)
		// The call returns all fields of the class, or only the fields that it names.
		all := i == 0 && slices.Contains(whole, r.Tool) && !has("keys", "columns", "pipeline") || i > 0 && has("include")
		for _, f := range b.Fields {
			j := slices.IndexFunc(a.Fields, func(o Field) bool { return o.Name == f.Name })
			used := slices.Contains(fields[class], f.Name)
			switch {
			case j < 0 && all:
				details = append(details, fmt.Sprintf("%s.%s would be shown", class, f.Name))
			case j < 0 || !all && !used || a.Fields[j].Mask == f.Mask:
			case f.Mask != "" && a.Fields[j].Mask == "" && used && has(naming...):
				undecided = append(undecided, fmt.Sprintf("%s.%s would be masked (%s), and the call refused if it finds, orders or groups records by it", class, f.Name, f.Mask))
			case f.Mask == "":
				details = append(details, fmt.Sprintf("%s.%s would be unmasked", class, f.Name))
			default:
				details = append(details, fmt.Sprintf("%s.%s would be masked (%s)", class, f.Name, f.Mask))
			}
		}
		for _, f := range a.Fields {
			if all && !slices.ContainsFunc(b.Fields, func(n Field) bool { return n.Name == f.Name }) {
				details = append(details, fmt.Sprintf("%s.%s would be hidden", class, f.Name))
			}
		}
	}
	switch {
	case len(undecided) > 0:
		return Undecided, append(undecided, details...)
	case len(details) > 0:
		return Otherwise, details
	}
	return "", nil
}

// layers describes the differing layers of a class. Reads by id ignore the canonical filter.
func layers(class string, old, now []Layer, byID bool) (details []string) {
	counts := func(l Layer) bool { return !byID || l.Name != "canonical" }
	tell := func(from, without []Layer, verb string) {
		for _, l := range from {
			if counts(l) && !slices.Contains(without, l) {
				through := ""
				if l.Through != "" {
					through = " through " + l.Through
				}
				details = append(details, fmt.Sprintf("records of %s would %s %s%s %s", class, verb, l.Name, through, l.Where))
			}
		}
	}
	tell(old, now, "no longer be narrowed by")
	tell(now, old, "be narrowed by")
	return details
}
