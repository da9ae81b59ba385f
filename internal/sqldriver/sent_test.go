package sqldriver

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestResume continues answers after two sent rows, in the same order. A write in between makes Resume fail.
func TestResume(t *testing.T) {
	broken := errors.New("broken")
	row := func(n int) value.Row { return value.Row{value.OfInt(int64(n)), value.OfString(strings.Repeat("x", n))} }
	for _, tt := range []struct {
		again []int // -1 is an error
		want  string
	}{
		{[]int{1, 2, 3, 4}, "3 4"},
		{[]int{1, 2}, ""},
		{[]int{1, 3, 4}, "conflict"},
		{[]int{0, 1, 2, 3}, "conflict"},
		{[]int{2, 1, 3}, "conflict"},
		{[]int{1}, "conflict"},
		{nil, "conflict"},
		{[]int{1, -1}, "broken"},
		{[]int{1, 2, 3, -1}, "3 broken"},
	} {
		left := Sending()
		left.Add(row(1))
		left.Add(row(2))
		var got []string
		left.Resume(func(yield func(value.Row, error) bool) {
			for _, n := range tt.again {
				if n < 0 && !yield(nil, broken) || n >= 0 && !yield(row(n), nil) {
					return
				}
			}
		}, func(row value.Row, err error) bool {
			switch {
			case err == broken:
				got = append(got, "broken")
			case err != nil:
				got = append(got, string(problem.CodeOf(err)))
			default:
				got = append(got, fmt.Sprint(row[0]))
			}
			return err == nil
		})
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%v: %q, want %q", tt.again, text, tt.want)
		}
	}
}

// TestSentValues hashes rows that differ in one value, in its kind or in its place. All of them must have different
// hashes.
func TestSentValues(t *testing.T) {
	values := []value.Value{{}, value.OfBool(false), value.OfInt(0), value.OfInt(1), value.OfInt(-1), value.OfFloat(0.5), value.OfDecimal("0.5"), value.OfString(""), value.OfString("0"),
		value.OfString("1"), value.OfDate(0), value.OfDate(1), value.OfDay(0), value.OfBytes("0"), value.OfArray([]value.Value{value.OfInt(0)}), value.OfCut(1), value.OfCut(2)}
	seed, seen := Sending(), map[uint64]string{}
	for i, a := range values {
		for j, b := range values {
			s := Sent{seed: seed.seed}
			s.Add(value.Row{a, b})
			at := fmt.Sprint(i, ",", j)
			if before, ok := seen[s.sum]; ok && a.Kind() != value.Decimal && b.Kind() != value.Decimal {
				t.Errorf("rows %s and %s are the same", before, at)
			}
			seen[s.sum] = at
		}
	}
}
