// Command benchtable reads the output of "go test -bench" and writes it as tables into a Markdown file, with the
// machine, the command and the date. The tables stand between the lines <!-- figures --> and <!-- /figures -->.
//
// scripts/bench pipes into it. For a benchmark that ran several times, the median of each figure is shown. Benchmarks
// whose names differ only in the last part are a group. In a group that begins with raw or bare, times are also shown
// as a multiple of that benchmark's.
package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: benchtable FILE COMMAND <OUTPUT")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}

const begin, end = "<!-- figures -->\n", "<!-- /figures -->\n"

func write(file, command string, in io.Reader) error {
	doc, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(doc), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no lines %q and %q", file, begin, end)
	}
	r, err := read(in)
	if err != nil {
		return err
	}
	out := before + begin + machine(r, command) + r.tables() + "\n" + end + after
	return os.WriteFile(file, []byte(out), 0o644)
}

// A report is the contents of one output.
type report struct {
	cpu     string
	notes   []string  // load, databases and what was left out, without duplicates
	results []*result // in the order of their first runs
	failed  bool
}

// A result holds all runs of one benchmark.
type result struct {
	name    string
	figures map[string][]float64 // by unit
	units   []string             // in order of appearance
}

// line matches a benchmark's result: its name, the processors, the number of runs, and pairs of figure and unit.
var line = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

func read(in io.Reader) (*report, error) {
	r := &report{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text := lines.Text()
		if cpu, ok := strings.CutPrefix(text, "cpu: "); ok {
			r.cpu = cpu
		}
		if strings.HasPrefix(text, "FAIL") || strings.HasPrefix(text, "--- FAIL") || strings.HasPrefix(text, "panic:") {
			r.failed = true
		}
		for _, mark := range []string{"load: ", "database: ", "LEFT OUT: "} {
			if _, note, ok := strings.Cut(text, mark); ok && !slices.Contains(r.notes, mark+note) {
				r.notes = append(r.notes, mark+note)
			}
		}
		if m := line.FindStringSubmatch(text); m != nil {
			if err := r.add(m[1], strings.Fields(m[2])); err != nil {
				return nil, fmt.Errorf("%q: %w", text, err)
			}
		}
	}
	switch {
	case lines.Err() != nil:
		return nil, lines.Err()
	case r.failed:
		return nil, errors.New("a benchmark failed. The file stays as it was")
	case len(r.results) == 0:
		return nil, errors.New("no benchmark has run. The file stays as it was")
	}
	return r, nil
}

func (r *report) add(name string, pairs []string) error {
	i := slices.IndexFunc(r.results, func(x *result) bool { return x.name == name })
	if i < 0 {
		i = len(r.results)
		r.results = append(r.results, &result{name: name, figures: map[string][]float64{}})
	}
	x := r.results[i]
	for ; len(pairs) >= 2; pairs = pairs[2:] {
		n, err := strconv.ParseFloat(pairs[0], 64)
		if err != nil {
			return err
		}
		unit := pairs[1]
		if x.figures[unit] == nil {
			x.units = append(x.units, unit)
		}
		x.figures[unit] = append(x.figures[unit], n)
	}
	return nil
}

// median returns the median of a unit's figures, and whether there are any.
func (x *result) median(unit string) (float64, bool) {
	all := slices.Sorted(slices.Values(x.figures[unit]))
	if len(all) == 0 {
		return 0, false
	}
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2, true
}

// machine describes the machine, the command and the date.
func machine(r *report, command string) string {
	memory := "unknown"
	if info, err := os.ReadFile("/proc/meminfo"); err == nil {
		if f := strings.Fields(string(info)); len(f) > 1 {
			if kib, err := strconv.Atoi(f[1]); err == nil {
				memory = fmt.Sprintf("%.0f GiB", float64(kib)/(1<<20))
			}
		}
	}
	runs := 0
	for _, all := range r.results[0].figures {
		runs = max(runs, len(all))
	}
	out := fmt.Sprintf("- machine: %d cores of %s, %s of memory, %s/%s\n- Go: %s\n", runtime.NumCPU(), cmp.Or(r.cpu, "an unknown kind"), memory,
		runtime.GOOS, runtime.GOARCH, strings.TrimPrefix(runtime.Version(), "go"))
	for _, n := range r.notes {
		out += "- " + n + "\n"
	}
	return out + fmt.Sprintf("- command: `%s`, the median of %d runs\n- date: %s\n", command, runs, time.Now().UTC().Format(time.DateOnly))
}

// tables returns one table for each benchmark.
func (r *report) tables() string {
	var b strings.Builder
	last, base := "", &result{}
	for _, x := range r.results {
		top, name, ok := strings.Cut(x.name, "/")
		if !ok {
			name = "all"
		}
		if top != last {
			fmt.Fprintf(&b, "\n### %s\n\n| | time | times the baseline | memory | allocations | further |\n|---|---:|---:|---:|---:|---|\n", top)
			last = top
		}
		if leaf := x.name[strings.LastIndex(x.name, "/")+1:]; leaf == "raw" || leaf == "bare" {
			base = x
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", name, x.time(), x.ratio(base), x.count("B/op"), x.count("allocs/op"), x.further())
	}
	return b.String()
}

func (x *result) time() string {
	ns, ok := x.median("ns/op")
	if !ok {
		return ""
	}
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= u.ns {
			return three(ns/u.ns) + " " + u.name
		}
	}
	return three(ns) + " ns"
}

// three formats x with three significant digits.
func three(x float64) string {
	switch {
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// ratio returns x's time as a multiple of base's, if both are in the same group.
func (x *result) ratio(base *result) string {
	mine, ok := x.median("ns/op")
	its, there := base.median("ns/op")
	if !ok || !there || group(x.name) != group(base.name) {
		return ""
	}
	return three(mine / its)
}

func group(name string) string { return name[:strings.LastIndex(name, "/")+1] }

// count formats an integer figure in groups of three digits.
func (x *result) count(unit string) string {
	n, ok := x.median(unit)
	if !ok {
		return ""
	}
	s := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if unit == "B/op" {
		s += " B"
	}
	return s
}

// further lists the other figures that a benchmark reports.
func (x *result) further() string {
	var out []string
	for _, u := range x.units {
		if u == "ns/op" || u == "B/op" || u == "allocs/op" {
			continue
		}
		n, _ := x.median(u)
		name, unit, _ := strings.Cut(u, "-")
		out = append(out, name+" "+three(n)+" "+unit)
	}
	return strings.Join(out, ", ")
}
