package bench_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// An office is a complete gateway for changes, like that of "bailiwick serve", with an agent and a reviewer.
type office struct {
	plant    *app.App
	agent    identity.Principal
	reviewer identity.Principal
	secret   string // the token of the reviewer
	issues   []string
	asked    atomic.Int64
}

// kinds lists the databases in which the benchmarks create trackers and stores.
var kinds = []string{"sqlite", "postgres"}

// newOffice opens the demo's tracker and a store in databases of these kinds.
func newOffice(b testing.TB, tracks, keeps string) *office {
	b.Helper()
	c, err := config.Parse("bailiwick.yaml", []byte(demo.Config), func(string) (string, bool) { return "", false })
	if err != nil {
		b.Fatal(err)
	}
	path := tracker(b)
	c.Sources[0].URL = "sqlite:" + path
	if tracks == "postgres" {
		c.Sources[0].URL = services.Postgres(b)
		fill(b, path, c.Sources[0].URL)
		c.Rules, c.Actions = rules(b, classes...), nil // the actions would need the other tables
	}
	c.Store = storeOf(b, keeps)
	c.Limits = config.Limits{Rate: config.Rate{Calls: 1e9, Per: time.Minute}, Burst: 1e9, Concurrency: 1e6, Pending: 1e9}
	o := &office{}
	c.Limits.Proposals = 10_000
	if o.plant, err = app.Build(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { o.plant.Close() })
	o.agent, _ = o.principal(b, identity.Token{Name: "triage", Owner: "ann", Scopes: []identity.Scope{identity.Read, identity.Write}})
	o.reviewer, o.secret = o.principal(b, identity.Token{Name: "rosa", Owner: "rosa", Kind: identity.Human, Scopes: []identity.Scope{identity.Read, identity.Review}})
	from, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	defer from.Close()
	var all string
	if err := from.QueryRowContext(b.Context(), `SELECT group_concat(id) FROM issues WHERE org_id = ? AND deleted_at IS NULL`, demo.Acme).Scan(&all); err != nil {
		b.Fatal(err)
	}
	o.issues = strings.Split(all, ",")
	return o
}

// storeOf returns the address of a new store.
func storeOf(b testing.TB, kind string) string {
	if kind == "postgres" {
		return services.Postgres(b)
	}
	return "sqlite:" + filepath.Join(b.TempDir(), "bailiwick.db")
}

func (o *office) principal(b testing.TB, t identity.Token) (identity.Principal, string) {
	b.Helper()
	t.Tenant = demo.Acme
	made, secret, err := o.plant.Tokens.Create(b.Context(), identity.Local("bench"), t)
	if err != nil {
		b.Fatal(err)
	}
	p, err := made.Principal()
	if err != nil {
		b.Fatal(err)
	}
	return p, secret
}

// propose proposes a new title or text for an issue as the agent. It returns the id and digest of the change. The
// values are different for twice as many consecutive proposals as there are issues.
func (o *office) propose(ctx context.Context) (id, digest string, err error) {
	n := int(o.asked.Add(1))
	field := []string{"title", "body"}[n/len(o.issues)%2]
	data := value.OfObject([]value.Member{{Name: field, Value: value.OfString(fmt.Sprintf("The %dth thought about it", n))}})
	r := write.Request{Writes: []write.Write{&write.Update{Class: "issues", ID: o.issues[n%len(o.issues)], Data: data}}, Tool: "update_object", Reason: "It says too little.", Input: data}
	ask := bailiwick.CallSpec{Tool: "update_object", Needs: identity.Write, Writes: policy.WriteRaw, Proposes: true, Arguments: data, Correlation: "bench"}
	err = o.plant.Gateway.Do(ctx, o.agent, ask, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		s, err := c.Propose(ctx, r)
		if err == nil {
			id, digest = s.ID, s.Digest
		}
		return 0, err
	})
	return id, digest, err
}

// BenchmarkPropose measures the time until an agent's change of one field is filed. It includes the policy and the
// preview, which runs the write in the tracker and rolls it back. It also includes the change in the store and the
// record of the call, both on the disk.
func BenchmarkPropose(b *testing.B) {
	changing(b, func(b *testing.B, o *office, callers int) {
		rate(b, callers, func(ctx context.Context) error {
			_, _, err := o.propose(ctx)
			return err
		})
	})
}

// BenchmarkApply measures the time from the approval until the change is applied. It includes the checks of the
// approval, the policy again, the write and its marker in the tracker, and the audit records.
func BenchmarkApply(b *testing.B) {
	changing(b, func(b *testing.B, o *office, callers int) {
		if b.N > 2*len(o.issues) {
			b.Fatalf("%d changes at once are more than %d issues have fields", b.N, len(o.issues))
		}
		type filed struct{ id, digest string }
		waiting := make(chan filed, b.N)
		spread(b, 16, func(ctx context.Context) error {
			id, digest, err := o.propose(ctx)
			waiting <- filed{id, digest}
			return err
		})
		desk := o.plant.Gateway.Reviewer(o.reviewer, "bench")
		rate(b, callers, func(ctx context.Context) error {
			next := <-waiting
			s, err := desk.Approve(ctx, next.id, next.digest, "")
			if err == nil && s.State != change.Applied {
				err = errors.New(string(s.State) + ": " + s.Outcome)
			}
			return err
		})
	})
}

// changing runs a benchmark for each combination of databases for the tracker and the store, with one and with
// sixteen callers.
func changing(b *testing.B, run func(b *testing.B, o *office, callers int)) {
	for _, tracks := range kinds {
		for _, keeps := range kinds {
			b.Run(tracks+"/"+keeps+"_store", func(b *testing.B) {
				o := newOffice(b, tracks, keeps)
				for _, callers := range []int{1, 16} {
					b.Run(fmt.Sprintf("callers%d", callers), func(b *testing.B) { run(b, o, callers) })
				}
			})
		}
	}
}

// rate runs do with the given number of callers. It reports the calls per second, the processor time of this process
// for each call, p50 and p99.
func rate(b *testing.B, callers int, do func(context.Context) error) {
	before := cpu(b)
	waits := spread(b, callers, do)
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/1000/float64(b.N), "cpu-µs")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rate-/s")
	report(b, waits)
}
