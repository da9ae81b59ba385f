package problem

import (
	"strings"
	"testing"
)

// TestPanicked checks that runtime errors are reported, and other panic values are not.
func TestPanicked(t *testing.T) {
	caught := func(f func()) (p *Error) {
		defer func() { p = PanicError(recover()) }()
		f()
		return nil
	}
	var none []int
	for _, tt := range []struct {
		f     func()
		first string
	}{
		{func() { _ = none[3] }, "panic: runtime error: index out of range [3] with length 0"},
		{func() { panic("the value swordfish") }, "panic: string"},
	} {
		p := caught(tt.f)
		text := p.Err.Error()
		if first, _, _ := strings.Cut(text, "\n"); first != tt.first || strings.Contains(text, "swordfish") || !strings.Contains(text, "panic_test.go") {
			t.Errorf("%q, want %q first, with the stack", text, tt.first)
		}
		if p.Error() != "internal_error: Internal error" || p.Kind != "panic" {
			t.Errorf("%v %s", p, p.Kind)
		}
	}
}
