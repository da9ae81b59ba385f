package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A suite is a test binary that contains all mutants.
type suite struct {
	dir, binary, run string
	further          bool // used for the mutants of all packages
	tests            []test
	took             time.Duration // by all of its tests
}

// A test is one test of a suite.
type test struct {
	name    string
	took    time.Duration
	reaches map[int]bool // the mutants whose places it comes to
}

// survey runs the tests of the suite one by one, without a mutant, and notes the places that each reaches. All of them
// must pass.
func (s *suite) survey(file string, patience time.Duration) error {
	top, _, _ := strings.Cut(s.run, "/")
	out, err := s.start(0, "", patience, "-test.list", cmp.Or(top, "."))
	if err != nil {
		return fmt.Errorf("list the tests of %s: %w\n%s", s.dir, err, out)
	}
	for _, name := range strings.Fields(out) {
		if strings.HasPrefix(name, "Benchmark") {
			continue
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		start := time.Now()
		if out, err := s.start(0, file, patience, "-test.run", s.only(name), "-test.short"); err != nil {
			return fmt.Errorf("%s of %s fails without a mutant: %w\n%s", name, s.dir, err, out)
		}
		t := test{name, time.Since(start), map[int]bool{}}
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, n := range strings.Fields(string(text)) {
			i, err := strconv.Atoi(n)
			if err != nil {
				return err
			}
			t.reaches[i] = true
		}
		s.took += t.took
		s.tests = append(s.tests, t)
	}
	return nil
}

// only returns a pattern that matches only these tests, and below them what the suite asks for.
func (s *suite) only(names ...string) string {
	pattern := "^(" + strings.Join(names, "|") + ")$"
	if _, below, ok := strings.Cut(s.run, "/"); ok {
		pattern += "/" + below
	}
	return pattern
}

// sees reports whether the suite is used for the mutants of this file.
func (s *suite) sees(m mutant) bool { return s.further || s.dir == filepath.Dir(m.file) }

// reaching returns those tests of the suite, or the one with this name, that come to the place of a mutant, and how long
// they take.
func (s *suite) reaching(mutant int, name string) (names []string, took time.Duration) {
	for _, t := range s.tests {
		if t.reaches[mutant] && (name == "" || t.name == name) {
			names, took = append(names, t.name), took+t.took
		}
	}
	return names, took
}

// kills runs some tests with one mutant. took is their time without a mutant. It reports whether one fails or takes far
// longer, and which one if that is known.
func (s *suite) kills(mutant int, names []string, took, patience time.Duration) (bool, string) {
	patience = min(patience, 5*time.Second+20*took)
	out, err := s.start(mutant, "", patience, "-test.run", s.only(names...), "-test.failfast", "-test.short")
	if err == nil {
		return false, ""
	}
	_, failed, _ := strings.Cut(out, "--- FAIL: ")
	name, _, _ := strings.Cut(failed, " ")
	name, _, _ = strings.Cut(name, "/")
	return true, name
}

// start runs the binary with one mutant enabled, 0 for none, and returns what it writes. The mutants whose places it
// reaches go into the file called reached, if there is one.
func (s *suite) start(mutant int, reached string, patience time.Duration, flags ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// An endless loop may exhaust memory. No test needs 8 GiB of address space.
	c := exec.CommandContext(ctx, "sh", append([]string{"-c", `ulimit -v 8388608 && exec "$0" "$@"`, s.binary}, flags...)...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", variable, mutant), trace+"="+reached)
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	return string(out), err
}
