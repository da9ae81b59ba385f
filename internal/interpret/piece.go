package interpret

import (
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// piece returns v, or a piece of a text, of JSON as it is written, or of bytes, or the number of characters or bytes.
func piece(v value.Value, p *policy.Piece) value.Value {
	if p == nil || v.IsNull() {
		return v
	}
	text, runes := v.Text(), []rune(v.String())
	n := len(runes)
	if v.Kind() == value.Bytes {
		n = len(text)
	}
	from := min(int(p.Offset), n)
	to := min(n, from+int(p.Length))
	if p.Size {
		return value.OfInt(int64(n))
	} else if v.Kind() == value.Bytes {
		return value.OfBytes(text[from:to])
	}
	return value.OfString(string(runes[from:to]))
}
