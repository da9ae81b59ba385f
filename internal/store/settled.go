package store

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/value"
)

// jsonCopy returns the result of encoding c as JSON and decoding it. The result shares no modifiable part with c. ok
// is false if the result isn't certain, for example for a text that isn't UTF-8. Then the caller must decode the JSON
// of c, which takes ten times as long.
func jsonCopy(c *change.Change) (out *change.Change, ok bool) {
	out = new(*c)
	settles := settlerOfChange()
	return out, settles != nil && settles(reflect.ValueOf(out).Elem())
}

// A settler changes a copy of a value, in place, to the result of decoding its JSON. It returns false if the result
// isn't certain.
type settler func(reflect.Value) bool

var settlerOfChange = sync.OnceValue(func() settler { return settlerOf(reflect.TypeFor[change.Change]()) })

// settlerOf returns the settler of a type. It returns nil for types that have their own encoding, or an encoding that
// isn't implemented here.
func settlerOf(t reflect.Type) settler {
	switch t {
	case reflect.TypeFor[value.Value]():
		return settleValue
	case reflect.TypeFor[time.Time]():
		return settleTime
	case reflect.TypeFor[map[string]string]():
		return settleTexts
	}
	for _, by := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()} {
		if reflect.PointerTo(t).Implements(by) {
			return nil
		}
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64:
		return func(reflect.Value) bool { return true }
	case reflect.String:
		return func(v reflect.Value) bool { return utf8.ValidString(v.String()) }
	case reflect.Slice:
		return settlerOfSlice(t)
	case reflect.Pointer:
		return settlerOfPointer(t)
	case reflect.Struct:
		return settlerOfStruct(t)
	}
	return nil
}

func settleValue(v reflect.Value) bool {
	of := v.Addr().Interface().(*value.Value)
	stored, ok := of.RoundTrip()
	*of = stored
	return ok
}

// settleTime accepts only times in UTC, which lose nothing.
func settleTime(v reflect.Value) bool {
	of := v.Addr().Interface().(*time.Time)
	if of.Location() != time.UTC {
		return false
	}
	*of = of.Round(0).UTC() // without the reading of the process's monotonic clock
	return true
}

// settleTexts replaces a map of texts by a copy.
func settleTexts(v reflect.Value) bool {
	of := v.Addr().Interface().(*map[string]string)
	*of = maps.Clone(*of)
	for name, text := range *of {
		if !utf8.ValidString(name) || !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// settlerOfSlice returns the settler of a slice type. It replaces each slice by a copy, as decoding does. It returns
// nil if the element type has no settler.
func settlerOfSlice(t reflect.Type) settler {
	if t.Elem().Kind() == reflect.Uint8 {
		return func(v reflect.Value) bool {
			if !v.IsNil() {
				v.SetBytes(append([]byte{}, v.Bytes()...))
			}
			return true
		}
	}
	each := settlerOf(t.Elem())
	if each == nil {
		return nil
	}
	return func(v reflect.Value) bool {
		if v.IsNil() {
			return true
		}
		own := reflect.MakeSlice(t, v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
		for i := range own.Len() {
			if !each(own.Index(i)) {
				return false
			}
		}
		return true
	}
}

// settlerOfPointer returns the settler of a pointer type. It makes each pointer point to a copy, as decoding does. It
// returns nil if the element type has no settler.
func settlerOfPointer(t reflect.Type) settler {
	to := settlerOf(t.Elem())
	if to == nil {
		return nil
	}
	return func(v reflect.Value) bool {
		if v.IsNil() {
			return true
		}
		own := reflect.New(t.Elem())
		own.Elem().Set(v.Elem())
		v.Set(own)
		return to(own.Elem())
	}
}

// settlerOfStruct returns the settler of a struct type. All fields must be exported and encoded with one name each.
// Otherwise it returns nil.
func settlerOfStruct(t reflect.Type) settler {
	fields := make([]settler, t.NumField())
	for i := range fields {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || f.Anonymous || name == "" || strings.Contains(options, "string"):
			return nil
		case name == "-":
			fields[i] = func(v reflect.Value) bool { v.SetZero(); return true }
		default:
			fields[i] = settlerOf(f.Type)
		}
		if fields[i] == nil || strings.Contains(options, "omitempty") && f.Type.Kind() != reflect.String {
			return nil
		}
	}
	return func(v reflect.Value) bool {
		for i, settles := range fields {
			if !settles(v.Field(i)) {
				return false
			}
		}
		return true
	}
}
