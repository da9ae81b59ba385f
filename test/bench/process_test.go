package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// program builds the command and returns the path of the file.
func program(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bailiwick")
	build := exec.Command("go", "build", "-o", path, "github.com/bailiwick-dev/bailiwick/cmd/bailiwick")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// A process is a running gateway.
type process struct {
	cmd    *exec.Cmd
	url    string
	stderr bytes.Buffer
}

// start runs the program and waits until it listens.
func start(t testing.TB, path string, arguments ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(path, arguments...)}
	p.cmd.Env = append(os.Environ(), "GOGC=", "GOMEMLIMIT=") // use its default settings, because they determine its memory
	p.cmd.Stderr = &p.stderr
	p.cmd.Dir = t.TempDir()
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok || err != nil {
		p.stop(t)
		t.Fatalf("it said %q (%v): %s", line, err, &p.stderr)
	}
	p.url = url
	return p
}

// stop stops the process like an operator.
func (p *process) stop(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v: %s", err, &p.stderr)
	}
}

// resident returns the resident memory of the process, in MiB.
func (p *process) resident(t testing.TB) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "VmRSS:" {
			kib, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return float64(kib) / 1024
		}
	}
	t.Fatal("the kernel tells no VmRSS")
	return 0
}

// served writes a configuration with the demo's rules. It returns the path of the file and a token.
func served(t testing.TB) (file, token string) {
	t.Helper()
	dir := filepath.Dir(tracker(t))
	file = filepath.Join(dir, "bailiwick.yaml")
	if err := os.WriteFile(file, []byte(demo.Config+"\nlimits: {rate: 9999999/min, burst: 100000, concurrency: 64}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "bailiwick.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tokens := identity.NewTokens(identity.TokenOptions{Store: s, Audit: s})
	defer tokens.Close(context.Background())
	_, token, err = tokens.Create(t.Context(), identity.Local("bench"), identity.Token{Name: "bench", Owner: "ann", Tenant: demo.Acme})
	if err != nil {
		t.Fatal(err)
	}
	return file, token
}

// BenchmarkStartUp measures the time from the start of the process to the first answered call, without a
// configuration and with the demo's. ns/op includes the end of the process, and ready-ms doesn't.
func BenchmarkStartUp(b *testing.B) {
	path := program(b)
	file, token := served(b)
	for _, c := range []struct {
		name      string
		token     string
		arguments []string
	}{
		{"source", "", []string{"serve", "--source", "sqlite:" + filepath.Join(filepath.Dir(file), "tracker.db"), "--listen", "127.0.0.1:0"}},
		{"configuration", token, []string{"serve", "--config", file, "--listen", "127.0.0.1:0"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var ready time.Duration
			for b.Loop() {
				from := time.Now()
				p := start(b, path, c.arguments...)
				call := modern(b, p.url, c.token, "count_objects", `{"class_name":"issues"}`)
				if c.token == "" {
					call.header.Del("Authorization")
				}
				if err := call.send(b.Context(), &bytes.Buffer{}); err != nil {
					b.Fatal(err)
				}
				ready += time.Since(from)
				p.stop(b)
			}
			b.ReportMetric(float64(ready.Microseconds())/1000/float64(b.N), "ready-ms")
		})
	}
}

// BenchmarkMemory measures the resident memory of the process after one call, after 1,000 pages of 50 records, and
// after a time without calls. ns/op is the duration of such a run.
func BenchmarkMemory(b *testing.B) {
	path := program(b)
	file, token := served(b)
	var idle, after, rest float64
	for b.Loop() {
		p := start(b, path, "serve", "--config", file, "--listen", "127.0.0.1:0")
		var answer bytes.Buffer
		if err := modern(b, p.url, token, "list_tools", `{}`).send(b.Context(), &answer); err != nil {
			b.Fatal(err)
		}
		idle += p.resident(b)
		page := modern(b, p.url, token, "query_class", `{"class_name":"issues","order":"id",`+fields+`}`)
		for range 1000 {
			if err := page.send(b.Context(), &answer); err != nil {
				b.Fatal(err)
			}
		}
		after += p.resident(b)
		time.Sleep(11 * time.Second) // every five seconds, it checks whether it is idle
		rest += p.resident(b)
		p.stop(b)
	}
	b.ReportMetric(idle/float64(b.N), "idle-MiB")
	b.ReportMetric(after/float64(b.N), "after1000-MiB")
	b.ReportMetric(rest/float64(b.N), "rest-MiB")
}
