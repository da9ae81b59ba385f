package app_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestReloadAtOnce reloads alternately two configurations while tools are listed and called. No list combines the
// rules of one with the tools of the other. No call runs a tool that the configuration in its record doesn't serve.
func TestReloadAtOnce(t *testing.T) {
	dir := t.TempDir()
	if err := demo.Create(t.Context(), filepath.Join(dir, "tracker.db")); err != nil {
		t.Fatal(err)
	}
	load := func(more string) *config.Config {
		file := filepath.Join(dir, "bailiwick.yaml")
		text := "store: sqlite:memory.db\nsources: {tracker: {url: 'sqlite:tracker.db'}}\nlimits: {rate: 1000000/min, burst: 1000000, concurrency: 1000}\n" +
			"gates: {writes: review, raw_writes: review}\n" + more
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	// With a writable class, the rules offer the tools for changes. The list of tools removes other tools.
	texts := []string{"classes: {tracker.issues: {tenant: {field: org_id}, permitted: [title]}}\ntools: {except: [group_by]}\n",
		"classes: {tracker.issues: {tenant: {field: org_id}, write: {create: deny, update: deny, delete: deny}}}\ntools: {except: [count_objects]}\n"}
	p, err := app.Build(t.Context(), load(texts[0]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	bot := identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ana", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read, identity.Write, identity.Delete}}
	names := func() string {
		var out []string
		for _, t := range p.Tools.List(bot, "") {
			out = append(out, t.Name)
		}
		return strings.Join(out, " ")
	}
	versions, sets := make([]string, 2), make([]string, 2)
	for i := range 2 {
		if _, err := p.Reload(t.Context(), load(texts[i])); err != nil {
			t.Fatal(err)
		}
		versions[i], sets[i] = p.Gateway.PolicyVersion(), names()
	}
	if sets[0] == sets[1] || strings.Contains(sets[0], "group_by ") || strings.Contains(sets[1], "count_objects") || strings.Contains(sets[1], "update_object") {
		t.Fatal(sets)
	}
	args := value.OfObject([]value.Member{{Name: "class_name", Value: value.OfString("issues")}})
	done := make(chan struct{})
	var readers sync.WaitGroup
	mixed := map[string]bool{}
	var calls atomic.Int64
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				_, _ = p.Tools.Call(t.Context(), bot, tool.Request{Name: "count_objects", Arguments: args})
				calls.Add(1)
			}
		})
	}
	readers.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if got := names(); !slices.Contains(sets, got) {
					mixed[got] = true
				}
			}
		}
	})
	for i := range 40 {
		if _, err := p.Reload(t.Context(), load(texts[i%2])); err != nil {
			t.Error(err)
			break
		}
		for made := calls.Load(); calls.Load() < made+3; { // at least one begins under these rules
			time.Sleep(time.Millisecond)
		}
	}
	close(done)
	readers.Wait()
	for got := range mixed {
		t.Errorf("a list of neither configuration: %s", got)
	}
	outcomes := map[string]int{}
	err = p.Store.Records(t.Context(), audit.First, func(r audit.Record) bool {
		if r.Tool == "count_objects" {
			outcomes[fmt.Sprint(slices.Index(versions, r.Policy), " ", r.Outcome)]++
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, n := range outcomes {
		if what != "0 ok" && what != "1 refused" {
			t.Errorf("%d calls: configuration %s", n, what)
		}
	}
	if len(outcomes) < 2 {
		t.Errorf("too few kinds of calls: %v", outcomes)
	}
}

// TestReloadOpensForWriting raises a gate and adds the first action while the gateway runs. Agents can then use the
// newly offered tools.
func TestReloadOpensForWriting(t *testing.T) {
	const raw, action = "gates: {writes: review, raw_writes: review}\n", "actions: {finish: {on: tracker.issues, do: update, tool: true, input: {required: [id], properties: {id: {type: string}}}, record: {$cel: input.id}, set: {title: x}}}\n"
	for _, row := range []struct{ name, more, call, arguments string }{
		{"gate", raw, "update_object", `{"class_name":"issues","object_id":"ID","data":{"title":"x"},"reason":"a test"}`},
		{"action", action, "finish", `{"id":"ID","reason":"a test"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := demo.Create(t.Context(), filepath.Join(dir, "tracker.db")); err != nil {
				t.Fatal(err)
			}
			load := func(more string) *config.Config {
				c, err := config.Parse(filepath.Join(dir, "bailiwick.yaml"), []byte("store: 'sqlite:"+dir+"/memory.db'\nsources: {tracker: {url: 'sqlite:"+dir+"/tracker.db'}}\n"+
					"classes: {tracker.issues: {tenant: {field: org_id}}}\n"+more), nil)
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			first, second := load(""), load(row.more)
			p, err := app.Build(t.Context(), first)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			if warnings, err := p.Reload(t.Context(), second); err != nil || len(warnings) > 0 {
				t.Fatal(warnings, err)
			}
			if keys := app.Restart(load(""), load(row.more)); keys != nil {
				t.Errorf("%v take a restart", keys)
			}
			bot := identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ana", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read, identity.Write}}
			db, err := sql.Open("sqlite", filepath.Join(dir, "tracker.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var id string
			if err := db.QueryRow("SELECT id FROM issues WHERE org_id = ? AND deleted_at IS NULL LIMIT 1", demo.Acme).Scan(&id); err != nil {
				t.Fatal(err)
			}
			var args value.Value
			if err := json.Unmarshal([]byte(strings.ReplaceAll(row.arguments, "ID", id)), &args); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Tools.Call(t.Context(), bot, tool.Request{Name: row.call, Arguments: args}); err != nil {
				t.Errorf("%+v", problem.Of(err))
			}
		})
	}
}
