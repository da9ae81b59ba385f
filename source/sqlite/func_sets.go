package sqlite

import (
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/value"
)

// all returns the elements of a list with their texts. ok is false if the argument isn't a list.
func all(list driver.Value) (values []value.Value, raws []string, ok bool) {
	text, _ := list.(string)
	ok = elements(text, func(raw string) bool {
		values, raws = append(values, read(raw)), append(raws, raw)
		return true
	})
	return values, raws, ok
}

// setOf returns the distinct elements of the first list. If has is true, it returns only elements that the second
// list contains. Otherwise it returns only the other elements.
func setOf(args []driver.Value, has bool) driver.Value {
	list, raws, ok := all(args[0])
	other, _, also := all(args[1])
	if !ok || !also {
		return nil
	}
	there, kept := map[uint64][]value.Value{}, map[uint64][]value.Value{}
	for _, v := range other {
		d := value.Digest(v)
		there[d] = append(there[d], v)
	}
	var out []string
	for i, v := range list {
		d := value.Digest(v)
		same := func(w value.Value) bool { return value.Equal(v, w) }
		if slices.ContainsFunc(there[d], same) != has || slices.ContainsFunc(kept[d], same) {
			continue
		}
		kept[d] = append(kept[d], v)
		out = append(out, raws[i])
	}
	return "[" + strings.Join(out, ",") + "]"
}

// pairs returns the members of an object as a list of {k, v}, ordered by name.
func pairs(args []driver.Value) driver.Value {
	object := jsonOf(args[0])
	if object.Kind() != value.Object {
		return nil
	}
	members := slices.Clone(object.Members())
	slices.SortFunc(members, func(a, b value.Member) int { return strings.Compare(a.Name, b.Name) })
	out := make([]value.Value, len(members))
	for i, m := range members {
		out[i] = value.OfObject([]value.Member{{Name: "k", Value: value.OfString(m.Name)}, {Name: "v", Value: m.Value}})
	}
	return string(value.OfArray(out).AppendJSON(nil))
}

// joinTexts concatenates the texts in a list.
func joinTexts(args []driver.Value) driver.Value {
	list, _, _ := all(args[0])
	separator, ok := args[1].(string)
	if v := plan.JoinedTexts(list, separator); ok && !v.IsNull() {
		return v.Text()
	}
	return nil
}

// objectOf returns the object of a list of pairs, {k, v} or [k, v]. It returns null if an element isn't a pair. Of
// members with the same name, the last value is kept, at the position of the first.
func objectOf(args []driver.Value) driver.Value {
	list, _, ok := all(args[0])
	if !ok {
		return nil
	}
	last := map[string]int{}
	var members []value.Member
	for _, e := range list {
		k, _ := e.Get("k")
		v, _ := e.Get("v")
		if pair := e.List(); len(pair) == 2 {
			k, v = pair[0], pair[1]
		}
		if k.Kind() != value.String {
			return nil
		}
		if i, ok := last[k.Text()]; ok {
			members[i].Value = v
			continue
		}
		last[k.Text()] = len(members)
		members = append(members, value.Member{Name: k.Text(), Value: v})
	}
	return string(value.OfObject(members).AppendJSON(nil))
}
