package postgres

import (
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// textValue parses the text that PostgreSQL writes for a value of a field's type. Text that can't be parsed as the type
// (an infinite date) is shown as it is.
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
			return value.OfFloat(x) // NaN and the infinities aren't decimals
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

// valueOf converts raw, PostgreSQL's text, to a value of the column's field; nil is null.
func valueOf(c *sqlgen.Column, raw []byte) value.Value {
	switch {
	case raw == nil:
		return value.Value{}
	case c.Field.Type == schema.Bytes:
		return bytesOf(raw)
	}
	return textValue(c.Field, string(raw))
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
