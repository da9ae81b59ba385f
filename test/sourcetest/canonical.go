package sourcetest

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/test/sourcetest/canonical"
	"github.com/bailiwick-dev/bailiwick/value"
)

func canonicalLine(row value.Row) string {
	out := make(value.Row, len(row))
	for i, v := range row {
		out[i] = canonical.Of(v)
	}
	return line(out)
}

// canonicalText returns the same form of a line whose last value may be an object.
func canonicalText(t *testing.T, text string) string {
	t.Helper()
	at := strings.IndexByte(text, '{')
	if at < 0 {
		return text
	}
	v, err := value.Read([]byte(text[at:]), 0)
	if err != nil {
		t.Fatal(err)
	}
	return text[:at] + canonical.Of(v).String()
}
