package policy

import (
	"cmp"
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Derivation is a field that the database computes from a column that the rules deny or mask. The field is denied or
// masked like that column, unless the rule of its class lifts it.
type Derivation struct {
	Class    *schema.Class
	Field    string
	Denied   bool   // the field is denied. Otherwise it is masked
	Kind     Mask   // the kind of mask, or "" if it is denied
	From     string // a denied or masked column from which it is computed: "source.Class.field", or "source.table.column"
	Untraced string // why its origin isn't known exactly, or "" if it is
	Lifted   bool   // the rule of its class, or of a field from which it is computed, still shows the field
}

// Derivations returns, for operators, the fields that are denied or masked because of the columns from which they are
// computed. It includes fields that are only visible because the rules lift them. The order is by class and field.
func (p *Policy) Derivations() []Derivation { return slices.Clone(p.derivations) }

// restriction is the restriction of a column by the rules, or of several columns together.
type restriction struct {
	denied string // the column that is denied, or ""
	masked string // the column that is masked, or ""
	kind   Mask   // the strictest mask of the masked columns
	scopes []identity.Scope
	always bool // a mask has no exception
}

// strictness orders masks: a stricter mask hides more than the others.
func strictness(k Mask) int {
	return slices.Index([]Mask{"", Inside, Partial, Hash, Pseudonym, Null}, k)
}

// mask adds a mask of the column called name. Principals with the scope but see the column whole. It may be "". A value
// computed from a text may be a part of the text in which no pattern finds the personal data. So Inside becomes Null.
// Pseudonym becomes Null too, because pseudonyms belong to their own class.
func (r *restriction) mask(name string, kind Mask, but identity.Scope) {
	r.masked = cmp.Or(r.masked, name)
	if kind == Inside || kind == Pseudonym {
		kind = Null
	}
	if strictness(kind) > strictness(r.kind) {
		r.kind = kind
	}
	if but == "" {
		r.always = true
	} else if !slices.Contains(r.scopes, but) {
		r.scopes = append(r.scopes, but)
	}
}

// column is a field of a class. A tracing uses it to note which columns it has visited.
type column struct {
	class *class
	field string
}

// A tracing finds the rules for the columns from which a field is computed.
type tracing struct {
	*Policy
	tables map[[3]string]*class // by source, space and table
	root   *class               // the class whose field is traced
	seen   map[column]bool
	deep   bool // lifted fields are traced too
}

// derive denies and masks the fields that are computed from denied or masked columns. It runs after the rules of all
// classes are compiled and uses only these rules, so the order of the classes doesn't matter.
func (p *Policy) derive() {
	t := &tracing{Policy: p, tables: map[[3]string]*class{}}
	for _, c := range p.classes {
		t.tables[[3]string{c.Source, c.Space, c.Table}] = c
	}
	found := map[*class]map[string]restriction{}
	for _, c := range p.classes {
		for i := range c.Fields {
			f := &c.Fields[i]
			if c.Seen[f.Name] == nil || f.Origins == nil && f.From == nil || c.Recordless {
				continue
			}
			var r restriction
			t.root, t.seen = c, map[column]bool{{c, f.Name}: true}
			t.origins(c, f, &r)
			if r.denied == "" && r.masked == "" {
				t.deep, t.seen = true, map[column]bool{{c, f.Name}: true}
				t.origins(c, f, &r)
				t.deep = false
				if from := cmp.Or(r.denied, r.masked); from != "" { // a lifted field in between makes it visible
					p.derivations = append(p.derivations, Derivation{Class: c.Class, Field: f.Name, From: from, Untraced: f.Untraced, Denied: r.denied != "", Lifted: true})
				}
				continue
			}
			if found[c] == nil {
				found[c] = map[string]restriction{}
			}
			found[c][f.Name] = r
		}
	}
	for _, c := range p.classes {
		if found[c] != nil {
			p.restrict(c, found[c])
		}
	}
	slices.SortStableFunc(p.derivations, func(a, b Derivation) int { return cmp.Compare(a.Class.FullName(), b.Class.FullName()) })
}

// origins adds the restrictions of the columns from which f of c is computed to r.
func (t *tracing) origins(c *class, f *schema.Field, r *restriction) {
	for _, name := range f.From {
		t.column(c, name, r)
	}
	for _, o := range f.Origins {
		switch from := t.tables[[3]string{c.Source, o.Space, o.Table}]; {
		case o.Table == "":
			t.source(c.Source, r)
		case from != nil && o.Column == "":
			t.all(from, r)
		case from != nil:
			t.column(from, o.Column, r)
		case o.Column == "" || hiddenColumn(o.Column):
			r.denied = cmp.Or(r.denied, c.Source+"."+o.String())
		}
	}
}

// source adds the restrictions of all columns of a source.
func (t *tracing) source(name string, r *restriction) {
	for _, c := range t.classes {
		if c.Source == name && !c.Recordless {
			t.all(c, r)
		}
	}
}

// all adds the restrictions of all columns of c.
func (t *tracing) all(c *class, r *restriction) {
	if t.hides(c) {
		r.denied = cmp.Or(r.denied, c.full)
	}
	for i := range c.Fields {
		t.column(c, c.Fields[i].Name, r)
	}
}

// hides reports whether the rule of c hides it from principals who may see the class whose field is traced.
func (t *tracing) hides(c *class) bool {
	return c.rule.Hidden && !(t.root.rule.Hidden && t.root.rule.HiddenBut == c.rule.HiddenBut)
}

// column adds the restrictions of one column of c, and of the columns from which it is computed. For a lifted field it
// ignores these columns, because the owner shows the field anyway. A class that no rule names denies only credentials.
func (t *tracing) column(c *class, name string, r *restriction) {
	if t.seen[column{c, name}] {
		return
	}
	t.seen[column{c, name}] = true
	full, f := c.full+"."+name, c.Field(name)
	switch {
	case t.hides(c), f != nil && c.explicit[name] == nil, f == nil && !c.wouldShow(name):
		r.denied = cmp.Or(r.denied, full)
	case c.rule.Mask[name] != "":
		r.mask(full, c.rule.Mask[name], c.rule.MaskBut[name])
	}
	if f != nil && (t.deep || !slices.Contains(c.rule.Lift, name)) {
		t.origins(c, f, r)
	}
}

// wouldShow reports whether the rule of c would show a column that the account of the source can't read.
func (c *class) wouldShow(name string) bool {
	return c.rule.Visible == nil && !slices.Contains(c.rule.Denied, name) && !hiddenColumn(name)
}

// restrict denies and masks fields of c. It denies a field if it can't be masked, because it is part of the key, a
// pointer, or the target of a pointer.
func (p *Policy) restrict(c *class, found map[string]restriction) {
	var denied []string
	for i := range c.Fields {
		name := c.Fields[i].Name
		r, ok := found[name]
		if !ok {
			continue
		}
		d := Derivation{Class: c.Class, Field: name, From: cmp.Or(r.denied, r.masked), Untraced: c.Fields[i].Untraced}
		d.Denied = r.denied != "" || slices.Contains(c.Key, name) || c.leading(name) != nil || p.pointing(c, name) != ""
		d.Lifted = slices.Contains(c.rule.Lift, name)
		if !d.Denied {
			d.Kind = r.kind
		}
		if d.Denied && !d.Lifted {
			denied = append(denied, name)
		}
		p.derivations = append(p.derivations, d)
	}
	if less, changed := c.Without(denied); changed {
		c.visibleFields = less
	}
	for _, name := range denied {
		delete(c.masks, name)
	}
	keyless := c.keyless()
	for i := range p.derivations {
		if d := &p.derivations[i]; d.Class == c.Class && !d.Denied && !d.Lifted {
			d.Kind = c.cover(d.Field, found[d.Field], keyless)
		}
	}
	if keyless { // records are ordered by all visible fields, and a masked field can't be used for that
		for name, m := range c.masks {
			c.masks[name] = &plan.Mask{Kind: Null, Field: m.Field}
		}
	}
}

// cover masks the field called name with the stricter of the mask of r and the mask of c's rule, and returns the kind.
// Principals see it whole only if no mask applies to them.
func (c *class) cover(name string, r restriction, keyless bool) Mask {
	kind := r.kind
	if own := c.masks[name]; own != nil {
		if strictness(own.Kind) > strictness(kind) {
			kind = own.Kind
		}
		r.mask(name, kind, c.rule.MaskBut[name])
	}
	if keyless || !kind.Masks(c.Field(name).Type) {
		kind = Null
	}
	if c.masks == nil {
		c.masks = map[string]*plan.Mask{}
	}
	if own := c.masks[name]; own == nil || own.Kind != kind {
		c.masks[name] = &plan.Mask{Kind: kind, Field: c.FullName() + "." + name}
	}
	delete(c.but, name)
	if !r.always {
		if c.but == nil {
			c.but = map[string][]identity.Scope{}
		}
		c.but[name] = r.scopes
	}
	return kind
}
