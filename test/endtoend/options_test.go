package endtoend

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/assistant"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/reviewapi"
	"github.com/bailiwick-dev/bailiwick/serve"
	"github.com/bailiwick-dev/bailiwick/source/metadata"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// The possible meanings of a nil option. None is less safe than another value of the option.
const (
	needed  = "needed"  // nil is refused, or everything is refused. See TestNilRefuses
	without = "without" // a feature is missing, such as a source, a page or log lines
	local   = "local"   // this process stores or creates it
	usual   = "usual"   // nil means the default, which is as safe as any other value
)

// nils contains the meaning of nil for each option, by the type of the options.
var nils = map[reflect.Type]map[string]string{
	reflect.TypeFor[bailiwick.Options](): {
		"Audit": needed, "Refresher": needed, // required with Changes. Without them, later decisions are refused
		"Sources": without, "Changes": without, "History": without, "Actions": without, "Metrics": without, "Queries": without, "Functions": without, "Log": without, "Observer": without,
		"Secret": local, "Used": local, "Now": usual},
	reflect.TypeFor[identity.TokenOptions](): {"Store": needed, "Audit": needed, "Now": usual},
	reflect.TypeFor[change.Options]():        {"Store": needed},
	reflect.TypeFor[tools.ChangeOptions]():   {"Gateway": needed, "Link": usual},
	reflect.TypeFor[limit.Options]():         {"Store": local, "Ledger": local, "Now": usual},
	reflect.TypeFor[tool.Options]():          {"Timeouts": usual, "Writing": without},
	reflect.TypeFor[mcp.Options](): {
		"Tools":  needed,
		"Tokens": needed, "Authenticate": needed, "Anonymous": needed, // without all three, every request is refused
		"Prompts": without, "Guide": usual, "Logger": without, "Observer": without, "Metrics": without, "Resource": without, "Notes": without, "Refused": usual,
		"AllowedOrigins": without, "AllowedHosts": usual, "Results": usual, "Ready": usual, "Bodies": local, "SessionKey": without, "SessionsEnded": local},
	reflect.TypeFor[console.Options](): {
		"Reviewer": needed, "Tokens": needed, "Allow": needed, "Admit": needed,
		"Credentials": without, "Connections": without, "Issuer": without, "Agents": without,
		"Audit": without, "Exposure": without, "Sources": without, "Deliveries": without, "Hooks": without, "TestHook": without, "Log": usual, "Now": usual},
	reflect.TypeFor[reviewapi.Options](): {"Reviewer": needed, "Identify": needed, "Record": needed, "Deliveries": without, "Tokens": without, "Closing": without, "Logger": without},
	reflect.TypeFor[serve.Options]():     {"Authenticate": usual, "Tools": without, "Open": without, "Logger": without, "Log": without, "Credential": without},
	reflect.TypeFor[assistant.Options](): {"Client": needed, "Prices": usual, "HTTP": usual},
	reflect.TypeFor[metadata.Options]():  {"Roots": needed, "Reader": usual, "Allows": usual}, // like a list, Allows narrows what the rules show
}

// TestNilOptions checks that the meaning of nil is defined for each option that can be nil.
func TestNilOptions(t *testing.T) {
	kinds := []reflect.Kind{reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice}
	for of, means := range nils {
		var there []string
		for f := range of.Fields() {
			if !slices.Contains(kinds, f.Type.Kind()) {
				continue
			}
			there = append(there, f.Name)
			if means[f.Name] == "" {
				t.Errorf("%s.%s can be nil: say what that means, and let it not be less safe", of, f.Name)
			}
		}
		for name := range means {
			if !slices.Contains(there, name) {
				t.Errorf("%s has no %s that can be nil", of, name)
			}
		}
	}
}

