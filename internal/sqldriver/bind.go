package sqldriver

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// dmlBound returns the place of the value of a set, or an error if its column can't hold the value.
func dmlBound(d sqlgen.Dialect, t *sqlgen.Text, s writes.Set, forms map[string]WriteForm) (string, error) {
	arg, why := dmlHeld(d, s.Field, s.Value, forms[s.Field.Name])
	if text, ok := arg.(string); ok && why == "" && s.Field.Type == schema.Opaque && !t.Fits(s.Field, text) {
		why = "must be " + s.Field.Form
	}
	if why != "" {
		return "", UnfitValue(s.Field, s.Field.Name+" "+why)
	}
	place := t.Arg(arg)
	switch {
	case arg == nil:
	case d.Name() == "mariadb" && s.Field.Type == schema.Bytes: // the driver sends bytes as text
		return "UNHEX(" + place + ")", nil
	case d.Name() == "postgresql" && s.Field.Native == "money": // its own text depends on the server's currency
		return place + "::text::numeric::money", nil
	case d.Name() == "postgresql" && s.Field.Point && s.Field.Native != "point": // of PostGIS, which reads other texts than are shown
		space := s.Field.Native[:strings.LastIndexByte(s.Field.Native, '.')]
		return place + "::text::point::" + t.Name(space) + ".geometry", nil
	case d.Name() == "mariadb" && s.Field.Native == "geometry":
		return "ST_GeomFromText(" + place + ")", nil
	}
	return place, nil
}

// UnfitValue returns the refusal of the value that a write sets f to. Its pointer is within the write.
func UnfitValue(f *schema.Field, detail string) *problem.Error {
	name := strings.NewReplacer("~", "~0", "/", "~1").Replace(f.Name)
	return &problem.Error{Code: problem.InvalidArgument, Kind: "value", Pointer: "/data/" + name, Detail: detail}
}

// dmlHeld returns v as the driver takes it for a column of f, or why the column can't hold it. PostgreSQL gets text, which
// it parses in the column's type.
func dmlHeld(d sqlgen.Dialect, f *schema.Field, v value.Value, form WriteForm) (arg any, why string) {
	if f.Stored != nil {
		raw, why := interpret.Held(f, v)
		if why != "" {
			return nil, why
		}
		return dmlHeld(d, &f.Stored.Field, raw, nil)
	}
	if v.IsNull() {
		if f.NotNull {
			return nil, "can't be null"
		}
		return nil, ""
	}
	if f.Values != nil && !slices.ContainsFunc(f.Values, func(a value.Value) bool { return value.Equal(a, v) }) {
		return nil, "can't hold " + problem.Cut(v.String()) + "; it holds one of " + listed(f.Values)
	}
	switch f.Type {
	case schema.String, schema.Opaque:
		return heldText(f, v)
	case schema.Integer:
		return heldInteger(d, f, v)
	case schema.Double:
		return heldDouble(d, f, v)
	case schema.Decimal:
		return heldDecimal(d, f, v)
	case schema.Boolean:
		return heldBoolean(d, v)
	case schema.Date, schema.Day:
		return heldDate(d, f, v, form)
	case schema.UUID:
		id, ok := value.OfUUIDText(v.Text())
		if v.Kind() != value.String || !ok {
			return nil, "must be a UUID"
		}
		return id.Text(), ""
	case schema.Bytes:
		return heldBytes(d, v)
	case schema.JSON:
		return string(v.AppendJSON(nil)), ""
	case schema.Array:
		if v.Kind() != value.Array {
			return nil, "must be a list"
		}
		if why := heldElements(d, f.Element, v); why != "" {
			return nil, why
		}
		return string(appendArray(nil, v)), ""
	}
	return heldAny(d, v)
}

// listed returns at most 20 of values, for messages.
func listed(values []value.Value) string {
	texts := make([]string, 0, len(values))
	for i, v := range values {
		if i == 20 {
			return strings.Join(texts, ", ") + ", …"
		}
		texts = append(texts, v.String())
	}
	return strings.Join(texts, ", ")
}

// heldText returns a text for its column, or why the column can't hold it. NUL is refused in every database, as PostgreSQL has none.
func heldText(f *schema.Field, v value.Value) (any, string) {
	switch {
	case v.Kind() != value.String:
		return nil, "must be a text"
	case strings.ContainsRune(v.Text(), 0):
		return nil, "can't hold the NUL character"
	case f.Length > 0 && utf8.RuneCountInString(v.Text()) > f.Length:
		return nil, fmt.Sprintf("holds at most %d characters", f.Length)
	}
	return v.Text(), ""
}

