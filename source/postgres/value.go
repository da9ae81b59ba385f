package postgres

import (
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// textValue parses PostgreSQL's text for a value of a field's type. A text that doesn't fit the type, such as an
// infinite date, becomes a String.
func textValue(f *schema.Field, text string) value.Value {
	switch f.Type {
	case schema.Integer:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return value.OfInt(n)
		}
	case schema.Double:
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			return value.OfFloat(x)
		}
	case schema.Decimal:
		if x, err := strconv.ParseFloat(text, 64); err == nil && (x != x || text[len(text)-1] == 'y') {
			return value.OfFloat(x) // NaN and infinities aren't decimals
		}
		return value.OfDecimal(text)
	case schema.Boolean:
		return value.OfBool(text == "t")
	case schema.Date:
		if t, err := time.Parse("2006-01-02 15:04:05Z07", text); err == nil {
			return value.OfTime(t)
		}
		if t, err := time.Parse("2006-01-02 15:04:05", text); err == nil {
			return value.OfTime(t)
		}
	case schema.Day:
		if t, err := time.Parse(time.DateOnly, text); err == nil {
			return value.OfDay(t.UnixMicro())
		}
	case schema.JSON, schema.Array:
		return sqldriver.JSON(text)
	}
	return sqldriver.String(text)
}

// valueOf converts raw, PostgreSQL's text, to a value of the column's field. A nil raw is null.
func valueOf(c *sqlgen.Column, raw []byte) value.Value {
	switch {
	case raw == nil:
		return value.Value{}
	case c.Field.Type == schema.Bytes:
		return bytesOf(raw)
	case c.Field.Type == schema.Integer:
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil { // avoids a copy of the digits
			return value.OfInt(n)
		}
	case c.Field.Type == schema.Date:
		if micros, ok := instantOf(raw); ok {
			return value.OfDate(micros)
		}
	}
	return textValue(c.Field, string(raw))
}

// instantOf reads "2006-01-02 15:04:05.999999+00", the form of most timestamps in a session in UTC, as microseconds
// since 1970. It returns false for other forms, which time.Parse reads.
func instantOf(raw []byte) (micros int64, ok bool) {
	const form = "dddd-dd-dd dd:dd:dd"
	if len(raw) < len(form) {
		return 0, false
	}
	var numbers [6]int
	field := 0
	for i, c := range raw[:len(form)] {
		switch {
		case form[i] != 'd' && c != form[i], form[i] == 'd' && (c < '0' || c > '9'):
			return 0, false
		case form[i] != 'd':
			field++
		default:
			numbers[field] = numbers[field]*10 + int(c-'0')
		}
	}
	rest, fraction := raw[len(form):], int64(0)
	if len(rest) > 0 && rest[0] == '.' {
		digits := 0
		for rest = rest[1:]; len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9'; rest = rest[1:] {
			fraction, digits = fraction*10+int64(rest[0]-'0'), digits+1
		}
		if digits > 6 {
			return 0, false
		}
		for ; digits < 6; digits++ {
			fraction *= 10
		}
	}
	if zone := string(rest); zone != "+00" && zone != "" {
		return 0, false
	}
	t := time.Date(numbers[0], time.Month(numbers[1]), numbers[2], numbers[3], numbers[4], numbers[5], 0, time.UTC)
	if int(t.Month()) != numbers[1] || t.Day() != numbers[2] || t.Hour() != numbers[3] || numbers[5] > 59 || numbers[4] > 59 {
		return 0, false
	}
	return t.UnixMicro() + fraction, true
}

// bytesOf decodes the hex form of a bytea: \x6869.
func bytesOf(text []byte) value.Value {
	out := make([]byte, 0, len(text)/2)
	digit := func(c byte) byte {
		if c >= 'a' {
			return c - 'a' + 10
		}
		return c - '0'
	}
	for i := 2; i+1 < len(text); i += 2 {
		out = append(out, digit(text[i])<<4|digit(text[i+1]))
	}
	return value.OfBytes(string(out))
}
