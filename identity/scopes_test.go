package identity_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

func TestParseScopes(t *testing.T) {
	tests := []struct{ text, want, near string }{
		{"", "[read]", ""},
		{" , ", "[read]", ""},
		{"readonly", "[read]", ""},
		{"write", "[read write]", ""},
		{"admin", "[read write delete schema]", ""},
		{"review", "[review]", ""},
		{"review,read,read", "[read review]", ""},
		{"explain operator\taudit,admin", "[read write delete schema audit operator explain]", ""},
		{"read\nwrite", "[read write]", ""},
		{"reed", "", "read"},
		{"read,wirte", "", "write"},
		{"Read", "", "read"},
		{"read-only", "", "readonly"},
		{"xyzzy", "", ""},
		{"*", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := identity.ParseScopes(tt.text)
			if tt.want != "" {
				if err != nil || fmt.Sprint(got) != tt.want {
					t.Errorf("%v, %v; want %s", got, err, tt.want)
				}
				return
			}
			p := problem.Of(err)
			if p == nil || p.Code != problem.InvalidArgument || got != nil {
				t.Fatalf("%v, %v; want invalid_argument", got, err)
			}
			if tt.near != "" && !slices.Contains(p.Near, tt.near) || tt.near == "" && len(p.Near) > 0 {
				t.Errorf("near %q, want %q", p.Near, tt.near)
			}
		})
	}
}

// TestScopesOfKinds checks the scopes that each kind of principal may hold.
func TestScopesOfKinds(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{})
	for _, tt := range []struct {
		kind          identity.Kind
		owner, scopes string
		want          string
	}{
		{"agent", "ana", "read,write,delete,schema,explain", ""},
		{"agent", "", "read,explain", ""},
		{"service", "", "read,write,delete,schema,audit,operator,explain", ""},
		{"human", "", "read,write,delete,schema,audit,operator,explain", ""},
		{"human", "ana", "read,write,delete,schema,review,audit,operator,explain", ""},
		{"agent", "ana", "review", "An agent can't have the scope review"},
		{"agent", "ana", "audit", "An agent can't have the scope audit"},
		{"agent", "ana", "operator", "An agent can't have the scope operator"},
		{"service", "ana", "review", "Only a human can have the scope review"},
		{"human", "", "review", "The scope review needs an owner: the person who decides"},
		{"agent", "", "delete", "An agent with the scope delete needs an owner: the person for whom it acts"},
		{"agent", "", "schema", "An agent with the scope schema needs an owner: the person for whom it acts"},
	} {
		scopes, err := identity.ParseScopes(tt.scopes)
		if err != nil {
			t.Fatal(err)
		}
		got, says := identity.Token{}, ""
		if got, _, err = r.Create(t.Context(), operator, identity.Token{Name: "x", Kind: tt.kind, Owner: tt.owner, Scopes: scopes}); err != nil {
			says = problem.Of(err).Detail
		}
		if says != tt.want || says == "" && (got.Kind != tt.kind || !slices.Equal(got.Scopes, scopes)) {
			t.Errorf("%s of %q with %s: %q, want %q", tt.kind, tt.owner, tt.scopes, says, tt.want)
		}
	}
}

func TestParseIPs(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "[]"},
		{"192.0.2.7", "[192.0.2.7/32]"},
		{"192.0.2.0/24, 2001:db8::/32 ::1", "[192.0.2.0/24 2001:db8::/32 ::1/128]"},
		{"192.0.2.7/24", ""}, // ambiguous
		{"::ffff:192.0.2.0/120", ""},
		{"::ffff:192.0.2.7", ""},
		{"fe80::1%eth0", ""},
		{"192.0.2.0/33", ""},
		{"localhost", ""},
	}
	for _, tt := range tests {
		got, err := identity.ParseIPs(tt.text)
		if tt.want == "" && problem.CodeOf(err) != problem.InvalidArgument || tt.want != "" && (err != nil || fmt.Sprint(got) != tt.want) {
			t.Errorf("%q: %v, %v; want %q", tt.text, got, err, tt.want)
		}
	}
}

// TestListJSON checks that an empty Only allows none, also after encoding and decoding.
func TestListJSON(t *testing.T) {
	for _, want := range []identity.List{{}, {Only: []string{}}, {Only: []string{"a"}}, {Except: []string{"a"}}} {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got identity.List
		if err := json.Unmarshal(b, &got); err != nil || got.Allows("a") != want.Allows("a") || got.Allows("b") != want.Allows("b") {
			t.Errorf("%s: %+v, want %+v", b, got, want)
		}
	}
}

func FuzzWellFormed(f *testing.F) {
	f.Add("bw_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("bw_")
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(text, "bw_"))
		want := err == nil && len(raw) == 32 && text == "bw_"+base64.RawURLEncoding.EncodeToString(raw)
		if got := identity.WellFormed(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	})
}
