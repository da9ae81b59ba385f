package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/test/services"
)

// Sizes of TestReplicasUnderLoad.
const (
	loaded   = 16              // callers of each replica
	replicas = 4               // processes that share one store
	proposed = 300             // changes, each of a different record
	measured = 4 * time.Second // duration of each measurement of reads. There are two for each setup
)

// A front is a simple proxy. It sends requests to the replicas in turn. If a replica accepts no connection, it uses
// the next one.
type front struct {
	to   []string // hosts
	next atomic.Int64
	*http.Transport
}

// RoundTrip implements http.RoundTripper.
func (f *front) RoundTrip(r *http.Request) (res *http.Response, err error) {
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	for range f.to {
		r.URL.Host, r.Body = f.to[f.next.Add(1)%int64(len(f.to))], io.NopCloser(bytes.NewReader(body))
		if res, err = f.Transport.RoundTrip(r); err == nil || !strings.Contains(err.Error(), "connect: connection refused") {
			return res, err
		}
	}
	return res, err
}

// TestReplicasUnderLoad runs four processes with one PostgreSQL store behind a simple proxy. Callers read, propose
// and approve while one replica is stopped. Each call must be answered, each change must be written once, and the
// audit must contain each call and step. The test reports the processor time of a call with one replica and with
// four.
func TestReplicasUnderLoad(t *testing.T) {
	if os.Getenv("BAILIWICK_REPLICAS") == "" {
		t.Skip("LEFT OUT: a minute of load on four replicas; see make soak")
	}
	source, config := services.Postgres(t), filepath.Join(t.TempDir(), "bailiwick.yaml")
	db := pool(t, source)
	for _, text := range []string{`CREATE TABLE orders (id int PRIMARY KEY, tenant text NOT NULL, note text NOT NULL, written int NOT NULL DEFAULT 0)`,
		`INSERT INTO orders SELECT i, 'acme', 'order ' || i FROM generate_series(1, 20000) AS i`,
		`CREATE FUNCTION count_writes() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.written := OLD.written + 1; RETURN NEW; END'`,
		`CREATE TRIGGER counted BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION count_writes()`} {
		if _, err := db.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	kept := services.Postgres(t)
	text := fmt.Sprintf("store: %q\nsources:\n  shop: {url: %q}\nlimits: {rate: 9999999/min, burst: 100000, concurrency: 100, pending_changes: 10000, changes_per_minute: 10000}\ngates: {writes: review, raw_writes: review}\n"+
		"classes:\n  shop.orders:\n    tenant: {field: tenant, is: principal.tenant}\n    permitted: [note]\n", kept, source)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := program(t)
	token := func(arguments ...string) string {
		out, err := exec.Command(path, append([]string{"token", "create", "--json", "--config", config, "--tenant", "acme"}, arguments...)...).Output()
		var made struct{ Token string }
		if err != nil || json.Unmarshal(out, &made) != nil || made.Token == "" {
			t.Fatalf("token create: %v %s", err, out)
		}
		return made.Token
	}
	agent, person := token("--name", "agent", "--owner", "ann", "--scopes", "read,write"), token("--name", "rosa", "--owner", "rosa", "--kind", "human", "--scopes", "read,review")

	var all []*process
	for range replicas {
		all = append(all, start(t, path, "serve", "--config", config, "--listen", "127.0.0.1:0"))
	}
	behind := func(to []*process, closing bool) string {
		f := &front{Transport: &http.Transport{MaxIdleConnsPerHost: replicas * loaded, DisableKeepAlives: closing}}
		for _, p := range to {
			u, err := url.Parse(p.url)
			if err != nil {
				t.Fatal(err)
			}
			f.to = append(f.to, u.Host)
		}
		s := httptest.NewServer(&httputil.ReverseProxy{Transport: f, Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme = "http"
			r.Out.URL.Host = "gateway"
			r.Out.Host = f.to[0]
		}})
		t.Cleanup(s.Close)
		t.Cleanup(f.CloseIdleConnections)
		return s.URL
	}
	one, four := behind(all[:1], false), behind(all, false)
	loads := []struct {
		as      string
		to      string
		callers int
		calls   int64
		spent   time.Duration
	}{{"one replica", one, loaded, 0, 0}, {"four, as many callers", four, loaded, 0, 0}, {"four, as many callers each", four, replicas * loaded, 0, 0}}
	var reads int64
	for range 2 {
		for i := range loads {
			l := &loads[i]
			before := spentBy(t, all)
			n := readFor(t, l.to+"/mcp", agent, l.callers)
			l.spent += spentBy(t, all) - before
			l.calls += n
			reads += n
		}
	}
	for _, l := range loads {
		each := l.spent / time.Duration(max(l.calls, 1))
		t.Logf("a point read, %s: %v of processor time (%d calls), %.2f times that with one", l.as, each, l.calls, float64(each)*float64(loads[0].calls)/float64(loads[0].spent))
	}

	begun := time.Now()
	more := decideAll(t, behind(all, true), agent, person, func() { all[replicas-1].stop(t) })
	t.Logf("%d changes proposed, approved and applied, and %d reads, in %v; one replica was stopped meanwhile", proposed, more, time.Since(begun).Round(time.Millisecond))

	var once, other int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE written = 1 AND note = 'the note of ' || id), count(*) FILTER (WHERE written > 1 OR written = 1 AND note <> 'the note of ' || id OR written = 0 AND note <> 'order ' || id) FROM orders`).Scan(&once, &other); err != nil || once != proposed || other != 0 {
		t.Errorf("%d records were written once as proposed, not %d; %d otherwise: %v", once, proposed, other, err)
	}
	store := pool(t, kept)
	for ask, want := range map[string]int64{
		`SELECT count(*) FROM bailiwick.change WHERE state = 'applied'`:                     proposed,
		`SELECT count(*) FROM bailiwick.change`:                                             proposed,
		`SELECT count(*) FROM bailiwick.audit WHERE body LIKE '%"tool":"update_object"%'`:   proposed,
		`SELECT count(*) FROM bailiwick.audit WHERE body LIKE '%"tool":"changes/applied"%'`: proposed,
		`SELECT count(*) FROM bailiwick.audit WHERE body LIKE '%"tool":"get_object"%'`:      reads + more,
		`SELECT count(*) FROM bailiwick.outbox`:                                             0,
	} {
		var n int64
		if err := store.QueryRow(t.Context(), ask).Scan(&n); err != nil || n != want {
			t.Errorf("%s: %d, not %d: %v", ask, n, want, err)
		}
	}
	for _, p := range all[:replicas-1] {
		p.stop(t)
	}
	if out, err := exec.Command(path, "audit", "verify", "--config", config).CombinedOutput(); err != nil {
		t.Errorf("audit verify: %v %s", err, out)
	}
}

// spentBy returns the total processor time of processes.
func spentBy(t *testing.T, all []*process) (sum time.Duration) {
	t.Helper()
	for _, p := range all {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		var user, system int64
		fields := strings.Fields(string(stat))
		if _, err := fmt.Sscan(fields[13]+" "+fields[14], &user, &system); err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(user+system) * 10 * time.Millisecond
	}
	return sum
}

// readFor reads records with the given number of callers for a while. It returns the number of calls.
func readFor(t *testing.T, url, agent string, callers int) int64 {
	var n atomic.Int64
	end := time.Now().Add(measured)
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			into := &bytes.Buffer{}
			read := modern(t, url, agent, "get_object", fmt.Sprintf(`{"class_name":"orders","object_id":"%d"}`, 10_000+caller))
			for time.Now().Before(end) {
				if err := read.send(t.Context(), into); err != nil {
					t.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return n.Load()
}

// decideAll lets all callers propose changes, read the changed records, and approve the changes, each on any replica.
// It calls half when half of the changes are done. It returns the number of reads.
func decideAll(t *testing.T, at, agent, person string, half func()) int64 {
	var reads, done atomic.Int64
	var wg sync.WaitGroup
	for caller := range loaded {
		wg.Go(func() {
			into := &bytes.Buffer{}
			for id := caller + 1; id <= proposed; id += loaded {
				if err := decide(t, at, agent, person, id, into); err != nil {
					t.Errorf("the change of %d: %v", id, err)
					return
				}
				if err := modern(t, at+"/mcp", agent, "get_object", fmt.Sprintf(`{"class_name":"orders","object_id":"%d"}`, id)).send(t.Context(), into); err != nil || !bytes.Contains(into.Bytes(), fmt.Appendf(nil, "the note of %d", id)) {
					t.Errorf("%d reads as %s: %v", id, into, err)
				}
				reads.Add(1)
				if done.Add(1) == proposed/2 {
					half()
				}
			}
		})
	}
	wg.Wait()
	return reads.Load()
}

// decide proposes a change of a record and approves it.
func decide(t *testing.T, at, agent, person string, id int, into *bytes.Buffer) error {
	if err := modern(t, at+"/mcp", agent, "update_object", fmt.Sprintf(`{"class_name":"orders","object_id":"%d","data":{"note":"the note of %d"},"reason":"it says too little"}`, id, id)).send(t.Context(), into); err != nil {
		return err
	}
	_, rest, _ := strings.Cut(into.String(), "Change pending approval. ID: ")
	filed, _, ok := strings.Cut(rest, `\n`)
	if !ok {
		return fmt.Errorf("the proposal is answered with %s", into)
	}
	of := at + "/api/changes/" + filed
	var sheet struct{ Digest, State string }
	if err := askAs(t.Context(), person, http.MethodGet, of, "", &sheet); err != nil {
		return err
	}
	if err := askAs(t.Context(), person, http.MethodPost, of+"/approve", `{"digest":"`+sheet.Digest+`"}`, &sheet); err != nil {
		return err
	}
	if sheet.State != "applied" {
		return fmt.Errorf("it is %s", sheet.State)
	}
	return nil
}

// askAs sends a request of the JSON API as a person.
func askAs(ctx context.Context, person, method, url, body string, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+person)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var said bytes.Buffer
	if _, err := said.ReadFrom(res.Body); err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %.300s: %w", method, url, res.Status, &said, err)
	}
	return json.Unmarshal(said.Bytes(), into)
}