// TestNilRefuses checks options that decide about safety. If they are nil, they must be refused or refuse everything.
func TestNilRefuses(t *testing.T) {
	ctx := t.Context()
	store, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "b.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	of := func(_ any, err error) error { return err }
	gateway := func(o bailiwick.Options) error { _, _, err := bailiwick.New(ctx, o); return err }
	shelf, err := tool.NewSet(newOffice(t, nil).gateway, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	page := func(change func(*console.Options)) error {
		o := console.Options{Reviewer: func(identity.Principal, string) bailiwick.Reviewer { return nil }, Tokens: identity.NewTokens(identity.TokenOptions{Store: store}),
			Allow: func(*http.Request) error { return nil },
			Admit: func(context.Context, identity.Principal, bailiwick.CallSpec, func(context.Context) error) error {
				return nil
			}}
		if change != nil {
			change(&o)
		}
		return of(console.New(o))
	}
	if err := page(nil); err != nil {
		t.Fatal("a console with all that it needs:", err)
	}
	answers := func(h http.Handler, method, path string, want int) error {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, path, strings.NewReader("{}")))
		if w.Code != want {
			return nil
		}
		return fmt.Errorf("answered %d", w.Code)
	}
	closed, err := mcp.New(mcp.Options{Tools: shelf, AllowedHosts: []string{"example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	_, _, unrecorded := identity.NewTokens(identity.TokenOptions{Store: store}).Create(ctx, identity.Local("ops"), identity.Token{Name: "x"})
	for name, err := range map[string]error{
		"a gateway without an audit":                gateway(bailiwick.Options{}),
		"changes without a refresher":               gateway(bailiwick.Options{Audit: store, Changes: change.NewQueue(change.Options{Store: store})}),
		"tokens without an audit":                   unrecorded,
		"mcp without tools":                         of(mcp.New(mcp.Options{})),
		"a shared state key without a shared store": of(mcp.New(mcp.Options{Tools: shelf, Extend: wire.Extension{StateKey: make([]byte, 32)}})),
		"mcp without credentials":                   answers(closed.Handler(), "POST", "/mcp", http.StatusUnauthorized),
		"a console without Allow":                   page(func(o *console.Options) { o.Allow = nil }),
		"a console without Admit":                   page(func(o *console.Options) { o.Admit = nil }),
		"a console without a Reviewer":              page(func(o *console.Options) { o.Reviewer = nil }),
		"a console without Tokens":                  page(func(o *console.Options) { o.Tokens = nil }),
		"a review API without Identify":             answers(reviewapi.New(reviewapi.Options{}).Handler(), "GET", "/api/changes", http.StatusInternalServerError),
		"metadata without roots":                    of(metadata.New(metadata.Options{Name: "m"})),
	} {
		if err == nil {
			t.Error(name, "is accepted")
		}
	}
}

// TestForeignAction checks a change whose action the gateway doesn't know. An embedding program can file such a
// change, and it must never be applied. An action that the gateway knows is checked again without help from the
// program.
func TestForeignAction(t *testing.T) {
	declared := []action.Declaration{{Name: "renumber", On: "issues", Do: action.Update, Tool: true, Permitted: []string{"n"},
		Require: []action.Requirement{{That: "record.n < 100", Message: "the number is settled"}}}}
	o := newOffice(t, func(options *bailiwick.Options, _ *change.Options) { options.Actions = declared })
	bot, ben := o.bot(), o.person("ben")
	file := func(name string) (id, digest string) {
		t.Helper()
		data := value.OfObject([]value.Member{{Name: "n", Value: value.OfInt(8)}})
		in := value.OfObject([]value.Member{{Name: "object_id", Value: value.OfString("1")}, {Name: "n", Value: value.OfInt(8)}})
		err := o.gateway.Do(t.Context(), bot, bailiwick.CallSpec{Tool: name, Needs: identity.Write, Writes: policy.WriteAction, Proposes: true}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
			s, err := c.Propose(ctx, write.Request{Tool: name, Origin: write.Origin{Action: name}, Input: in, Writes: []write.Write{&write.Update{Class: "issues", ID: "1", Data: data}}})
			if err == nil {
				id, digest = s.ID, s.Digest
			}
			return 0, err
		})
		if err != nil {
			t.Fatal(err)
		}
		return id, digest
	}
	if _, err := o.db.ExecContext(t.Context(), "UPDATE issues SET n = 3 WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	before := o.holds("SELECT n FROM issues WHERE id = 1")
	id, digest := file("sneak")
	if s, err := ben.Approve(t.Context(), id, digest, ""); err == nil && s.State != change.Stale || err != nil && problem.CodeOf(err) == problem.Internal {
		t.Error(s, err)
	}
	if now := o.holds("SELECT n FROM issues WHERE id = 1"); now != before {
		t.Errorf("a change of an unknown action was written: %s, before %s", now, before)
	}
	if _, err := ben.Reject(t.Context(), id, "no"); err != nil {
		t.Error(err)
	}
	id, digest = file("renumber")
	if _, err := o.db.ExecContext(t.Context(), "UPDATE issues SET n = 100 WHERE id = 2"); err != nil { // another record, so nothing relevant has changed
		t.Fatal(err)
	}
	if s, err := ben.Approve(t.Context(), id, digest, ""); err != nil || s.State != change.Applied {
		t.Fatal(s, err)
	}
	if _, err := o.db.ExecContext(t.Context(), "UPDATE issues SET n = 3 WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	id, digest = file("renumber")
	if err := o.gateway.SetRules(t.Context(), o.rules, nil); err != nil {
		t.Fatal(err)
	}
	if s, err := ben.Approve(t.Context(), id, digest, ""); err != nil || s.State != change.Stale {
		t.Fatal(s, err)
	}
	if now := o.holds("SELECT n FROM issues WHERE id = 1"); now != "3" {
		t.Errorf("written, and its action is gone: %s", now)
	}
}
