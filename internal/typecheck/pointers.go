package typecheck

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// stored is the form in which Parse Server stores a pointer in MongoDB: "Class$id".
var stored = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.]*)\$(.+)$`)

// names reports whether a pointer's class name refers to the target class.
func (b *filters) names(class, target string) bool {
	return class == target || b.relations != nil && b.relations.SameClass(class, target)
}

// pointerID returns the id in a pointer to a record of class. It accepts a complete pointer, {"objectId": id}, {"id":
// id} and "class$id".
func (b *filters) pointerID(class string, v value.Value) value.Value {
	if members := v.Members(); len(members) == 1 && slices.Contains([]string{"objectId", "id", "_id"}, members[0].Name) {
		return members[0].Value
	}
	if name, ok := v.Get("className"); ok && b.names(name.Text(), class) {
		id, _ := v.Get("objectId")
		return id
	}
	if form := stored.FindStringSubmatch(v.Text()); v.Kind() == value.String && form != nil && b.names(form[1], class) {
		return value.OfString(form[2])
	}
	return v
}

// checkPointerForm adds a note for a pointer in the form in which Parse Server stores it. With strict pointers, it
// accepts only an id, or a complete pointer to the right class.
func (b *filters) checkPointerForm(at string, f *schema.Field, path query.Path, v value.Value) error {
	target, _ := b.scope.Pointer(f.Name)
	if target == "" || len(path) > 1 || b.relations == nil || f.Type.IsStructured() {
		return nil
	}
	form := stored.FindStringSubmatch(v.Text())
	kind, _ := v.Get("__type")
	class, _ := v.Get("className")
	id, _ := v.Get("objectId")
	switch {
	case v.Kind() == value.String && form == nil, v.IsNumber():
		return nil
	case kind.Text() == "Pointer" && b.names(class.Text(), target) && id.Kind() == value.String:
		return nil
	case b.relations.StrictPointers():
		return &problem.Error{Code: problem.InvalidQuery, Kind: "pointer_shape", Pointer: at,
			Detail:     fmt.Sprintf("%s holds the ids of records of %s, and %s is neither an id nor a pointer to one", f.Name, target, problem.Cut(v.String())),
			Suggestion: fmt.Sprintf(`write {"%s": "ID"} or {"%[1]s": {"__type": "Pointer", "className": "%s", "objectId": "ID"}}`, f.Name, target)}
	case v.Kind() == value.String && b.names(form[1], target):
		b.say(fmt.Sprintf("%s: %s is taken as the id %q, as which a pointer is written", at, problem.Cut(v.Text()), problem.Cut(form[2])))
	}
	return nil
}
