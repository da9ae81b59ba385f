package value

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendJSON appends v as JSON to dst. Dates are in ISO 8601 and UTC, bytes in base64, and numbers exact. JSON can't
// represent NaN and infinities, so they become strings.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.kind {
	case Null, Cut:
		return append(dst, "null"...)
	case Bool:
		return strconv.AppendBool(dst, v.num != 0)
	case Int:
		return strconv.AppendInt(dst, v.num, 10)
	case Float:
		return appendFloat(dst, v.Float())
	case Decimal:
		return append(dst, v.str...)
	case String:
		return AppendQuote(dst, v.str)
	case Date, Day:
		dst = append(dst, '"')
		return append(v.AppendText(dst), '"')
	case Bytes:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, []byte(v.str))
		return append(dst, '"')
	case Array:
		dst = append(dst, '[')
		for i, e := range v.List() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.AppendJSON(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, m := range v.Members() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendQuote(dst, m.Name), ':')
		dst = m.Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

// AppendText appends v as plain text. Strings are unchanged, and null is empty. All other values are as in JSON without
// quotes.
func (v Value) AppendText(dst []byte) []byte {
	switch v.kind {
	case Null, Cut:
		return dst
	case String:
		return append(dst, v.str...)
	case Date:
		return time.UnixMicro(v.num).UTC().AppendFormat(dst, time.RFC3339Nano) // the value has only microseconds, and Go formats this layout fast
	case Day:
		return time.UnixMicro(v.num).UTC().AppendFormat(dst, time.DateOnly)
	case Bytes:
		return base64.StdEncoding.AppendEncode(dst, []byte(v.str))
	case Float:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return append(dst, strings.Trim(string(appendFloat(nil, f)), `"`)...)
		}
	}
	return v.AppendJSON(dst)
}

// String returns v as plain text. See AppendText.
func (v Value) String() string {
	if v.kind == String {
		return v.str
	}
	return string(v.AppendText(nil))
}

// AppendQuote appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendQuote[Text ~[]byte | ~string](dst []byte, s Text) []byte {
	// The error only reports replaced bytes, which is intended.
	out, _ := jsontext.AppendQuote(dst, s)
	return out
}

// appendFloat appends f with as few digits as possible, in the form of JavaScript. NaN and infinities become strings.
func appendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// OfDateText parses an instant or a calendar date in ISO 8601. A date without a time is a Day. A time without a zone is
// in UTC. It returns false for any other text.
func OfDateText(s string) (Value, bool) {
	// Skip layouts that can't match, because each failure would allocate an error.
	if len(s) <= len(time.DateOnly) {
		if t, err := time.Parse(time.DateOnly, s); err == nil {
			return OfDay(t.UnixMicro()), true
		}
		return Value{}, false
	}
	zoned := strings.ContainsAny(s[11:], "Z+-")
	for _, layout := range dateLayouts {
		if s[10] != layout[10] || zoned != strings.HasSuffix(layout, "Z07:00") {
			continue
		}
		if t, err := time.Parse(layout, s); err == nil {
			return OfTime(t), true
		}
	}
	return Value{}, false
}

// dateLayouts are the layouts of instants. Go accepts fractional seconds even if the layout has none.
var dateLayouts = [...]string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
	"2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04",
}

// OfUUIDText parses a UUID and returns it in lower case as a String. It returns false for any other text.
func OfUUIDText(s string) (Value, bool) {
	s = strings.ToLower(s)
	if len(s) != 36 {
		return Value{}, false
	}
	for i := range len(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (s[i] == '-') || !dash && !strings.ContainsRune("0123456789abcdef", rune(s[i])) {
			return Value{}, false
		}
	}
	return OfString(s), true
}
