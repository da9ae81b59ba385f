// Command mutate tests the tests: it makes many small changes to a package, one at a time, and lists those that no test
// notices.
//
//	go run ./scripts/mutate [-tests DIR[:RUN],…] [-every N] [-list] PACKAGE…
//
// All mutants are switches in a single build (see weave), so that a run needs no compilation. Each is tested with the
// tests of its own package and those of -tests, the fastest first, until one fails or hangs. It exits with 1 if fewer
// than 95 % of the mutants are killed.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// wanted is the percentage of mutants that the tests must kill.
const wanted = 95

func main() {
	tests := flag.String("tests", "", "further tests, apart by commas: a folder, and after a colon which of its tests")
	patience := flag.Duration("patience", time.Minute, "how long one run of tests may take")
	list := flag.Bool("list", false, "list the mutants and run nothing")
	every := flag.Int("every", 1, "test only each n-th mutant, as a sample")
	flag.Parse()
	if err := run(flag.Args(), split(*tests), *patience, max(1, *every), *list); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func split(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == ',' }) }

// A suite is a test binary that contains all mutants.
type suite struct {
	dir, binary, run string
	further          bool // used for the mutants of all packages
	took             time.Duration
}

// run makes the mutants of packages, and runs the tests with each, or with each of so many.
func run(packages, tests []string, patience time.Duration, every int, list bool) error {
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
		found, err := weave(dir, len(all), work, overlay)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if list {
		for i, m := range all {
			fmt.Printf("%5d %s\n", i+1, m)
		}
		return nil
	}
	suites, err := build(slices.Concat(packages, tests), len(packages), work, overlay)
	if err != nil {
		return err
	}
	for i := range suites {
		s, start := &suites[i], time.Now()
		if killed, out := s.kills(0, 10*patience); killed {
			return fmt.Errorf("%s fails without a mutant:\n%s", s.dir, out)
		}
		s.took = time.Since(start)
	}
	slices.SortStableFunc(suites, func(a, b suite) int { return cmp.Compare(a.took, b.took) })
	tested, killed := try(all, suites, every, patience)
	fmt.Printf("%d mutants of %d, %d killed (%.1f %%)\n", tested, len(all), killed, 100*float64(killed)/float64(max(1, tested)))
	if killed*100 < wanted*tested {
		return fmt.Errorf("less than %d %% of the mutants are killed", wanted)
	}
	return nil
}

// try runs the suites with each n-th mutant, lists those that survive, and returns how many it tested and how many were killed.
func try(all []mutant, suites []suite, every int, patience time.Duration) (tested, killed int) {
	for i, m := range all {
		if i%every != every/2 {
			continue
		}
		tested++
		alive := true
		for _, s := range suites {
			if !s.further && s.dir != filepath.Dir(m.file) {
				continue
			}
			if dead, _ := s.kills(i+1, patience); dead {
				alive = false
				break
			}
		}
		if alive {
			fmt.Printf("SURVIVES %d %s\n", i+1, m)
		} else {
			killed++
		}
	}
	return tested, killed
}

// build builds the tests of each name, "folder" or "folder:run", with the mutants. Those from index further on are used
// for all packages.
func build(names []string, further int, work string, overlay map[string]string) ([]suite, error) {
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	var suites []suite
	for i, name := range names {
		dir, which, _ := strings.Cut(name, ":")
		dir = filepath.Clean(dir)
		s := suite{dir: dir, binary: filepath.Join(work, fmt.Sprintf("suite%d.test", i)), run: which, further: i >= further}
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

// kills runs the tests with one mutant enabled, 0 for none, and reports whether they fail or hang.
func (s suite) kills(mutant int, patience time.Duration) (bool, string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// An endless loop may exhaust memory; no test needs 8 GiB of address space.
	c := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 8388608 && exec "$0" "$@"`, s.binary, "-test.run", s.run, "-test.failfast", "-test.short")
	c.Dir = s.dir
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", variable, mutant))
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	return err != nil, string(out)
}
