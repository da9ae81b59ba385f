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

func TestParseIPs(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "[]"},
		{"192.0.2.7", "[192.0.2.7/32]"},
		{"192.0.2.0/24, 2001:db8::/32 ::1", "[192.0.2.0/24 2001:db8::/32 ::1/128]"},
		{"192.0.2.7/24", ""}, // which one is meant?
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

// An empty Only keeps none, also after it was written and read.
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
