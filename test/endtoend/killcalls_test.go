package endtoend

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// callerVariable is an environment variable that makes the test binary an executor of calls. Its value contains the
// path of the store, the URL of the API and the name of its document, "machines" or "rooms".
const callerVariable = "BAILIWICK_TEST_CALLER"

// callerLease is the lease of an executor. It is short, so that another executor soon continues after the first was
// killed.
const callerLease = 150 * time.Millisecond

// roomsLease is the lease in tests that choose the call at which an executor is killed. On a machine of any speed, no
// other executor may take over the change before that.
const roomsLease = 5 * time.Second

func TestMain(m *testing.M) {
	if order := os.Getenv(callerVariable); order != "" {
		beCaller(order)
	}
	if order := os.Getenv(deciderVariable); order != "" {
		beDecider(order)
	}
	code := m.Run()
	services.Stop()
	os.Exit(code)
}

// caller opens a gateway with a store and an API, as in each executor.
func caller(ctx context.Context, path, url, document string) (*bailiwick.Gateway, *change.Queue, error) {
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	rules := calls.Rules{}
	text, lease := machines, callerLease
	if document == "rooms" {
		text, rules.ReadBack, lease = rooms, visited, roomsLease
	}
	if rules.Document, err = spec.Load([]byte(text)); err != nil {
		return nil, nil, err
	}
	sender, err := client.New(client.Options{Base: url})
	if err != nil {
		return nil, nil, err
	}
	queue := change.NewQueue(change.Options{Store: store, Lease: lease, Most: 1 << 20, Rate: 1 << 20})
	g, _, err := bailiwick.New(ctx, bailiwick.Options{Sources: map[string]source.Source{"flow": openapi.New("flow", sender)}, Audit: store, Changes: queue, Refresher: identity.Fixed{},
		Rules: policy.Rules{Version: "v1", APIs: map[string]calls.Rules{"flow": rules}}})
	return g, queue, err
}

// beCaller runs the test binary as an executor until it is killed.
func beCaller(order string) {
	var path, url, document string
	_, err := fmt.Sscan(order, &path, &url, &document)
	ctx := context.Background()
	var g *bailiwick.Gateway
	if err == nil {
		g, _, err = caller(ctx, path, url, document)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	g.Execute(ctx, nil)
}

// TestCallsKilled kills executors during calls, in changes of one call and of several. No call may be made twice, and
// no call that was made may be reported as failed. A call with an unknown outcome must be reported as such to a
// person. The test kills a few times, or as often as BAILIWICK_SOAK requires.
func TestCallsKilled(t *testing.T) {
	kills := 20
	if soak := os.Getenv("BAILIWICK_SOAK"); soak != "" {
		n, err := strconv.Atoi(soak)
		if err != nil {
			t.Fatal(err)
		}
		kills = max(kills, n/100)
	}
	var mu sync.Mutex
	made := map[string]int{}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
		mu.Lock()
		made[r.Header.Get("Idempotency-Key")]++
		mu.Unlock()
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(api.Close)
	path := filepath.Join(t.TempDir(), "bailiwick.db")
	g, queue, err := caller(t.Context(), path, api.URL, "machines")
	if err != nil {
		t.Fatal(err)
	}
	bot := identity.Principal{ID: "token:bot", Kind: identity.Agent, Owner: "ana", Scopes: []identity.Scope{identity.Read, identity.Write}}
	ben := identity.Principal{ID: "token:ben", Kind: identity.Human, Owner: "ben", Scopes: []identity.Scope{identity.Read, identity.Review}}
	var ids []string
	propose := func(calls int) {
		in := value.OfObject([]value.Member{{Name: "body", Value: value.OfObject([]value.Member{{Name: "name", Value: value.OfString(strconv.Itoa(len(ids)))}})}})
		err := g.Do(t.Context(), bot, bailiwick.CallSpec{Tool: "call_api_write", Needs: identity.Write, Writes: policy.WriteAction, Proposes: true}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
			var list []write.Write
			for range calls {
				list = append(list, &write.Call{Source: "flow", Operation: "makeMachine", Request: in})
			}
			s, err := c.Propose(ctx, write.Request{Tool: "call_api_write", Input: in, Writes: list})
			if err != nil {
				return 0, err
			}
			ids = append(ids, s.ID)
			_, err = queue.Approve(ctx, s.ID, ben, change.Verdict{Digest: s.Digest})
			return 0, err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for range kills {
		for i := range 4 {
			propose(1 + i%2*2) // one call, or three calls in order
		}
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), callerVariable+"="+path+" "+api.URL+" machines")
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if !bufio.NewScanner(out).Scan() {
			t.Fatal("the executor didn't start")
		}
		time.Sleep(time.Duration(5000+rand.IntN(40_000)) * time.Microsecond)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // it was killed
	}
	rest, cancel := context.WithCancel(t.Context())
	defer cancel()
	go g.Execute(rest, nil)
	ends := map[change.State]int{}
	for _, id := range ids {
		ends[settled(t, queue, id, func() []int {
			mu.Lock()
			defer mu.Unlock()
			return []int{made[id], made[id+"-2"], made[id+"-3"]}
		})]++
	}
	t.Logf("%d kills, %d calls: %v", kills, len(ids), ends)
	if ends[change.Applied] == 0 || ends[change.Applied]+ends[change.Unknown] != len(ids) {
		t.Error("some have ended otherwise")
	}
}

// settled waits for the end of a change and checks how often its calls were made. Each must be made at most once, in
// order. Their number must match the outcome, or be one larger if the outcome is unknown.
func settled(t *testing.T, queue *change.Queue, id string, made func() []int) change.State {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := queue.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		each, total, said := made(), 0, 0
		for i, n := range each {
			if n > 1 || i > 0 && n > each[i-1] {
				t.Fatalf("%s was called %d times", id, each)
			}
			total += n
		}
		if c.Outcome != nil && c.Outcome.Receipt != nil {
			said = int(c.Outcome.Receipt.Rows)
		}
		switch {
		case c.State == change.Applied && (total != len(c.Writes) || said != total), c.State == change.Failed && total != 0,
			c.State == change.Unknown && (total < said || total > said+1):
			t.Fatalf("%s is %s, %d of %d calls are said to be made, and %d were", id, c.State, said, len(c.Writes), each)
		case c.State.IsFinal() || c.State == change.Unknown:
			return c.State
		case time.Now().After(end):
			t.Fatalf("%s is %s", id, c.State)
		}
	}
}
