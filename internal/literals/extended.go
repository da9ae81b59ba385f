package literals

import (
	"regexp"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/value"
)

// shell matches a value in the syntax of MongoDB's shell: ObjectId("…"), ISODate("…"), NumberLong(5), UUID('…').
var shell = regexp.MustCompile(`^(?:new )?(ObjectId|ISODate|Date|NumberLong|Long|NumberInt|Int32|NumberDecimal|Decimal128|Double|UUID)\((?:"([^"]*)"|'([^']*)'|(-?[0-9.]+))\)$`)

var hexadecimal = regexp.MustCompile(`^[0-9a-fA-F]{24}$`)

// ParseMongoLiteral returns the plain value of v, if v is extended JSON, such as {"$date": "…"}, or a literal of
// MongoDB's shell, such as ISODate("…"). It returns false for any other value, and if the value isn't of the named
// type.
func ParseMongoLiteral(v value.Value) (value.Value, bool) {
	switch members := v.Members(); {
	case v.Kind() == value.Object && len(members) == 1:
		return extendedValue(members[0])
	case v.Kind() == value.String && strings.HasSuffix(v.Text(), ")"):
		m := shell.FindStringSubmatch(v.Text())
		if m == nil {
			return v, false
		}
		return shellValue(m[1], m[2]+m[3]+m[4])
	}
	return v, false
}

// shellValue returns the value of a call in MongoDB's shell. It returns false if the text isn't valid for the name.
func shellValue(name, text string) (value.Value, bool) {
	v := value.OfString(text)
	switch name {
	case "ObjectId":
		return v, hexadecimal.MatchString(text)
	case "UUID":
		return value.OfUUIDText(text)
	case "ISODate", "Date":
		return instant(v)
	}
	return numeral(v)
}

// extendedValue returns the value of a member of extended JSON.
func extendedValue(m value.Member) (value.Value, bool) {
	inner := m.Value
	switch m.Name {
	case "$oid", "$uuid", "$objectId":
		return inner, inner.Kind() == value.String
	case "$numberLong", "$numberInt", "$numberDouble", "$numberDecimal":
		return numeral(inner)
	case "$date":
		if n, ok := inner.Get("$numberLong"); ok && len(inner.Members()) == 1 {
			inner, _ = numeral(n)
		}
		return instant(inner)
	case "$binary":
		if base64, ok := inner.Get("base64"); ok {
			return base64, base64.Kind() == value.String
		}
		return inner, inner.Kind() == value.String
	}
	return value.Value{}, false
}

// instant returns the date for a text in ISO 8601 or for a number of milliseconds since 1970.
func instant(v value.Value) (value.Value, bool) {
	if v.Kind() == value.String {
		return value.OfDateText(v.Text())
	}
	millis, ok := v.AsInt()
	if !ok || millis > 1<<53 || millis < -1<<53 {
		return v, false
	}
	return value.OfTime(time.UnixMilli(millis)), true
}

// numeral returns a number, which may also be written as text.
func numeral(v value.Value) (value.Value, bool) {
	if v.IsNumber() {
		return v, true
	}
	n, err := value.Read([]byte(v.Text()), 0)
	return n, v.Kind() == value.String && err == nil && n.IsNumber() && Sane(n, "") == nil
}
