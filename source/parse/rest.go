package parse

import (
	"encoding/base64"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// readers is the column of a record's access list that contains who may read the record.
const readers = "_rperm"

// restObject returns an object with one member.
func restObject(name string, v value.Value) value.Value {
	return value.OfObject([]value.Member{{Name: name, Value: v}})
}

// restPointer returns a pointer to the record with this id in a class.
func restPointer(class, id string) value.Value {
	return value.OfObject([]value.Member{{Name: "__type", Value: value.OfString("Pointer")}, {Name: "className", Value: value.OfString(class)}, {Name: "objectId", Value: value.OfString(id)}})
}

// restDate returns an instant with the precision of milliseconds.
func restDate(v value.Value) value.Value {
	iso := time.UnixMicro(v.Micros()).UTC().Format("2006-01-02T15:04:05.000Z")
	return value.OfObject([]value.Member{{Name: "__type", Value: value.OfString("Date")}, {Name: "iso", Value: value.OfString(iso)}})
}

// inYears reports whether an instant is in a year that the REST API can represent, with four digits.
func inYears(v value.Value) bool {
	year := time.UnixMicro(v.Micros()).UTC().Year()
	return year >= 1 && year <= 9999
}

// convertREST converts a value of the REST API to the type of f. A value of another type, which Parse Server never
// stores, becomes null.
func convertREST(f *schema.Field, v value.Value) value.Value {
	switch f.Type {
	case schema.String:
		if id, ok := v.Get("objectId"); ok && f.Native == "Pointer" {
			v = id
		}
		if v.Kind() == value.String {
			return v
		}
	case schema.Double:
		if x, ok := v.AsFloat(); ok {
			return value.OfFloat(x)
		}
	case schema.Boolean:
		if v.Kind() == value.Bool {
			return v
		}
	case schema.Date:
		if iso, ok := v.Get("iso"); ok {
			v = iso
		}
		if at, ok := value.OfDateText(v.Text()); ok && v.Kind() == value.String && at.Kind() == value.Date {
			return at
		}
	case schema.Bytes:
		text, _ := v.Get("base64")
		if raw, err := base64.StdEncoding.DecodeString(text.Text()); err == nil && text.Kind() == value.String {
			return value.OfBytes(string(raw))
		}
	case schema.Array:
		if v.Kind() == value.Array {
			return v
		}
	default:
		return v
	}
	return value.Value{}
}

// aclGroups returns the groups that an access list permits the operation what, in the form of Parse's own column. It
// returns null if there is no list.
func aclGroups(acl value.Value, limited bool, what string) value.Value {
	if !limited {
		return value.Value{}
	}
	groups := []value.Value{}
	for _, m := range acl.Members() {
		if may, _ := m.Value.Get(what); may.Bool() {
			groups = append(groups, value.OfString(m.Name))
		}
	}
	return value.OfArray(groups)
}

// restValue returns a value of f in the form that the REST API expects for a field of Parse's type kind. target is
// the class that a pointer references.
func restValue(f *schema.Field, kind, target string, v value.Value) (value.Value, error) {
	if v.IsNull() {
		return restObject("__op", value.OfString("Delete")), nil
	}
	if f.Stored != nil {
		held, why := interpret.EncodeValue(f, v)
		if why != "" {
			return v, &problem.Error{Code: problem.InvalidArgument, Kind: "value", Detail: f.Name + " " + why}
		}
		return restValue(&f.Stored.Field, kind, target, held)
	}
	if name := reservedMember(f, v); name != "" {
		return v, &problem.Error{Code: problem.InvalidArgument, Kind: "value", Pointer: "/data/" + f.Name,
			Detail: fmt.Sprintf("%s can't hold an object with %s: Parse Server takes it for something else than it says", f.Name, name)}
	}
	switch kind {
	case "Pointer":
		return restPointer(target, v.Text()), nil
	case "Date":
		return restDate(v), nil
	case "Bytes":
		return value.OfObject([]value.Member{{Name: "__type", Value: value.OfString("Bytes")}, {Name: "base64", Value: value.OfString(v.String())}}), nil
	}
	return v, nil
}

// reservedMember returns the name of a member that makes Parse Server treat an object as an operation on the field,
// or as a value of another type. With such a member, Parse Server would apply something other than the reviewed
// value. It returns "" if there is no such member.
func reservedMember(f *schema.Field, v value.Value) string {
	if _, is := v.Get("__op"); is {
		return "__op"
	}
	if _, is := v.Get("__type"); is && f.Native == "Object" {
		return "__type"
	}
	return ""
}
