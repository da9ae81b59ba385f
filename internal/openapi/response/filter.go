package response

import (
	"iter"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A walker filters values by the rules of a View.
type walker struct {
	v      *spec.View
	o      Options
	marks  map[string]mark // cached by name, because a body repeats few names
	ids    map[at]int
	nodes  map[string]*node
	masked []string

	covered int // values masked because of their names
	shaped  int // strings partly masked because of their form
	dropped int // members that are hidden or never part of responses
}

// A mark is the part of a decision that depends only on the name.
type mark struct {
	denied bool
	cover  cover
}

// A cover describes how much of a value is masked.
type cover uint8

const (
	open    cover = iota
	texts         // strings are masked, numbers and booleans are kept
	numbers       // numbers are masked too, because they can be the secret (such as a PIN)
)

// Masked replaces a string that must not be shown.
const Masked = "[masked]"

func newWalker(v *spec.View, o Options) *walker {
	if o.Mask == nil {
		o.Mask = secret
	}
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	return &walker{v: v, o: o, marks: map[string]mark{}, ids: map[at]int{}, nodes: map[string]*node{}}
}

// mark returns the decision for a name by the operator's lists and caches the decision.
func (w *walker) mark(name string) mark {
	m, ok := w.marks[name]
	if !ok {
		m.denied = w.o.Denied != nil && w.o.Denied(name)
		if w.o.Mask(name) {
			m.cover = coverOf(name)
		}
		w.marks[name] = m
	}
	return m
}

// walk returns the visible part of val, and false if no part is visible. A nil node means that no schema is known.
func (w *walker) walk(val value.Value, n *node, c cover) (value.Value, bool) {
	if n != nil && !n.admits(val) {
		return value.Value{}, false
	}
	switch val.Kind() {
	case value.Array:
		return w.array(val, n, c), true
	case value.Object:
		return w.object(val, n, c), true
	case value.String:
		if c != open && val.Text() != "" {
			w.covered++
			return value.OfString(Masked), true
		}
		if text := secretnames.Mask(val.Text(), Masked); text != val.Text() {
			w.shaped++
			return value.OfString(text), true
		}
	case value.Int, value.Decimal, value.Float:
		if c == numbers {
			w.covered++
			return value.OfString(Masked), true
		}
	}
	return val, true
}

// array returns the visible elements of val. A hidden part of one element doesn't affect how many other elements are
// returned.
func (w *walker) array(val value.Value, n *node, c cover) value.Value {
	in := w.element(n)
	list := val.List()
	out := make([]value.Value, 0, len(list))
	for _, e := range list {
		if e, ok := w.walk(e, in, c); ok {
			out = append(out, e)
		}
	}
	return value.OfArray(out)
}

// object returns the visible members of val. The cover of a member is the strongest of the covers of the object, of
// its name and of its schema. The value of a pair also gets the cover of the name in the pair. A member that is
// called a key also gets the cover of its form. The name is noted where a cover begins.
func (w *walker) object(val value.Value, n *node, c cover) value.Value {
	members := val.Members()
	pair := w.pair(members, n)
	out := make([]value.Member, 0, len(members))
	for _, m := range members {
		in, ok := w.member(n, m.Name)
		if !ok {
			w.dropped++
			continue
		}
		own := max(c, w.mark(m.Name).cover, in.cover)
		named := m.Name
		if as, by := pair.of(m); as != open {
			own, named = max(own, as), by
		}
		if own == open && !in.public && m.Value.Kind() == value.String && w.key(members, m, n) {
			own = texts
		}
		before := w.covered
		if m.Value, ok = w.walk(m.Value, in.node, own); !ok {
			continue
		}
		if own > c && c == open && w.covered > before {
			w.mask(named)
		}
		out = append(out, m)
	}
	return value.OfObject(out)
}

// key reports whether m, a string in an object with node n, is a credential called a key. The form of the string and
// the other members of the object decide.
func (w *walker) key(members []value.Member, m value.Member, n *node) bool {
	beside := w.beside(members, m, n)
	return secretnames.Key(m.Name, m.Value.Text()) && !(plain(m.Name) == "key" && secretnames.IsKeyValueEntry(beside)) || secretnames.IsRandomKey(m.Name, m.Value.Text(), beside)
}

// beside returns the names of the visible members other than m of an object with node n.
func (w *walker) beside(members []value.Member, m value.Member, n *node) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, other := range members {
			if _, ok := w.member(n, other.Name); ok && other.Name != m.Name && !yield(other.Name) {
				return
			}
		}
	}
}

// A pairName is the name that belongs to the value of a pair. For the name of a credential, text and cover are set.
// Otherwise other contains all names.
type pairName struct {
	text  string
	cover cover
	other []string
}

// of returns how much of m is masked as the value of the pair, and because of which name.
func (p pairName) of(m value.Member) (cover, string) {
	switch {
	case !worth(m):
		return open, ""
	case p.cover != open:
		return p.cover, p.text
	}
	for _, name := range p.other {
		if m.Value.Kind() == value.String && secretnames.IsKeySetting(name, m.Value.Text()) {
			return texts, name
		}
	}
	return open, ""
}

