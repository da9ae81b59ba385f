package statements

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
)

//go:embed forms.txt
var written string

// Forms tests a source with the forms in forms.txt. Each must have the answer in the file. A refusal must say what to
// write instead.
func Forms(t *testing.T, o sourcetest.Open) {
	s := open(t, o)
	all := read(t, written)
	refusals := 0
	for i := range all {
		st := &all[i]
		got, err := s.ask(t.Context(), st.text)
		if err != nil {
			got = strings.Split(errorText(err), "\n")
			if refusals++; !mends(got) {
				t.Errorf("%s\nthe refusal says nothing that could be written:\n%s", st.text, errorText(err))
			}
		}
		if strings.Join(got, "\n") != strings.Join(st.rows, "\n") && !*update {
			t.Errorf("%s\n got %s\nwant %s", st.text, strings.Join(got, "\n     "), strings.Join(st.rows, "\n     "))
		}
		st.rows = got
	}
	t.Logf("%d forms: %d are answered, %d are refused with what to write", len(all), len(all)-refusals, refusals)
	if len(all) < 141 {
		t.Errorf("%d forms, want at least 141", len(all))
	}
	if *update {
		write(t, "forms.txt", written, all)
	}
}

// mends reports whether a refusal helps the caller. It must contain a suggestion, a similar word, or a second part
// with a next step or the known names.
func mends(lines []string) bool {
	for _, l := range lines[1:] {
		if strings.HasPrefix(l, "→ ") || strings.HasPrefix(l, "near: ") {
			return true
		}
	}
	return strings.Contains(lines[0], ". ") || strings.Contains(lines[0], " takes ")
}
