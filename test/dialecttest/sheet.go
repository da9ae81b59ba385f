// Package dialecttest writes the texts of a dialect to golden files. Only tests import it.
package dialecttest

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
)

// A Sheet is texts under their names. It is the scope in which they are written. Values are shown as <v>. A text that
// may be repeated is named a1 and so on, unless it is one letter. The named texts are listed after a text.
type Sheet struct {
	sqlgen.Scope
	strings.Builder
	names   []string
	aliases int
}

// Arg implements sqlgen.Scope.
func (b *Sheet) Arg(v any, _ string) string { return fmt.Sprintf("<%v>", v) }

// Alias implements sqlgen.Scope.
func (b *Sheet) Alias(prefix string) string {
	b.aliases++
	return fmt.Sprint(prefix, b.aliases)
}

// Atom implements sqlgen.Scope.
func (b *Sheet) Atom(x string) string {
	if len(x) == 1 || regexp.MustCompile("^a[0-9]+$").MatchString(x) {
		return x
	}
	i := slices.Index(b.names, x)
	if i < 0 {
		i, b.names = len(b.names), append(b.names, x)
	}
	return fmt.Sprintf("a%d", i+1)
}

// Line writes a named text, and the texts that it repeats. A text that refuses, see sqlgen.Unwritable, is in brackets.
func (b *Sheet) Line(name, text string) {
	text = strings.NewReplacer("\x00!", "[", "\x00", "]").Replace(text)
	fmt.Fprintf(b, "%-24s  %s\n", name, text)
	for i, x := range b.names {
		fmt.Fprintf(b, "%24s  %s\n", fmt.Sprintf("a%d", i+1), x)
	}
	b.names, b.aliases = nil, 0
}

// Part begins a part of the sheet.
func (b *Sheet) Part(name string) { b.WriteString("\n# " + name + "\n") }

// Text returns a function that returns a text, whose writing can't fail in the test.
func Text(t *testing.T) func(string, error) string {
	return func(x string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// Golden compares the sheet with testdata/texts.txt, or writes that file if the tests run with -update.
func (b *Sheet) Golden(t *testing.T) {
	t.Helper()
	const file = "testdata/texts.txt"
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(golden), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("run with -update when this is right (-want +got):\n%s", diff)
	}
}

// WithArguments returns a statement followed by its arguments.
func WithArguments(text string, args []any) string {
	for _, a := range args {
		text += fmt.Sprintf(" <%v>", a)
	}
	return text
}
