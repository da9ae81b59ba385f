// Command mutate tests the tests: it makes many small changes to a package, one at a time, and lists those that no test
// notices.
//
//	go run ./scripts/mutate [-tests DIR[:RUN],…] [-every N] [-only N,…] [-files NAME,…] [-at N] [-list] PACKAGE…
//
// All mutants are switches in a single build (see weave), so that a run needs no compilation. First each test of the
// packages and of -tests runs alone, without a mutant, and notes which places it reaches. Then each mutant is run with
// the tests that reach its place, until one fails or hangs. First comes the test that killed the mutant before. Then
// come the others of a suite at once, the fastest suite first. It exits with 1 if fewer than 95 % of the mutants are
// killed.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// wanted is the percentage of mutants that the tests must kill.
const wanted = 95

func main() {
	if err := command(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command runs the command with arguments, and prints to out.
func command(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	tests := flags.String("tests", "", "further tests, apart by commas: a folder, and after a colon which of its tests")
	patience := flags.Duration("patience", time.Minute, "how long one run of tests may take")
	list := flags.Bool("list", false, "list the mutants and run nothing")
	every := flags.Int("every", 1, "test only each n-th mutant, as a sample")
	files := flags.String("files", "", "change only files of these names, apart by commas")
	only := flags.String("only", "", "test only the mutants of these numbers, apart by commas; -list has them")
	at := flags.Int("at", runtime.NumCPU(), "test so many mutants at once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return run(flags.Args(), options{split(*tests), *patience, max(1, *every), split(*only), max(1, *at), *list, split(*files), out})
}

func split(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == ',' }) }

// options are the values of the flags.
type options struct {
	tests    []string
	patience time.Duration
	every    int
	only     []string
	at       int
	list     bool
	files    []string // empty for all
	out      io.Writer
}

// run makes the mutants of packages, and runs the tests with each, or with each of so many.
func run(packages []string, o options) error {
	if len(packages) == 0 {
		return errors.New("name a package, such as policy")
	}
	work, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // a folder that stays is no harm
	var all []mutant
	overlay := map[string]string{}
	for _, dir := range packages {
		found, err := weave(dir, o.files, len(all), work, overlay)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if o.list {
		for i, m := range all {
			fmt.Fprintf(o.out, "%5d %s\n", i+1, m)
		}
		return nil
	}
	suites, err := build(slices.Concat(packages, o.tests), len(packages), work, overlay)
	if err != nil {
		return err
	}
	for _, s := range suites {
		if err := s.survey(filepath.Join(work, "reached"), 10*o.patience); err != nil {
			return err
		}
	}
	return report(try(all, suites, o), o.out)
}

// report prints how many mutants of each package were killed, and fails when they are too few.
func report(tried []trial, out io.Writer) error {
	type count struct{ tested, killed int }
	counts, order := map[string]count{}, []string(nil)
	for _, t := range tried {
		for _, dir := range []string{filepath.Dir(t.file), "all"} {
			c, known := counts[dir]
			if !known {
				order = append(order, dir)
			}
			c.tested++
			if t.killed {
				c.killed++
			}
			counts[dir] = c
		}
	}
	for _, dir := range order {
		c := counts[dir]
		fmt.Fprintf(out, "%s: %d mutants, %d killed (%.1f %%)\n", dir, c.tested, c.killed, 100*float64(c.killed)/float64(c.tested))
	}
	if len(tried) == 0 {
		return errors.New("no mutant was tested")
	}
	if c := counts["all"]; c.killed*100 < wanted*c.tested {
		return fmt.Errorf("less than %d %% of the mutants are killed", wanted)
	}
	return nil
}

// build builds the tests of each name, "folder" or "folder:run", with the mutants. Those from index further on are used
// for all packages.
func build(names []string, further int, work string, overlay map[string]string) ([]*suite, error) {
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	var suites []*suite
	for i, name := range names {
		dir, which, _ := strings.Cut(name, ":")
		dir = filepath.Clean(dir)
		s := &suite{dir: dir, binary: filepath.Join(work, fmt.Sprintf("suite%d.test", i)), run: which, further: i >= further}
		out, err := exec.Command("go", "test", "-vet=off", "-c", "-overlay", file, "-o", s.binary, "./"+dir).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("build the tests of %s: %w\n%s", dir, err, out)
		}
		if _, err := os.Stat(s.binary); err == nil { // a package without tests has no binary
			suites = append(suites, s)
		}
	}
	return suites, nil
}