// ranges are the integers that columns narrower than 64 bits hold. MariaDB's may be unsigned: it refuses the rest
// itself.
var ranges = map[string][2]int64{
	"int2": {-1 << 15, 1<<15 - 1}, "int4": {-1 << 31, 1<<31 - 1},
	"tinyint": {-1 << 7, 1<<8 - 1}, "smallint": {-1 << 15, 1<<16 - 1}, "mediumint": {-1 << 23, 1<<24 - 1}, "int": {-1 << 31, 1<<32 - 1},
}

// heldInteger returns an integer for its column, or why the column can't hold it. SQLite holds 64 bits whatever is declared.
func heldInteger(d sqlgen.Dialect, f *schema.Field, v value.Value) (any, string) {
	n, ok := v.AsInt()
	if !ok {
		return nil, "must be an integer of 64 bits"
	}
	if r, narrow := ranges[f.Native]; narrow && d.Name() != "sqlite" && (n < r[0] || n > r[1]) {
		return nil, fmt.Sprintf("holds integers from %d to %d", r[0], r[1])
	}
	if d.Name() == "postgresql" {
		return strconv.FormatInt(n, 10), ""
	}
	return n, ""
}

// heldDouble accepts numbers that read back as they were written: 0.1 does, 0.1000000000000000055 doesn't.
func heldDouble(d sqlgen.Dialect, f *schema.Field, v value.Value) (any, string) {
	x, ok := v.AsFloat()
	if !ok {
		return nil, "must be a number"
	}
	if v.Kind() == value.Float && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return heldInfinite(d, f, x)
	}
	native := strings.ToUpper(f.Native)
	exact := !strings.Contains(native, "REAL") && !strings.Contains(native, "FLOA") && !strings.Contains(native, "DOUB")
	if n, whole := v.AsInt(); whole && d.Name() == "sqlite" && exact {
		return n, "" // such a column stores whole numbers as integers
	}
	bits := 64
	if d.Name() == "postgresql" && f.Native == "float4" || d.Name() == "mariadb" && f.Native == "float" {
		bits = 32
	}
	text := strconv.FormatFloat(x, 'g', -1, bits)
	if !same(text, v) {
		return nil, "can't hold all digits of " + problem.Cut(v.String())
	}
	if d.Name() == "postgresql" {
		return text, ""
	}
	return x, ""
}

// heldInfinite returns NaN or an infinity for a column, or why the column can't hold it. MariaDB has none, SQLite takes
// NaN for null, and a decimal of limited digits isn't infinite.
func heldInfinite(d sqlgen.Dialect, f *schema.Field, x float64) (any, string) {
	switch text := value.OfFloat(x).String(); {
	case d.Name() == "postgresql" && (f.Type == schema.Double || math.IsNaN(x) || f.Digits == 0):
		return text, ""
	case d.Name() == "sqlite" && f.Type == schema.Double && !math.IsNaN(x):
		return x, ""
	default:
		return nil, "can't hold " + text
	}
}

// same reports whether text writes the same number as v.
func same(text string, v value.Value) bool {
	if strings.ContainsAny(text, "NI") { // not a finite number
		return false
	}
	return value.Equal(value.OfDecimal(text), v)
}

// heldDecimal returns the text of a number for a Decimal column, or why the column can't hold it. A database would round what has too
// many digits behind the point, so it is refused: what runs must be what was reviewed.
func heldDecimal(d sqlgen.Dialect, f *schema.Field, v value.Value) (any, string) {
	if !v.IsNumber() {
		return nil, "must be a number"
	}
	text := v.String()
	x, _ := v.AsFloat()
	if v.Kind() == value.Float && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return heldInfinite(d, f, x)
	}
	if len(text) > 1000 || x > 1e300 || x < -1e300 || strings.ContainsAny(text, "Nn") {
		return nil, "can't hold so large a number"
	}
	if f.Digits == 0 {
		return text, ""
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok { // so small that its digits aren't worth counting
		return nil, fmt.Sprintf("holds %d digits behind the point", f.Scale)
	}
	exact := r.FloatString(f.Scale)
	if back, _ := new(big.Rat).SetString(exact); back.Cmp(r) != 0 {
		return nil, fmt.Sprintf("holds %d digits behind the point", f.Scale)
	}
	whole, _, _ := strings.Cut(strings.TrimPrefix(exact, "-"), ".")
	if whole != "0" && len(whole) > f.Digits-f.Scale {
		return nil, fmt.Sprintf("holds %d digits before the point", f.Digits-f.Scale)
	}
	return exact, ""
}

// heldBoolean returns a Boolean as the driver of d takes it.
func heldBoolean(d sqlgen.Dialect, v value.Value) (any, string) {
	switch {
	case v.Kind() != value.Bool:
		return nil, "must be true or false"
	case d.Name() == "postgresql":
		return strconv.FormatBool(v.Bool()), ""
	case v.Bool():
		return int64(1), ""
	}
	return int64(0), ""
}

