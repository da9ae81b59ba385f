package policyops

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Description contains everything that a principal may see and do. Values of filters and tenants are replaced by
// the first 8 hex digits of their SHA-256, so that equal values can be recognized.
type Description struct {
	Principal string           `json:"principal"`
	Name      string           `json:"name,omitempty"`
	Kind      identity.Kind    `json:"kind,omitempty"`
	Owner     string           `json:"owner,omitempty"`
	Tenant    string           `json:"tenant,omitempty"`
	Parent    string           `json:"parent,omitempty"`
	Scopes    []identity.Scope `json:"scopes"`
	Rules     string           `json:"rules"`             // the digest of the current rules
	Tools     []string         `json:"tools"`             // the tools that it may call
	Queries   []Declared       `json:"queries,omitempty"` // the declared queries that it has
	Metrics   []Declared       `json:"metrics,omitempty"` // the metrics that it has
	Classes   []View           `json:"classes"`
	Hidden    []Verdict        `json:"hidden"`         // the classes that it doesn't see, and the reasons
	APIs      []API            `json:"apis,omitempty"` // its view of each API
	Limits    *Limits          `json:"limits,omitempty"`
}

// Limits contains the configured limits of a principal. A missing limit has its default.
type Limits struct {
	PerMinute   float64 `json:"calls_per_minute,omitzero"`
	Burst       int     `json:"burst,omitzero"`
	Concurrency int     `json:"concurrency,omitzero"`
}

// A View is a class as a principal sees it.
type View struct {
	Class  string    `json:"class"` // "source.Class"
	Name   string    `json:"name"`  // the name that the principal uses
	Fields []Field   `json:"fields"`
	Hidden []Verdict `json:"hidden"` // the fields that it doesn't see, and the reasons
	Layers []Layer   `json:"layers"` // the conditions that limit the visible records
}

// A Field is a visible field.
type Field struct {
	Name  string      `json:"name"`
	Type  string      `json:"type"`
	Mask  policy.Mask `json:"mask,omitempty"`
	Large bool        `json:"large,omitempty"`
}

// A Layer is a part of the predicate of a view. It contains digests instead of values.
type Layer struct {
	Name    string `json:"layer"` // tenant, principal or canonical
	Where   string `json:"where"` // a where object. With Through, it applies to the target record of that pointer
	Through string `json:"through,omitempty"`
}

// Describe returns everything that p may see and do.
func (r *Regime) Describe(p identity.Principal) Description {
	d := Description{Principal: p.ID, Name: p.Name, Kind: p.Kind, Owner: p.Owner, Tenant: p.Tenant, Parent: p.Parent,
		Scopes: append([]identity.Scope{}, p.Scopes...), Rules: r.policy.Version(), Tools: []string{}, Classes: []View{}, Hidden: []Verdict{}}
	for _, t := range r.tools {
		if r.ToolVerdict(p, t.Tool).Allowed {
			d.Tools = append(d.Tools, t.Tool)
		}
	}
	for _, name := range r.Names() {
		v, verdict := r.DescribeClass(p, name)
		if verdict.Allowed {
			d.Classes = append(d.Classes, v)
		} else {
			d.Hidden = append(d.Hidden, verdict)
		}
	}
	d.Queries, d.Metrics, d.APIs = r.declaredQueries(p), r.declaredMetrics(p), r.APIs(p)
	return d
}

// DescribeClass returns p's view of a class. The View is empty if the Verdict refuses.
func (r *Regime) DescribeClass(p identity.Principal, class string) (View, Verdict) {
	verdict := r.ClassVerdict(p, class)
	if !verdict.Allowed {
		return View{}, verdict
	}
	view, err := r.policy.View(p, verdict.Class, "", false)
	if err != nil { // can't happen, because the verdict allowed it and a policy is immutable
		return View{}, Verdict{Class: verdict.Class, Reason: "internal", DeniedAt: atClass, Why: err.Error()}
	}
	out := View{Class: verdict.Class, Name: view.Name(), Fields: []Field{}, Hidden: []Verdict{}, Layers: layersOf(view)}
	for i := range view.Class().Fields {
		f := &view.Class().Fields[i]
		fv := r.FieldVerdict(p, verdict.Class, f.Name)
		if !fv.Allowed {
			out.Hidden = append(out.Hidden, fv)
			continue
		}
		field := Field{Name: f.Name, Type: f.Type.String(), Large: view.Large(f.Name)}
		if m := view.Mask(f.Name); m != nil {
			field.Mask = m.Kind
		}
		out.Fields = append(out.Fields, field)
	}
	return out, verdict
}

// layersOf returns the layers of a view with digests instead of values.
func layersOf(v *policy.View) []Layer {
	out := []Layer{}
	for _, l := range v.Layers() {
		if l.Through == nil {
			out = append(out, Layer{Name: l.Name, Where: DigestFilter(l.Filter)})
			continue
		}
		through := l.Through.Field
		inner := layersOf(l.Through.View)
		for _, i := range inner {
			out = append(out, Layer{Name: i.Name, Where: i.Where, Through: joinPath(through, i.Through)})
		}
		if len(inner) == 0 {
			out = append(out, Layer{Name: l.Name, Where: "{}", Through: through})
		}
	}
	return out
}

func joinPath(a, b string) string {
	if b == "" {
		return a
	}
	return a + "." + b
}

// DigestFilter returns a filter as a where object with digests instead of values.
func DigestFilter(f query.Filter) string { return string(digestValues(query.Print(f)).AppendJSON(nil)) }

// digestValues returns the where object v with digests instead of values. It writes {$eq: x} as x.
func digestValues(v value.Value) value.Value {
	switch v.Kind() {
	case value.Object:
		if x, ok := v.Get("$eq"); ok && len(v.Members()) == 1 {
			return digestValues(x)
		}
		return v.Map(digestValues)
	case value.Array:
		return v.Map(digestValues)
	case value.Null, value.Bool:
		return v // values with only two or three possibilities are not secret
	}
	return value.OfString(digest(v))
}

// digest returns the digest of a value: "sha256:" and the first 8 hex digits of the SHA-256 of its text.
func digest(v value.Value) string {
	sum := sha256.Sum256([]byte(v.String()))
	return fmt.Sprintf("sha256:%s", hex.EncodeToString(sum[:4]))
}
