package sqldriver

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// classes are all classes of SQLSTATE that PostgreSQL and MariaDB have.
const classes = "00 01 02 03 07 08 09 0A 0B 0F 0K 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 45 53 54 55 57 58 70 72 F0 HV HY P0 XA XX"

// TestStates checks that every class of SQLSTATE has one meaning. It also checks the callers' errors for common
// states.
func TestStates(t *testing.T) {
	for _, class := range strings.Fields(classes) {
		if _, ok := States[class]; !ok {
			t.Errorf("class %s has no meaning", class)
		}
	}
	for state := range States {
		if len(state) != 2 && len(state) != 5 || !strings.Contains(classes, state[:2]) {
			t.Errorf("%s is no class or state that is known", state)
		}
	}
	for m := Broken; m <= ReadOnly; m++ {
		if is := meanings[m]; is.code == "" || is.detail == "" || is.suggestion == "" {
			t.Errorf("meaning %d says %+v", m, is)
		}
	}
	for _, tt := range []struct {
		state, code string
		later       bool
	}{
		{"22P02", "upstream_error", false}, {"22003", "upstream_error", false}, {"22P05", "unsupported_by_source", false}, {"22008", "invalid_argument", false}, {"22021", "invalid_argument", false},
		{"42501", "upstream_error", false}, {"42P01", "upstream_error", false}, {"42703", "upstream_error", false}, {"55000", "upstream_error", false},
		{"28P01", "upstream_error", false}, {"3D000", "upstream_error", false}, {"25006", "upstream_error", false}, {"XX000", "upstream_error", false},
		{"XX001", "upstream_error", false}, {"58030", "upstream_error", false}, {"0A000", "unsupported_by_source", false}, {"54001", "budget_exceeded", false},
		{"P0001", "upstream_error", false}, {"23505", "upstream_error", false}, {"42601", "upstream_error", false}, {"ZZ999", "upstream_error", false}, {"", "upstream_error", false},
		{"57014", "timeout", true}, {"57P01", "upstream_error", true}, {"57P03", "upstream_error", true}, {"53300", "upstream_error", true}, {"08006", "upstream_error", true},
		{"40001", "upstream_error", true}, {"40P01", "upstream_error", true}, {"55P03", "upstream_error", true}, {"70100", "timeout", true}, {"72000", "upstream_error", true},
	} {
		e := Errors{Plain: func(error) string { return "a state" }, Meaning: func(error) (Meaning, bool) { return StateOf(tt.state), true }}
		p := problem.Of(e.Refuse(t.Context(), errState(tt.state)))
		if string(p.Code) != tt.code || p.Retryable() != tt.later {
			t.Errorf("%s is %s, later %v; want %s, %v", tt.state, p.Code, p.Retryable(), tt.code, tt.later)
		}
		if text := p.Text(); tt.state != "" && strings.Contains(text, tt.state) || strings.Contains(text, "may succeed later") != tt.later {
			t.Errorf("%s: %s", tt.state, text)
		}
	}
}

type errState string

func (e errState) Error() string { return "the secret of " + string(e) }
