package largeapis

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/value"
)

// stripeMock is a server that parses forms as Stripe does and checks them against Stripe's own document, which it
// includes. It runs as a separate program, so that it isn't a dependency.
const stripeMock = "github.com/stripe/stripe-mock@v0.203.0"

// startStripe builds and starts the server, and returns its address and its document.
func startStripe(t *testing.T) (string, []byte) {
	t.Helper()
	if os.Getenv("BAILIWICK_STRIPE") == "" {
		t.Skip("LEFT OUT: stripe-mock: BAILIWICK_STRIPE is not set; it is got from the module proxy and built")
	}
	bin := t.TempDir()
	out, err := exec.Command("go", "mod", "download", "-json", stripeMock).Output()
	var module struct{ Dir string }
	if err != nil || json.Unmarshal(out, &module) != nil {
		t.Skipf("LEFT OUT: stripe-mock can't be had: %v", err)
	}
	install := exec.Command("go", "install", stripeMock)
	install.Env = append(os.Environ(), "GOBIN="+bin)
	if said, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, said)
	}
	document, err := os.ReadFile(filepath.Join(module.Dir, "embedded", "openapi", "spec3.json"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	server := exec.Command(filepath.Join(bin, "stripe-mock"), "-http-addr", at)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for range 600 {
		if r, err := http.Get("http://" + at + "/"); err == nil {
			_, _ = io.Copy(io.Discard, r.Body)
			r.Body.Close()
			return "http://" + at, document
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("stripe-mock doesn't begin")
	return "", nil
}

// sample makes a value of a schema with all optional parts, up to depth levels.
func sample(v *spec.View, r spec.Raw, depth int) (value.Value, bool) {
	s := v.Schema(r)
	for _, choices := range [][]spec.Raw{s.AnyOf, s.OneOf} {
		for _, c := range choices {
			if made, ok := sample(v, c, depth); ok && (made.Kind() != value.String || made.Text() != "") {
				return made, true
			}
		}
	}
	switch {
	case len(s.AnyOf)+len(s.OneOf) > 0:
		return value.Value{}, false
	case len(s.Enum) > 0:
		made, err := value.Read(s.Enum[len(s.Enum)-1], 1)
		return made, err == nil && made.String() != ""
	case s.Is("object") && len(s.Types) > 0:
		var members []value.Member
		o := v.Object(s)
		for _, f := range o.Fields {
			made, ok := sample(v, f.Schema, depth-1)
			switch {
			case ok && (depth > 0 || f.Required):
				members = append(members, value.Member{Name: f.Name, Value: made})
			case f.Required:
				return value.Value{}, false
			}
		}
		if len(o.Fields) == 0 && o.Further != nil {
			if made, ok := sample(v, o.Further, depth-1); ok {
				members = append(members, value.Member{Name: "key", Value: made})
			}
		}
		return value.OfObject(members), len(members) > 0
	case s.Is("array") && len(s.Types) > 0:
		one, ok := sample(v, s.Items, depth-1)
		return value.OfArray([]value.Value{one, one}), ok && depth > 0
	case s.Is("boolean") && len(s.Types) > 0:
		return value.OfBool(true), true
	case s.Is("integer") && len(s.Types) > 0, s.Is("number") && len(s.Types) > 0:
		return value.OfInt(1700000000), true
	}
	return value.OfString("&"), true
}

// TestStripe checks that stripe-mock accepts requests of every operation, with all optional parts up to four levels
// deep.
func TestStripe(t *testing.T) {
	at, document := startStripe(t)
	d, err := spec.Load(document)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := client.New(client.Options{Base: at, Credential: client.BearerHeader("sk_test_123456789")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sender.Close)
	v := spec.NewView(d, nil, spec.Filter{})
	checker := validate.New(v, validate.Options{})
	tried, taken, broken, refused := 0, 0, 0, map[string]int{}
	for _, op := range v.Operations() {
		args := validate.Arguments{}
		var path, query []value.Member
		for _, p := range v.Parameters(op) {
			made, ok := sample(v, p.Schema, 3)
			switch {
			case p.In == "path":
				path = append(path, value.Member{Name: p.Name, Value: value.OfString("x_1")})
			case p.In == "query" && ok:
				query = append(query, value.Member{Name: p.Name, Value: made})
			}
		}
		args.Path, args.Query = value.OfObject(path), value.OfObject(query)
		if op.Body != nil && op.Method != "GET" {
			args.Body, args.HasBody = sample(v, op.Body.PreferredContent().Schema, 4)
		}
		if op.Body != nil && op.Body.PreferredContent() != nil && spec.IsMultipart(op.Body.PreferredContent().MediaType) {
			continue // it goes to another host
		}
		tried++
		checked, err := checker.Check(context.Background(), op, args)
		if err != nil {
			refused[fmt.Sprintf("we refuse %s: %v", op.Name(), err)]++
			continue
		}
		r, err := calls.BuildRequest(checked, calls.RequestOptions{})
		if err != nil {
			refused[fmt.Sprintf("we can't build %s: %v", op.Name(), err)]++
			continue
		}
		got, err := sender.Send(t.Context(), client.Message{Request: r})
		if err != nil {
			refused[fmt.Sprintf("%s: %v", op.Name(), err)]++
			continue
		}
		if got.Status == 200 {
			taken++
			continue
		}
		if got.Status == 500 && strings.Contains(string(got.Body), "An internal error occurred") { // it has no samples of some resources
			broken++
			continue
		}
		refused[fmt.Sprintf("%s: %d %.300s", op.Name(), got.Status, got.Body)]++
	}
	t.Logf("%d of %d requests are taken; at %d stripe-mock itself breaks down", taken, tried, broken)
	if taken+broken < tried || broken > 40 {
		n := 0
		for why := range refused {
			if n++; n <= 15 {
				t.Log(why)
			}
		}
		t.Errorf("%d are refused", tried-taken-broken)
	}
}
