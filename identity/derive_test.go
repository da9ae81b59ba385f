package identity_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

func TestDeriveScopes(t *testing.T) {
	is := func(s ...identity.Scope) []identity.Scope { return append([]identity.Scope{}, s...) }
	everything := is("read", "write", "delete", "schema", "review", "audit", "operator", "explain")
	tests := []struct {
		name   string
		owner  string
		parent []identity.Scope
		asked  []identity.Scope
		want   string
	}{
		{"nothing asked", "ana", everything, nil, "[read]"},
		{"nothing asked of one without read", "ana", is("write"), nil, "[]"},
		{"none", "ana", everything, is(), "[]"},
		{"some", "ana", everything, is("explain", "write"), "[write explain]"},
		{"what the parent hasn't got", "ana", is("read", "explain"), is("read", "write", "delete", "schema", "explain"), "[read explain]"},
		{"what agents never have", "ana", everything, everything, "[read write delete schema explain]"},
		{"writing for nobody", "", everything, everything, "[read explain]"},
		{"one twice", "ana", everything, is("read", "read"), "[read]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parent := identity.Principal{ID: "p", Kind: identity.Human, Owner: tt.owner, Scopes: tt.parent}
			before := fmt.Sprint(tt.asked)
			got, err := identity.Derive(parent, identity.Derivation{Name: "c", Scopes: tt.asked})
			if err != nil || fmt.Sprint(got.Scopes) != tt.want || got.Kind != identity.Agent {
				t.Errorf("%s %v, %v; want %s", got.Kind, got.Scopes, err, tt.want)
			}
			if fmt.Sprint(tt.asked) != before {
				t.Error("the derivation was changed")
			}
		})
	}
}

func TestDeriveInherits(t *testing.T) {
	filter := query.Compare{Path: query.Path{"a"}, Op: query.Eq, Value: value.OfInt(1)}
	parent := identity.Principal{ID: "token:1", Name: "bot", Kind: identity.Service, Owner: "ana", Tenant: "acme", TokenID: "1",
		Scopes: []identity.Scope{"read"}, Claims: value.OfString("c"), Filters: map[string]query.Filter{"default": filter},
		Tools: identity.List{Only: []string{"a", "b"}}}
	only, filters := []string{"b", "c"}, map[string]query.Filter{"posts": filter}
	child, err := identity.Derive(parent, identity.Derivation{Name: "reader", Tools: identity.List{Only: only}, Filters: filters})
	if err != nil {
		t.Fatal(err)
	}
	only[0], filters["users"] = "a", filter // later changes by the caller have no effect
	if child.Tools.Allows("a") || !child.Tools.Allows("b") || child.Tools.Allows("c") {
		t.Error("tools:", child.Tools)
	}
	if child.ID != "token:1/reader" || child.Name != "reader" || child.Owner != "ana" || child.Tenant != "acme" || child.TokenID != "1" ||
		child.Claims.Text() != "c" || child.Parent != "token:1" || child.Depth != 1 || len(child.Filters) != 1 || child.Filters["posts"] == nil || child.Origin() != "token:1" || parent.Origin() != "token:1" {
		t.Errorf("%+v", child)
	}
	var line []string
	for p := range child.Line() {
		line = append(line, fmt.Sprint(p.ID, len(p.Filters)))
	}
	if got := strings.Join(line, " "); got != "token:1/reader1 token:11" {
		t.Error("line:", got)
	}
	for p := range child.Line() {
		if p.ID != child.ID {
			t.Error("the line begins with", p.ID)
		}
		break
	}
}

func TestDeriveNames(t *testing.T) {
	for _, tt := range []struct {
		name string
		ok   bool
	}{
		{"azAZ._-09", true}, {".", false}, {"..", false}, {"-x", false}, {"x-", false}, {"_x", false}, {strings.Repeat("n", 64), true}, {strings.Repeat("n", 65), false}, {"", false},
		{"/", false}, {":", false}, {"@", false}, {"[", false}, {"`", false}, {"{", false}, {" ", false}, {"\x00", false}, {"é", false},
	} {
		if got, err := identity.Derive(identity.Principal{ID: "p"}, identity.Derivation{Name: tt.name}); (err == nil) != tt.ok || tt.ok != (got.ID == "p/"+tt.name) {
			t.Errorf("%q: %s, %v", tt.name, got.ID, err)
		}
	}
}