// pair returns the name in an object that consists of a name and a value, as in settings: {name: DB_PASSWORD, value:
// …}.
func (w *walker) pair(members []value.Member, n *node) (p pairName) {
	if !slices.ContainsFunc(members, worth) {
		return p
	}
	for _, m := range members {
		if _, ok := w.member(n, m.Name); ok && marksSecret(m) {
			return pairName{text: m.Name, cover: numbers}
		}
	}
	for _, m := range w.naming(members, n) {
		if name := plain(m.Name); name != "name" && name != "key" || m.Value.Kind() != value.String || len(m.Value.Text()) > 100 {
			continue
		}
		// Hidden names are ignored.
		if _, ok := w.member(n, m.Name); !ok {
			continue
		}
		text := m.Value.Text()
		if w.o.Mask(text) {
			return pairName{text: text, cover: coverOf(text)}
		}
		p.other = append(p.other, text)
	}
	return p
}

// naming returns the members of an object that may name its value. If one of them is an object without a value of its
// own, its members are included: {variable: {key: DB_PASSWORD}, value: …}.
func (w *walker) naming(members []value.Member, n *node) []value.Member {
	out := slices.Clone(members)
	for _, m := range members {
		in, ok := w.member(n, m.Name)
		if !ok || m.Value.Kind() != value.Object || worth(m) || slices.ContainsFunc(m.Value.Members(), worth) {
			continue
		}
		for _, deeper := range m.Value.Members() {
			if _, ok := w.member(in.node, deeper.Name); ok {
				out = append(out, deeper)
			}
		}
	}
	return out
}

// worth reports whether m is the value of a pair: {name: DB_PASSWORD, value: …}. A member called data counts if it is
// a string or contains a value.
func worth(m value.Member) bool {
	switch plain(m.Name) {
	case "value", "values", "stringvalue", "textvalue", "currentvalue", "plainvalue", "rawvalue", "defaultvalue":
		return true
	case "data", "content", "text":
		return m.Value.Kind() == value.String || slices.ContainsFunc(m.Value.Members(), func(in value.Member) bool { return plain(in.Name) == "value" })
	}
	return false
}

// marksSecret reports whether m states that the value beside it is secret: {name: X, value: …, secret: true}.
func marksSecret(m value.Member) bool {
	switch plain(m.Name) {
	case "secret", "issecret", "sensitive", "issensitive", "secure", "issecure", "encrypted", "isencrypted", "masked", "ismasked", "confidential", "isconfidential", "secured":
		return m.Value.Kind() == value.Bool && m.Value.Bool() || m.Value.Kind() == value.String && m.Value.Text() == "true"
	case "type", "kind", "variabletype", "valuetype", "format", "inputtype", "fieldtype":
		return slices.Contains([]string{"secret", "password", "securestring", "securestrings", "encrypted", "sensitive", "secrettext", "secret_text", "credential"}, strings.ToLower(m.Value.Text()))
	}
	return false
}

// mask notes that a value was masked. The name is the value's own name or, for the value of a pair, the name in the
// pair.
func (w *walker) mask(name string) {
	if !slices.Contains(w.masked, name) {
		w.masked = append(w.masked, name)
	}
}

// below is the node and cover for a member of a value.
type below struct {
	node   *node
	cover  cover
	public bool // the value is a public key
}

// member returns the node and cover for the member called name of a value with node n. It returns false if the member
// is hidden.
func (w *walker) member(n *node, name string) (below, bool) {
	if w.mark(name).denied {
		return below{}, false
	}
	if n == nil {
		return below{}, w.v.Field("", name)
	}
	if f, ok := n.fields[name]; ok {
		if f.hidden || f.unsent {
			return below{}, false
		}
		if f.node == nil {
			f.node = w.nodeOf(f.places)
		}
		return below{f.node, f.cover, f.public}, true
	}
	if n.closed || len(n.of) == 0 && !w.v.Field("", name) {
		return below{}, false
	}
	for _, of := range n.of {
		if !w.v.Field(of, name) {
			return below{}, false
		}
	}
	switch {
	case len(n.further) > 0:
		if n.other == nil {
			n.other = w.nodeOf(n.further)
		}
		return below{node: n.other}, true
	case len(n.fields) == 0 && len(n.elements) > 0:
		// The document declares a list, but the API returned an object around the list.
		return below{node: n}, true
	}
	return below{}, true
}

// element returns the node for the elements of an array with node n.
func (w *walker) element(n *node) *node {
	if n == nil {
		return nil
	}
	if len(n.elements) == 0 {
		// The document declares a single value, but the API returned a list of values.
		return n
	}
	if n.element == nil {
		n.element = w.nodeOf(n.elements)
	}
	return n.element
}

// hides reports whether any part of op's response would be removed or masked if it were JSON.
func (w *walker) hides(op *spec.Operation) bool {
	past := map[*node]bool{}
	var within func(n *node) bool
	within = func(n *node) bool {
		if n == nil || past[n] {
			return false
		}
		past[n] = true
		if n.gone || n.closed || len(n.choices) > 0 || len(past) > maxNodes {
			return true
		}
		for _, name := range n.names {
			f := n.fields[name]
			if m := w.mark(name); f.hidden || m.denied || m.cover != open {
				return true
			}
			if within(w.nodeOf(f.places)) {
				return true
			}
		}
		return len(n.elements) > 0 && within(w.element(n)) || len(n.further) > 0 && within(w.nodeOf(n.further))
	}
	return within(w.nodeOf(w.responseSchemas(op, 0)))
}