// heldBytes returns bytes, or a text of base64, as the driver of d takes them: PostgreSQL as \x and hex, MariaDB as hex.
func heldBytes(d sqlgen.Dialect, v value.Value) (any, string) {
	raw := v.Text()
	if v.Kind() == value.String {
		b, err := base64.StdEncoding.DecodeString(raw)
		if err != nil {
			return nil, "must be bytes in base64"
		}
		raw = string(b)
	} else if v.Kind() != value.Bytes {
		return nil, "must be bytes in base64"
	}
	switch d.Name() {
	case "sqlite":
		return []byte(raw), ""
	case "postgresql":
		return `\x` + hex.EncodeToString([]byte(raw)), ""
	}
	return hex.EncodeToString([]byte(raw)), ""
}

// heldAny converts v for a SQLite column that holds values of any type.
func heldAny(d sqlgen.Dialect, v value.Value) (any, string) {
	switch v.Kind() {
	case value.Bool:
		if v.Bool() {
			return int64(1), ""
		}
		return int64(0), ""
	case value.Int, value.Float, value.Decimal:
		if n, whole := v.AsInt(); whole {
			return n, ""
		}
		return heldDouble(d, &schema.Field{Native: "REAL"}, v)
	case value.String:
		return heldText(&schema.Field{}, v)
	case value.Date, value.Day:
		return v.String(), ""
	}
	return nil, "can't hold " + v.Kind().String()
}

// heldDate writes instants in UTC. A day is its midnight.
func heldDate(d sqlgen.Dialect, f *schema.Field, v value.Value, form WriteForm) (any, string) {
	day := f.Type == schema.Day
	if v.Kind() == value.String {
		read, ok := f.Dated(v.Text())
		if ok && read.Kind() == value.String { // it is Endless
			return read.Text(), ""
		}
		v = read // null if it is none
	}
	if v.Kind() != value.Date && v.Kind() != value.Day {
		return nil, "must be a date in ISO 8601"
	}
	at := time.UnixMicro(v.Micros()).UTC()
	switch {
	case at.Year() < 1 || at.Year() > 9999:
		return nil, "holds years from 1 to 9999"
	case day && !at.Equal(at.Truncate(24*time.Hour)):
		return nil, "holds a day without a time"
	}
	if d.Name() == "sqlite" {
		return formed(f, at, form), ""
	}
	if day {
		return at.Format(time.DateOnly), ""
	}
	digits := 6
	if f.Scaled {
		digits = f.Scale
	}
	if step := time.Second / time.Duration(pow10(digits)); !at.Equal(at.Truncate(step)) {
		return nil, fmt.Sprintf("holds %d digits of a second", digits)
	}
	text := at.Format("2006-01-02 15:04:05.999999")
	if d.Name() == "postgresql" && f.Native == "timestamptz" {
		text += "+00"
	}
	return text, ""
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// formed writes an instant in the form of the column's other values: text of some layout, or a number. An instant that
// such a number can't hold is written as text: others than the caller may have chosen the form, so it refuses nothing.
func formed(f *schema.Field, at time.Time, form WriteForm) any {
	whole := at.UnixMicro()%1000 == 0
	switch like := form.(type) {
	case int64:
		const seconds = 99999999999 // see sqlgen: above it an integer counts milliseconds
		ms := at.UnixMilli()
		switch {
		case like >= -seconds && like <= seconds && whole && ms%1000 == 0:
			return at.Unix()
		case whole && (ms < -seconds || ms > seconds):
			return ms
		}
	case float64:
		if whole {
			return float64(at.UnixMilli())/86400000 + 2440587.5
		}
	case string:
		return at.Format(shape(like, f.Type == schema.Day))
	}
	switch {
	case f.Type == schema.Day:
		return at.Format(time.DateOnly)
	case strings.Contains(strings.ToUpper(f.Default), "CURRENT_TIMESTAMP"):
		return at.Format("2006-01-02 15:04:05.999999")
	}
	return at.Format("2006-01-02T15:04:05.999999Z")
}

// shape returns the layout of an instant in UTC that looks like the given text.
func shape(like string, day bool) string {
	if len(like) <= len(time.DateOnly) && day {
		return time.DateOnly
	}
	if len(like) < len("2006-01-02T15:04:05") {
		return "2006-01-02T15:04:05.999999Z"
	}
	layout := "2006-01-02" + like[10:11] + "15:04:05.999999"
	switch rest := strings.TrimLeft(like[19:], ".0123456789"); {
	case rest == "":
	case rest[0] == 'Z' || rest[0] == 'z':
		layout += "Z"
	default:
		layout += "+00:00"
	}
	return layout
}
