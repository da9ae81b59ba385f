package declared

import (
	"reflect"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// inputKey is the member of an object that stands for the value of an argument: {$input: customer}.
const inputKey = "$input"

// The text of a placeholder begins and ends with characters of no script. No call can send one, because fill replaces
// what is in the parsed query and not what is in arguments.
const placeBegin, placeEnd = "\uE000", "\uE001"

// placeholder returns the value that the parser reads in place of {$input: name}: a text, or a list with one text for
// an argument that is a list.
func placeholder(name string, list bool) value.Value {
	text := value.OfString(placeBegin + name + placeEnd)
	if list {
		return value.OfArray([]value.Value{text})
	}
	return text
}

// placeOf returns the name of the argument for which v is the placeholder, or "".
func placeOf(v value.Value) string {
	if v.Kind() != value.String {
		return ""
	}
	name, ok := strings.CutPrefix(v.Text(), placeBegin)
	if !ok {
		return ""
	}
	return strings.TrimSuffix(name, placeEnd)
}

// withPlaceholders returns v with each {$input: name} replaced by the placeholder that of returns. of also gets the path
// of the object.
func withPlaceholders(v value.Value, at []string, of func(name value.Value, at []string) value.Value) value.Value {
	switch v.Kind() {
	case value.Object:
		if name, ok := v.Get(inputKey); ok && len(v.Members()) == 1 {
			return of(name, at)
		}
		members := make([]value.Member, len(v.Members()))
		for i, m := range v.Members() {
			members[i] = value.Member{Name: m.Name, Value: withPlaceholders(m.Value, append(at[:len(at):len(at)], m.Name), of)}
		}
		return value.OfObject(members)
	case value.Array:
		list := make([]value.Value, len(v.List()))
		for i, e := range v.List() {
			list[i] = withPlaceholders(e, append(at[:len(at):len(at)], itoa(i)), of)
		}
		return value.OfArray(list)
	}
	return v
}

// fill returns a copy of parsed, a part of a query, with the arguments in place of their placeholders. Only values are
// replaced: a name, a path or an operator is a Go string or a type, and never comes from an argument.
func fill[T any](parsed T, given map[string]value.Value) T {
	v := reflect.ValueOf(&parsed).Elem() // parsed is this function's own
	v.Set(filled(v, given))
	return parsed
}

var valueType = reflect.TypeFor[value.Value]()

// filled returns v or, if it contains a placeholder, a copy with the arguments.
func filled(v reflect.Value, given map[string]value.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(filled(v.Elem(), given))
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(filled(v.Elem(), given))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		if v.Type().Elem() == valueType {
			return reflect.ValueOf(filledList(v.Interface().([]value.Value), given))
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(filled(v.Index(i), given))
		}
		return out
	case reflect.Struct:
		if v.Type() == valueType {
			return reflect.ValueOf(filledValue(v.Interface().(value.Value), given))
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(filled(v.Field(i), given))
			}
		}
		return out
	}
	return v
}

// filledValue returns v with the arguments in place of their placeholders.
func filledValue(v value.Value, given map[string]value.Value) value.Value {
	if name := placeOf(v); name != "" {
		return given[name]
	}
	switch v.Kind() {
	case value.Array:
		return value.OfArray(filledList(v.List(), given))
	case value.Object:
		members := make([]value.Member, len(v.Members()))
		for i, m := range v.Members() {
			members[i] = value.Member{Name: m.Name, Value: filledValue(m.Value, given)}
		}
		return value.OfObject(members)
	}
	return v
}

// filledList is filledValue for the elements of a list. A list in place of an element becomes its elements.
func filledList(list []value.Value, given map[string]value.Value) []value.Value {
	out := make([]value.Value, 0, len(list))
	for _, e := range list {
		if name := placeOf(e); name != "" && given[name].Kind() == value.Array {
			out = append(out, given[name].List()...)
			continue
		}
		out = append(out, filledValue(e, given))
	}
	return out
}

// places counts the placeholders in parsed that fill replaces.
func places(parsed any) int {
	return countPlaces(reflect.ValueOf(parsed))
}

// countPlaces counts the placeholders in the values in v.
func countPlaces(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			n = countPlaces(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += countPlaces(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == valueType {
			return placesIn(v.Interface().(value.Value))
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				n += countPlaces(v.Field(i))
			}
		}
	}
	return n
}

// placesIn counts the placeholders in a value.
func placesIn(v value.Value) (n int) {
	if placeOf(v) != "" {
		return 1
	}
	for _, e := range v.List() {
		n += placesIn(e)
	}
	for _, m := range v.Members() {
		n += placesIn(m.Value)
	}
	return n
}
