// Command testcount summarizes the output of "go test -json". It prints a line for each package, the full output of
// failures, the tests that took longest, and every skipped test with its reason. The last line is "N passed, N failed,
// N skipped".
//
// scripts/test pipes into it. Tests and subtests each count once. A package that fails without a failing test (it
// doesn't build, or exits early) counts as one failure, and so does a stream without any test. It exits with 1 on any
// failure.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// An event is one line of the stream, as described by "go doc test2json".
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

// A pack holds the state of one package until it ends.
type pack struct {
	output []event
	state  map[string]string // by test: run, pass, fail or skip
	order  []string
	cached bool
}

func main() {
	if !report(os.Stdin, os.Stdout) {
		os.Exit(1)
	}
}

// A counter sums up a stream.
type counter struct {
	out                     io.Writer
	packs                   map[string]*pack
	builds                  map[string][]string // by import path: the compiler's output
	skips                   []string
	slow                    []event // the ends of tests that took longer than patience
	passed, failed, skipped int
}

// patience is how many seconds a test, with its subtests, takes before it is listed. most is how many are listed.
const patience, most = 5, 25

// report prints the summary of stream r to w, and reports whether there was no failure.
func report(r io.Reader, w io.Writer) bool {
	c := &counter{out: w, packs: map[string]*pack{}, builds: map[string][]string{}}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if len(line) > 0 && (json.Unmarshal(line, &e) != nil || e.Action == "") {
			fmt.Fprintf(w, "%s\n", strings.TrimSuffix(string(line), "\n"))
		} else if len(line) > 0 {
			c.take(e)
		}
		if err != nil {
			break
		}
	}
	for _, name := range c.openPackages() {
		fmt.Fprintf(w, "the stream ends before %s does\n", name)
		c.end(event{Action: "fail", Package: name})
	}
	if c.passed+c.failed+c.skipped == 0 {
		fmt.Fprintln(w, "no test was run")
		c.failed++
	}
	slices.SortFunc(c.slow, func(a, b event) int {
		return cmp.Or(cmp.Compare(b.Elapsed, a.Elapsed), cmp.Compare(a.Package+a.Test, b.Package+b.Test))
	})
	for _, e := range c.slow[:min(most, len(c.slow))] {
		fmt.Fprintf(w, "%7.2fs %s %s\n", e.Elapsed, e.Package, e.Test)
	}
	slices.Sort(c.skips)
	for _, s := range c.skips {
		fmt.Fprintln(w, s)
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", c.passed, c.failed, c.skipped)
	return c.failed == 0
}

func (c *counter) openPackages() []string {
	var names []string
	for name := range c.packs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (c *counter) take(e event) {
	if e.Action == "build-output" {
		c.builds[e.ImportPath] = append(c.builds[e.ImportPath], e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	p := c.packs[e.Package]
	if p == nil {
		p = &pack{state: map[string]string{}}
		c.packs[e.Package] = p
	}
	switch e.Action {
	case "output":
		p.output = append(p.output, e)
		p.cached = p.cached || e.Test == "" && strings.Contains(e.Output, "\t(cached)")
	case "run", "pass", "fail", "skip":
		if e.Test == "" {
			if e.Action != "run" {
				c.end(e)
			}
			return
		}
		if p.state[e.Test] == "" {
			p.order = append(p.order, e.Test)
		}
		p.state[e.Test] = e.Action
		if e.Elapsed >= patience && !strings.Contains(e.Test, "/") {
			c.slow = append(c.slow, e)
		}
		if e.Action == "skip" {
			c.skips = append(c.skips, fmt.Sprintf("skipped %s %s: %s", e.Package, e.Test, p.reason(e.Test)))
		}
		if e.Action == "pass" || e.Action == "skip" {
			p.output = slices.DeleteFunc(p.output, func(o event) bool { return o.Test == e.Test })
		}
	}
}

// reason returns the output of a skipped test.
func (p *pack) reason(test string) string {
	var said []string
	for _, o := range p.output {
		line := strings.TrimSpace(o.Output)
		if o.Test == test && line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			said = append(said, line)
		}
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}

// end counts and prints a package that has ended.
func (c *counter) end(e event) {
	p := c.packs[e.Package]
	delete(c.packs, e.Package)
	counted := c.failed
	for _, test := range p.order {
		switch p.state[test] {
		case "pass":
			c.passed++
		case "skip":
			c.skipped++
		default: // a test that has not ended was interrupted by a panic or a timeout
			if e.Action == "fail" || p.state[test] == "fail" {
				c.failed++
			}
		}
	}
	if e.Action == "fail" {
		if c.failed == counted {
			c.failed++
		}
		for _, line := range c.builds[e.FailedBuild] {
			fmt.Fprint(c.out, line)
		}
		for _, o := range p.output {
			fmt.Fprint(c.out, o.Output)
		}
	}
	word := map[string]string{"pass": "ok", "fail": "FAIL", "skip": "no tests"}[e.Action]
	elapsed := fmt.Sprintf("%.2fs", e.Elapsed)
	if p.cached {
		elapsed = "cached"
	}
	fmt.Fprintf(c.out, "%-8s %s %s\n", word, e.Package, elapsed)
}
