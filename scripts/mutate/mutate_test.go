package main

import (
	"fmt"
	"strings"
	"testing"
)

// The mutants of testdata/known, as they are listed.
const (
	mutants = `    1 testdata/known/known.go:12: never: n > most
    2 testdata/known/known.go:12: always: n > most
    3 testdata/known/known.go:12: or equal: n > most
    4 testdata/known/known.go:21: never: a && b
    5 testdata/known/known.go:21: always: a && b
    6 testdata/known/known.go:23: never: a
    7 testdata/known/known.go:23: always: a
    8 testdata/known/known.go:21: left of && out: a
    9 testdata/known/known.go:21: right of && out: b
   10 testdata/known/known.go:31: out: n++
   11 testdata/known/known.go:37: never: n > 0
   12 testdata/known/known.go:37: or equal: n > 0
   13 testdata/known/known.go:38: out: sum += n
   14 testdata/known/known.go:39: out: n--
`
	equal     = "SURVIVES 3 testdata/known/known.go:12: or equal: n > most\n"
	zero      = "SURVIVES 12 testdata/known/known.go:37: or equal: n > 0\n"
	alone     = "UNREACHED 10 testdata/known/known.go:31: out: n++\n"
	tooFew    = "error: less than 95 % of the mutants are killed\n"
	unnoticed = `SURVIVES 4 testdata/known/known.go:21: never: a && b
SURVIVES 5 testdata/known/known.go:21: always: a && b
UNREACHED 6 testdata/known/known.go:23: never: a
UNREACHED 7 testdata/known/known.go:23: always: a
SURVIVES 8 testdata/known/known.go:21: left of && out: a
SURVIVES 9 testdata/known/known.go:21: right of && out: b
`
	// unneither is the rest of those with TestNeither.
	unneither = `SURVIVES 4 testdata/known/known.go:21: never: a && b
SURVIVES 6 testdata/known/known.go:23: never: a
SURVIVES 9 testdata/known/known.go:21: right of && out: b
`
)

// counts returns the last lines of a run over testdata/known.
func counts(text string) string { return "testdata/known: " + text + "\nall: " + text + "\n" }

// TestMutants runs the command over packages with a known result for each mutant. There are mutants that a test
// notices, that only another package's tests notice, that hang, that no test notices or reaches, and that do what the
// code does.
func TestMutants(t *testing.T) {
	const user = "-tests testdata/user "
	for _, tt := range []struct {
		args, want string
	}{
		{"-list testdata/known", mutants},
		{"testdata/known", equal + unnoticed + alone + zero + counts("14 mutants, 5 killed (35.7 %)") + tooFew},
		{"-tests testdata/user:TestNeither testdata/known", equal + unneither + alone + zero + counts("14 mutants, 8 killed (57.1 %)") + tooFew},
		{user + "-only 1,2,4,5,6,7,8,9,11,13,14 testdata/known", counts("11 mutants, 11 killed (100.0 %)")},
		{user + "-every 3 testdata/known", counts("5 mutants, 5 killed (100.0 %)")},
		{"-only 15 testdata/known", "error: no mutant was tested\n"},
		{"testdata/failing", "error: TestNot of testdata/failing fails without a mutant: exit status 1\n"},
		{"testdata/user", "error: there is no package in testdata/user\n"},
		{"", "error: name a package, such as policy\n"},
	} {
		args := append([]string{"-at", "1", "-patience", "1s"}, strings.Fields(tt.args)...)
		var out strings.Builder
		if err := command(args, &out); err != nil {
			what, _, _ := strings.Cut(err.Error(), "--- FAIL") // the description of a test by itself
			fmt.Fprintln(&out, "error:", strings.TrimSpace(what))
		}
		if out.String() != tt.want {
			t.Errorf("mutate %s:\n%s\nwant:\n%s", tt.args, out.String(), tt.want)
		}
	}
}