func TestDeriveRefuses(t *testing.T) {
	parent := identity.Principal{ID: "p", Scopes: []identity.Scope{"read"}}
	tests := []struct {
		name   string
		parent identity.Principal
		want   identity.Derivation
		code   problem.Code
		says   string
	}{
		{"nobody", identity.Principal{}, identity.Derivation{Name: "c"}, problem.PermissionDenied, "Nobody can't have sub-principals"},
		{"no name", parent, identity.Derivation{}, problem.InvalidArgument, "A sub-principal needs a name of 1 to 64 letters, digits, dots, dashes and underscores. It begins and ends with a letter or a digit"},
		{"a name with a slash", parent, identity.Derivation{Name: "a/b"}, problem.InvalidArgument, "A sub-principal needs a name of 1 to 64 letters, digits, dots, dashes and underscores. It begins and ends with a letter or a digit"},
		{"a name with a space", parent, identity.Derivation{Name: "a b"}, problem.InvalidArgument, "A sub-principal needs a name of 1 to 64 letters, digits, dots, dashes and underscores. It begins and ends with a letter or a digit"},
		{"a long name", parent, identity.Derivation{Name: strings.Repeat("n", 65)}, problem.InvalidArgument, "A sub-principal needs a name of 1 to 64 letters, digits, dots, dashes and underscores. It begins and ends with a letter or a digit"},
		{"an unknown scope", parent, identity.Derivation{Name: "c", Scopes: []identity.Scope{"raed"}}, problem.InvalidArgument, "There is no scope “raed”"},
		{"an unknown scope of 60 bytes", parent, identity.Derivation{Name: "c", Scopes: []identity.Scope{"s" + identity.Scope(strings.Repeat("x", 59))}}, problem.InvalidArgument,
			"There is no scope “s" + strings.Repeat("x", 59) + "”"},
		{"a longer one", parent, identity.Derivation{Name: "c", Scopes: []identity.Scope{"s" + identity.Scope(strings.Repeat("é", 30))}}, problem.InvalidArgument,
			"There is no scope “s" + strings.Repeat("é", 29) + "…”"},
		{"one that moves the cursor", parent, identity.Derivation{Name: "c", Scopes: []identity.Scope{"s\x1b[2J"}}, problem.InvalidArgument, "There is no scope “s�[2J”"},
		{"an empty filter", parent, identity.Derivation{Name: "c", Filters: map[string]query.Filter{"a": nil}}, problem.InvalidArgument, "The filter of “a” is empty"},
		{"a depth below nothing", identity.Principal{ID: "p", Depth: -1}, identity.Derivation{Name: "c"}, problem.PermissionDenied,
			"There can be at most 4 generations of sub-principals, and “p” is of the last one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := identity.Derive(tt.parent, tt.want)
			if p := problem.Of(err); p == nil || p.Code != tt.code || p.Detail != tt.says || got.ID != "" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	at := parent
	for n := 1; ; n++ {
		child, err := identity.Derive(at, identity.Derivation{Name: "c"})
		if err != nil {
			if p := problem.Of(err); n != identity.MaxDepth+1 || p.Code != problem.PermissionDenied ||
				p.Detail != "There can be at most 4 generations of sub-principals, and “p/c/c/c/c” is of the last one" {
				t.Errorf("generation %d: %v", n, err)
			}
			break
		}
		if child.Depth != n || child.ID != "p"+strings.Repeat("/c", n) {
			t.Fatalf("generation %d: %+v", n, child)
		}
		at = child
	}
	shallow := identity.Derivation{Name: "c", Depth: 1}
	if child, err := identity.Derive(parent, shallow); err != nil {
		t.Error(err)
	} else if _, err := identity.Derive(child, shallow); problem.CodeOf(err) != problem.PermissionDenied {
		t.Errorf("a second generation where one is the most: %v", err)
	}
}

func TestListAnd(t *testing.T) {
	is := func(only, except string) (l identity.List) {
		if only != "" {
			l.Only = strings.Fields(strings.Trim(only, "-"))
		}
		l.Except = strings.Fields(except)
		return l
	}
	// The classes app.users, crm.users and app.posts, each with both of its names.
	classes := [][]string{{"app.users", "users"}, {"crm.users", "users"}, {"app.posts", "posts"}}
	tests := []struct {
		name  string
		lists []identity.List
		want  string
	}{
		{"nothing", []identity.List{{}, {}}, "app.users crm.users app.posts"},
		{"the first only", []identity.List{is("users", ""), {}}, "app.users crm.users"},
		{"the second only", []identity.List{{}, is("users", "")}, "app.users crm.users"},
		{"one class by both names", []identity.List{is("users posts", ""), is("app.users", "")}, "app.users"},
		{"the other way round", []identity.List{is("app.users", ""), is("users posts", "")}, "app.users"},
		{"nothing in common", []identity.List{is("users", ""), is("posts", "")}, ""},
		{"exceptions add up", []identity.List{is("", "app.users"), is("", "posts")}, "crm.users"},
		{"an exception of one, kept by another", []identity.List{is("", "app.users"), is("users", "")}, "crm.users"},
		{"three", []identity.List{is("users posts", ""), is("", "crm.users"), is("users", "")}, "app.users"},
		{"an empty one keeps none", []identity.List{is("-", ""), is("users", "")}, ""},
		{"nothing around a list", []identity.List{{Within: &identity.List{Only: []string{"posts"}}}, is("posts users", "")}, "app.posts"},
		{"whatever comes first", []identity.List{is("users", ""), is("-", "")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			left := tt.lists[0]
			for _, l := range tt.lists[1:] {
				left = left.And(l)
			}
			right := tt.lists[len(tt.lists)-1]
			for i := len(tt.lists) - 2; i >= 0; i-- {
				right = tt.lists[i].And(right)
			}
			for _, l := range []identity.List{left, right} {
				var got []string
				for _, names := range classes {
					if l.Allows(names...) {
						got = append(got, names[0])
					}
				}
				if strings.Join(got, " ") != tt.want {
					t.Errorf("%+v keeps %v, want %s", l, got, tt.want)
				}
			}
		})
	}
}

func TestListAll(t *testing.T) {
	a, b, none := identity.List{Only: []string{"a"}}, identity.List{Except: []string{"b"}}, identity.List{Only: []string{}}
	for _, tt := range []struct {
		list identity.List
		want string
	}{
		{identity.List{}, "[{[] []}]"},
		{identity.List{}.And(identity.List{}), "[{[] []}]"},
		{a.And(identity.List{}), "[{[a] []}]"},
		{identity.List{}.And(a), "[{[a] []}]"},
		{identity.List{}.And(none), "[{[] []}]"},
		{a.And(b), "[{[] [b]} {[a] []}]"},
		{a.And(b).And(none), "[{[] []} {[] [b]} {[a] []}]"},
		{a.And(b.And(none)), "[{[] []} {[] [b]} {[a] []}]"},
	} {
		var all, first []string
		for l := range tt.list.All() {
			if l.Within != nil {
				t.Errorf("%v holds another", l)
			}
			all = append(all, fmt.Sprintf("{%v %v}", l.Only, l.Except))
		}
		for l := range tt.list.All() {
			first = append(first, fmt.Sprintf("{%v %v}", l.Only, l.Except))
			break
		}
		if fmt.Sprint(all) != tt.want || first[0] != all[0] {
			t.Errorf("%v, first %v; want %s", all, first, tt.want)
		}
	}
}

// echo is an Authenticator that accepts every credential, under its own name.
type echo string

func (e echo) Authenticate(context.Context, string, netip.Addr) (identity.Principal, error) {
	return identity.Principal{ID: string(e)}, nil
}

func TestForms(t *testing.T) {
	both := identity.Forms{Tokens: echo("token"), JWT: echo("jwt")}
	for _, tt := range []struct {
		forms            identity.Forms
		credential, want string
	}{
		{both, "bw_AAAA", "token"},
		{both, "bw_a.b.c", "token"},
		{both, "bwa_AAAA", "token"},
		{both, "a.b.c", "jwt"},
		{both, "BW_AAAA", "jwt"},
		{both, "", "no_credential"},
		{identity.Forms{JWT: both.JWT}, "bw_AAAA", "form_unknown"},
		{identity.Forms{Tokens: both.Tokens}, "a.b.c", "form_unknown"},
	} {
		principal, err := tt.forms.Authenticate(t.Context(), tt.credential, nowhere)
		got := principal.ID
		if p := problem.Of(err); p != nil && p.Code == problem.Unauthorized {
			got += p.Kind
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.credential, got, tt.want)
		}
	}
}

// TestTokenNarrows checks that all restrictions of a token apply to its principal.
func TestTokenNarrows(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{})
	_, secret := r.create(identity.Token{Owner: "ana", Tenant: "acme", Tools: identity.List{Only: []string{"a"}}, Classes: identity.List{Except: []string{"b"}},
		Actions: identity.List{Only: []string{"c"}}, Filters: map[string]string{"default": `{"d":1}`}})
	p, err := r.Authenticate(t.Context(), secret, nowhere)
	if err != nil || p.Tools.Allows("x") || p.Classes.Allows("b") || !p.Classes.Allows("x") || p.Actions.Allows("x") || !p.Actions.Allows("c") || p.Filters["default"] == nil {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestDeriveNamesakes checks that a sub-principal can't pass for the person that it acts for.
func TestDeriveNamesakes(t *testing.T) {
	parent := identity.Principal{ID: "token:1", Name: "bot", Kind: identity.Agent, Owner: "Maria"}
	for _, name := range []string{"maria", "Maria", "MARIA"} {
		if p, err := identity.Derive(parent, identity.Derivation{Name: name}); problem.Of(err) == nil || problem.Of(err).Kind != "name_of_person" {
			t.Errorf("%s: %s, %v", name, p.Author(), err)
		}
	}
	if p, err := identity.Derive(parent, identity.Derivation{Name: "marias-bot"}); err != nil || p.Author() != "marias-bot (Maria)" {
		t.Error(p.Author(), err)
	}
}
