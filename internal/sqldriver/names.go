package sqldriver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// claim ranks the reasons for a class's name. If several classes have the same name, the class with the highest rank
// gets the name. If two classes have the highest rank, neither gets it.
type claim uint8

const (
	composed claim = iota // composed of a schema and a table
	plain                 // the name of a table in the default schema
	given                 // by the owner
)

// name sets the names of the classes that choice keeps, and returns them sorted by name. The names are unique: if two
// classes would have the same name, only the class with the better claim is kept. If the claims are equal, both
// classes are omitted, because a rule for that name could apply to the wrong table. Each omission causes a warning.
func name(source string, list []*FoundTable, choice schema.Choice) (kept []*FoundTable, warnings []string) {
	claims := map[*FoundTable]claim{}
	for _, f := range list {
		chosen, byOwner := choice.Of(f.Space, f.Table)
		if chosen == "" {
			continue
		}
		f.Source, f.Name = source, chosen
		switch {
		case !utf8.ValidString(f.Name):
			warnings = append(warnings, fmt.Sprintf("class %s left out: its name is not UTF-8", f.Place()))
			continue
		case len(f.Fields) == 0:
			warnings = append(warnings, fmt.Sprintf("class %s left out: it has no field", f.Place()))
			continue
		case byOwner:
			claims[f] = given
		case f.Space == "":
			claims[f] = plain
		}
		kept = append(kept, f)
	}
	slices.SortFunc(kept, func(a, b *FoundTable) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(claims[b], claims[a]), cmp.Compare(a.Space, b.Space), cmp.Compare(a.Table, b.Table))
	})
	taken := map[string]bool{}
	for _, f := range kept {
		taken[f.Name] = true
	}
	var out []*FoundTable
	for i := 0; i < len(kept); {
		n := i + 1
		for n < len(kept) && kept[n].Name == kept[i].Name {
			n++
		}
		group := kept[i:n]
		i = n
		best := group[0]
		if len(group) > 1 && claims[group[1]] == claims[best] {
			best = nil
		} else {
			out = append(out, best)
		}
		for _, f := range group {
			if f != best {
				warnings = append(warnings, clash(f, group, best, taken))
			}
		}
	}
	return out, append(warnings, similar(out)...)
}

// clash returns the warning that f is omitted because all classes of group would have its name. best is the class
// that gets the name, or nil.
func clash(f *FoundTable, group []*FoundTable, best *FoundTable, taken map[string]bool) string {
	free := ""
	for i := 2; free == "" || taken[free]; i++ {
		free = fmt.Sprintf("%s_%d", f.Name, i)
	}
	taken[free] = true
	other := best
	for _, o := range group {
		if other == nil && o != f {
			other = o
		}
	}
	verb := "is"
	if best == nil {
		verb = "would be, too"
	}
	return fmt.Sprintf("class %s left out: it would be the class %q, as %s %s. Give it another name: rename: {%s: %s}",
		f.Place(), f.Name, other.Place(), verb, f.qualifiedName(), free)
}

// qualifiedName returns the table name of f in the form that the key rename expects.
func (f *FoundTable) qualifiedName() string {
	if f.Space == "" {
		return f.Table
	}
	return f.Space + "." + f.Table
}

// similar returns a warning for each group of class names that differ only in case, and for each such group of fields
// of a class.
func similar(list []*FoundTable) (warnings []string) {
	var classes []string
	for _, f := range list {
		classes = append(classes, f.Name)
		for _, same := range caseDuplicates(f.FieldNames()) {
			warnings = append(warnings, fmt.Sprintf("fields %s of %s differ only in case: queries must write them exactly", quoteNames(same), f.Place()))
		}
	}
	for _, same := range caseDuplicates(classes) {
		warnings = append(warnings, fmt.Sprintf("classes %s differ only in case: queries must write them exactly. The key rename gives one of them another name", quoteNames(same)))
	}
	return warnings
}

// caseDuplicates returns the groups of names that differ only in case, in order.
func caseDuplicates(names []string) [][]string {
	by := map[string][]string{}
	var order []string
	for _, n := range names {
		low := strings.ToLower(n)
		if by[low] == nil {
			order = append(order, low)
		}
		by[low] = append(by[low], n)
	}
	var out [][]string
	for _, low := range order {
		if len(by[low]) > 1 {
			out = append(out, by[low])
		}
	}
	return out
}

// quoteNames returns names in quotes: "a", "b" and "c".
func quoteNames(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
	}
	last := len(out) - 1
	return strings.Join(out[:last], ", ") + " and " + out[last]
}
