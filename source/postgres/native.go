package postgres

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// types are the built-in types that filters support. All other types are Opaque. The texts of time values are ordered
// like the values.
var types = map[string]schema.Type{
	"int2": schema.Integer, "int4": schema.Integer, "int8": schema.Integer,
	"numeric": schema.Decimal, "float4": schema.Double, "float8": schema.Double,
	"bool": schema.Boolean, "bytea": schema.Bytes, "uuid": schema.UUID,
	"text": schema.String, "varchar": schema.String, "bpchar": schema.String, "name": schema.String,
	"date": schema.Day, "timestamp": schema.Date, "timestamptz": schema.Date,
	"json": schema.JSON, "jsonb": schema.JSON, "time": schema.String, "money": schema.Decimal, "char": schema.String,
}

// A form describes the texts of a type.
type form struct {
	words   string
	ordered bool // the statements of package sqlgen compare values by their meaning
}

// forms contains the types that are shown as text. Other types have the form anyForm.
var forms = map[string]form{
	"time":     {"a time of day: 13:05:00 or 13:05:00.25", false},
	"timetz":   {"a time of day with its offset from UTC: 13:05:00+02", true},
	"interval": {"a duration in ISO 8601: P1DT2H30M", true},
	"inet":     {"an IP address, with the length of its network if it has one: 10.0.0.1 or 10.0.0.7/8", true},
	"cidr":     {"an IP network: 10.0.0.0/8", true},
	"macaddr":  {"a MAC address: 08:00:2b:01:02:03", true},
	"macaddr8": {"a MAC address of 8 bytes: 08:00:2b:01:02:03:04:05", true},
	"bit":      {"bits: 0101", true}, "varbit": {"bits: 0101", true}, "oid": {"a number of an object of the database: 16384", true},
	"int4range": {rangeForm, false}, "int8range": {rangeForm, false}, "numrange": {rangeForm, false},
	"daterange": {datesForm, false}, "tsrange": {timesForm, false}, "tstzrange": {timesForm, false},
	"point": {"a point: (1.5,2)", false},
}

const (
	rangeForm = "a range, with [ or ( before its first and ] or ) behind its last value, which may be missing: [1,10) or (,5]"
	datesForm = "a range of dates, which may have no end: [2026-01-01,2026-02-01) or [2026-01-01,)"
	timesForm = `a range of times, which may have no end: ["2026-01-01 00:00:00+00","2026-02-01 00:00:00+00") or ["2026-01-01 00:00:00+00",)`
	anyForm   = "a text in the form in which answers show it"
)

// setType sets the properties of field that follow from x's base type and its domain. Native is the name of the base
// type. It is "enum" for every enum, and includes the schema for a type that is not built in. So no two types share a
// name.
func (x *column) setType(field *schema.Field) {
	field.Native, field.Type = x.Type, schema.Opaque
	defer x.form(field)
	switch {
	case x.TypeKind == "e":
		field.Native, field.Type = "enum", schema.String
		for _, l := range x.Labels {
			field.Values = append(field.Values, value.OfString(l))
		}
	case x.Type == "citext" && x.TypeKind == "b":
		field.Type, field.Unordered = schema.String, true
	case x.TypeSpace != "pg_catalog":
		field.Native = x.TypeSpace + "." + x.Type
	default:
		if t, ok := types[x.Type]; ok {
			field.Type = t
		}
	}
	if x.Array {
		field.Type = schema.Array
		field.Element = x.element()
	}
	if (field.Native == "varchar" || field.Native == "bpchar") && x.Modifier > 4 {
		field.Length = int(x.Modifier) - 4
	}
	x.setScale(field)
	for _, check := range x.Checks {
		for _, said := range checkRules(check) {
			if said.Column == (sqldriver.Token{Kind: sqldriver.WordToken, Text: "VALUE"}) {
				restrict(field, said)
			}
		}
	}
}

// form describes the values that only PostgreSQL has: the form of the texts of its types, and values beyond the
// field's type.
func (x *column) form(field *schema.Field) {
	switch field.Type {
	case schema.Date, schema.Day:
		field.Endless, field.Beyond = true, "infinite, or outside of the years 1 to 9999"
	case schema.Double:
		field.Beyond = "NaN or infinite"
	case schema.Decimal:
		switch {
		case field.Native == "money":
		case field.Digits > 0: // such a numeric has no infinity
			field.Beyond = "NaN"
		default:
			field.Beyond = "NaN, infinite, or 1e600 and beyond"
		}
	}
	switch f, ok := forms[field.Native]; {
	case x.Array:
	case ok:
		field.Form, field.Ordered, field.Point = f.words, f.ordered, field.Native == "point"
	case x.place():
		field.Form, field.Point = forms["point"].words, true
	case field.Type == schema.Opaque && field.Native != "tsvector": // $text searches a tsvector
		field.Form = anyForm
	}
}

// place reports whether x is a PostGIS column of points on the earth: geometry(Point), geometry(Point, 4326) or
// geography(Point). The modifier encodes the number of the reference system, the kind of geometry, and whether there
// is a height or a measure.
func (x *column) place() bool {
	const point, degrees = 1 << 2, 4326 << 8
	return x.TypeKind == "b" && x.TypeSpace != "pg_catalog" &&
		(x.Modifier == point|degrees && (x.Type == "geometry" || x.Type == "geography") || x.Modifier == point && x.Type == "geometry")
}

// element returns a field for the elements of a list. It returns nil if their type is a domain, since only PostgreSQL
// knows the rules of a domain.
func (x *column) element() *schema.Field {
	if x.ElementKind == "" || x.ElementKind == "d" {
		return nil
	}
	of := column{Type: x.Element, TypeSpace: x.ElementSpace, TypeKind: x.ElementKind, Modifier: x.Modifier, Labels: x.ElementLabels}
	field := &schema.Field{Name: x.Name}
	of.setType(field)
	return field
}

// setScale sets the precision of field. It ignores a scale below 0, which rounds whole numbers.
func (x *column) setScale(field *schema.Field) {
	switch {
	case x.Modifier < 0 || x.Array:
	case field.Native == "numeric" || field.Native == "money":
		if scale := int(x.Modifier-4) & 0x7ff; scale < 0x400 {
			field.Digits, field.Scaled, field.Scale = int(x.Modifier-4)>>16&0xffff, true, scale
		}
	case field.Native == "timestamp" || field.Native == "timestamptz":
		field.Scaled, field.Scale = true, int(x.Modifier)
	}
}
