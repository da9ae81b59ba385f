package expression

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/value"
)

func principal(t testing.TB, claims string) identity.Principal {
	p := identity.Principal{ID: "token:1", Name: "Ann's agent", Kind: identity.Agent, Owner: "ann", Tenant: "acme",
		Scopes: []identity.Scope{identity.Read, identity.Explain}, TokenID: "t1", Parent: "token:0", Depth: 2}
	if claims != "" {
		v, err := value.Read([]byte(claims), 0)
		if err != nil {
			t.Fatal(err)
		}
		p.Claims = v
	}
	return p
}

// written formats v so that kinds can be distinguished.
func written(v value.Value) string {
	kind := map[value.Kind]string{value.Float: "double ", value.Decimal: "decimal "}[v.Kind()]
	return kind + string(v.AppendJSON(nil))
}

// TestEval checks expressions for principals. The result is a value or an error.
func TestEval(t *testing.T) {
	const claims = `{"region": "eu", "regions": ["eu", "us"], "team": {"id": 7, "lead": null}, "level": 9007199254740993, "big": 18446744073709551615,
		"rate": 0.1, "long": 0.1000000000000000000001, "longs": [1, 0.1000000000000000000001], "huge": 1e400, "none": null, "blank": "", "empty": [], "holes": ["eu", null], "deep": [["eu"]],
		"vip": true, "since": "2026-01-31T13:00:00Z", "org-id": "o1", "n": "x", "one": 1.0}`
	c := NewCompiler()
	for _, tt := range []struct {
		text  string
		yield Yield
		want  string
	}{
		// paths, evaluated without CEL
		{"principal.tenant", Scalar, `"acme"`},
		{"principal.id", Scalar, `"token:1"`},
		{"principal.name", Scalar, `"Ann's agent"`},
		{"principal.kind", Scalar, `"agent"`},
		{"principal.owner", Scalar, `"ann"`},
		{"principal.token_id", Scalar, `"t1"`},
		{"principal.parent", Scalar, `"token:0"`},
		{"principal.depth", Scalar, "2"},
		{"principal.author", Scalar, `"Ann's agent (ann)"`},
		{"principal.scopes", List, `["read","explain"]`},
		{"principal.claims.region", Scalar, `"eu"`},
		{"principal.claims.regions", List, `["eu","us"]`},
		{"principal.claims.regions", Scalar, errKind.Error()},
		{"principal.claims.region", List, errKind.Error()},
		{"principal.claims.region", Bool, errKind.Error()},
		{"principal.claims.vip", Bool, "true"},
		{"principal.claims.vip", Scalar, "true"},
		{"principal.claims.team.id", Scalar, "7"},
		{"principal.claims.team", Scalar, errKind.Error()},
		{"principal.claims.team.lead", Scalar, errNothing.Error()},
		{"principal.claims.team.id.x", Scalar, errNothing.Error()},
		{"principal.claims.level", Scalar, "9007199254740993"},
		{"principal.claims.long", Scalar, "decimal 0.1000000000000000000001"},
		{"principal.claims.none", Scalar, errNothing.Error()},
		{"principal.claims.blank", Scalar, errNothing.Error()},
		{"principal.claims.absent", Scalar, errNothing.Error()},
		{"principal.claims.empty", List, errNothing.Error()},
		{"principal.claims.holes", List, errNothing.Error()},
		{"principal.claims.deep", List, errKind.Error()},
		{`principal.claims["org-id"]`, Scalar, `"o1"`},
		{`principal.claims["long"]`, Scalar, "decimal 0.1000000000000000000001"},
		{"principal.claims.none", List, errNothing.Error()},
		{"principal.claims.none", Bool, errNothing.Error()},

		{"principal.claims.blank", Bool, errKind.Error()},
		{"principal.claims.blank", Any, errNothing.Error()},
		{"principal.claims.none", Any, errNothing.Error()},
		{"principal.claims.vip", Any, "true"},
		{"principal.depth", Any, "2"},
		{"principal.claims.empty", Any, "[]"},

		// the same through CEL
		{"google.protobuf.NullValue.NULL_VALUE", Scalar, "0"},
		{`{"a": dyn(b"x")}`, Any, errKind.Error()},
		{`{"a": principal.depth}`, Any, `{"a":2}`},
		{`principal.claims.region + ""`, Scalar, `"eu"`},
		{`"org:" + principal.tenant`, Scalar, `"org:acme"`},
		{"principal.claims.level + 1", Scalar, "9007199254740994"},
		{"principal.claims.level - 0", Scalar, "9007199254740993"},
		{"principal.claims.big + 0u", Scalar, "decimal 18446744073709551615"},
		{"principal.claims.big / 3u", Scalar, "6148914691236517205"},
		{"principal.claims.rate + 0.0", Scalar, "double 0.1"},
		{"principal.claims.one + 1", Scalar, "2"},
		{"principal.claims.long + 0.0", Scalar, errInexact.Error()},
		{"principal.claims.huge + 0.0", Scalar, errInexact.Error()},
		{"principal.claims.longs.map(x, x * 2.0)", List, errInexact.Error()},
		{"9223372036854775807u", Scalar, "9223372036854775807"},
		{"9223372036854775808u", Scalar, "decimal 9223372036854775808"},
		{"type(principal.depth) == int", Bool, "true"},
		{"0.0 / 0.0", Scalar, errKind.Error()},
		{`[dyn(b"x")]`, List, errKind.Error()},
		{"1.0 / 0.0", Scalar, errKind.Error()},
		{"principal.depth / (principal.depth - 2)", Scalar, errFailed.Error()},
		{"9223372036854775807 + principal.depth", Scalar, errFailed.Error()},
		{"principal.claims.absent + 1", Scalar, errNothing.Error()},
		{"principal.claims.region + 1", Scalar, errFailed.Error()},
		{`principal.claims.none == null ? "" : "x"`, Scalar, errNothing.Error()},
		{`has(principal.claims.absent) ? principal.claims.absent : "eu"`, Scalar, `"eu"`},
		{`has(principal.claims.region) ? principal.claims.region : "us"`, Scalar, `"eu"`},
		{"has(principal.claims.team.lead)", Bool, "true"},
		{"has(principal.claims.team.boss)", Bool, "false"},
		{`"read" in principal.scopes`, Bool, "true"},
		{`"operator" in principal.scopes`, Bool, "false"},
		{`"region" in principal.claims`, Bool, "true"},
		{`"absent" in principal.claims`, Bool, "false"},
		{`principal.claims["reg" + "ion"]`, Scalar, errInexact.Error()}, // this needs all claims
		{`principal.claims.regions.filter(r, r.startsWith("u"))`, List, `["us"]`},
		{`principal.claims.regions.map(r, r + "-1")`, List, `["eu-1","us-1"]`},
		{`principal.claims.regions.exists(r, r == "us")`, Bool, "true"},
		{`principal.claims.regions.all(r, r == "us")`, Bool, "false"},
		{"principal.claims.regions[0]", Scalar, `"eu"`},
		{"principal.claims.regions[5]", Scalar, errFailed.Error()},
		{"[principal.tenant, principal.owner]", List, `["acme","ann"]`},
		{`[principal.tenant, "", "x"]`, List, errNothing.Error()},
		{`principal.claims.regions.filter(r, r == "x")`, List, errNothing.Error()},
		{`principal.claims.region.matches("^e[uU]$")`, Bool, "true"},
		{`matches(principal.claims.region, "^u")`, Bool, "false"},
		{`principal.tenant == "acme" && principal.kind != "human"`, Bool, "true"},
		{`principal.claims.absent == "x" || true`, Bool, "true"}, // in CEL, one operand can decide the result
		{`principal.claims.absent == "x" || false`, Bool, errNothing.Error()},
		{"timestamp(principal.claims.since)", Scalar, `"2026-01-31T13:00:00Z"`},
		{`timestamp(principal.claims.since) - duration("36h")`, Scalar, `"2026-01-30T01:00:00Z"`},
		{"timestamp(principal.claims.region)", Scalar, errFailed.Error()},
		{"string(principal.claims.level)", Scalar, `"9007199254740993"`},
		{`int("42") + 0`, Scalar, "42"},
		{"dyn(duration(\"1h\"))", Scalar, errKind.Error()},
		{"dyn(b\"x\")", Scalar, errKind.Error()},
		{`principal.tenant + "\x00"`, Scalar, errKind.Error()},
		{"true", Bool, "true"},
		{strings.Repeat("principal.tenant + ", 40) + `""`, Scalar, `"` + strings.Repeat("acme", 40) + `"`},
	} {
		e, err := c.Compile(tt.text, tt.yield)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		got, err := e.Eval(principal(t, claims))
		text := written(got)
		if err != nil {
			text = err.Error()
		}
		if text != tt.want {
			t.Errorf("%s as %s:\n got %s\nwant %s", tt.text, tt.yield, text, tt.want)
		}
	}
	for text, want := range map[string]string{`principal.claims["reg" + "ion"]`: `"eu"`, `principal.claims[principal.claims.n + "y"]`: errNothing.Error(),
		"principal.claims.size()": "2", `principal.claims.map(k, k).exists(k, k == "n")`: "true"} {
		e, err := c.Compile(text, Scalar)
		if err != nil {
			t.Fatal(text, err)
		}
		v, err := e.Eval(principal(t, `{"region": "eu", "n": "x"}`))
		if got := written(v); err == nil && got != want || err != nil && err.Error() != want {
			t.Errorf("%s: %s %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"principal.claims.size()": "0", `principal.claims[principal.id]`: errNothing.Error(), "principal.claims.a": errNothing.Error()} {
		e, err := c.Compile(text, Scalar)
		if err != nil {
			t.Fatal(text, err)
		}
		v, err := e.Eval(identity.Principal{ID: "x"})
		if got := written(v); err == nil && got != want || err != nil && err.Error() != want {
			t.Errorf("%s of nothing: %s %v, want %s", text, got, err, want)
		}
	}
	for _, n := range []int{maxList, maxList + 1} {
		for _, text := range []string{"principal.claims.a", "principal.claims.a.map(x, x)"} {
			e, err := c.Compile(text, List)
			if err != nil {
				t.Fatal(text, err)
			}
			if _, err := e.Eval(principal(t, `{"a": [`+strings.Repeat("1,", n-1)+`1]}`)); (err == nil) != (n == maxList) {
				t.Errorf("%s of %d: %v", text, n, err)
			}
		}
	}
	for _, text := range []string{"\xff", "a\x00"} { // an embedding program may pass any text
		e, err := c.Compile(`principal.name + ""`, Scalar)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := e.Eval(identity.Principal{Name: text}); !errors.Is(err, errKind) {
			t.Errorf("%q: %s %v", text, written(v), err)
		}
	}
	for _, text := range []string{"principal.claims.region", `principal.claims.region + ""`, `principal.claims[principal.id]`} {
		e, err := c.Compile(text, Scalar)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []identity.Principal{{}, {Claims: value.OfString("eu")}, {Claims: value.OfArray(nil)}} {
			if v, err := e.Eval(p); err == nil {
				t.Errorf("%s of a principal without claims: %s", text, written(v))
			}
		}
	}
	if v, err := (&Expression{}).Eval(principal(t, claims)); !errors.Is(err, errNothing) {
		t.Errorf("the zero expression: %s %v", written(v), err)
	}
}

// TestNames checks that only names below principal are resolved.
func TestNames(t *testing.T) {
	p := principal(t, "")
	for name, want := range map[string]bool{"principal.tenant": true, "principal.claims": true, "principal.depth": true, "tenant": false, "claims": false, "": false} {
		if v, ok := (&activation{who: &p}).ResolveName(name); ok != want {
			t.Errorf("%q: %v %t", name, v, ok)
		}
	}
}

// TestCompileRefuses checks each error in the text of an expression.
func TestCompileRefuses(t *testing.T) {
	c := NewCompiler()
	const has = "It has id, name, kind, owner, tenant, scopes, claims, token_id, parent, depth, author"
	for _, tt := range []struct {
		text  string
		yield Yield
		want  string
	}{
		{"", Scalar, "the expression is empty"},
		{" \n", Scalar, "the expression is empty"},
		{"principal.", Scalar, "character 11 of the expression: no viable alternative at input '.'"},
		{"principal.tenant +", Scalar, "character 19 of the expression: mismatched input '<EOF>'"},
		{"\"a\nb\"", Scalar, `character 1 of the expression: token recognition error at: '"a`},
		{"principal.tenat", Scalar, `character 1 of the expression: a principal has no "tenat". Did you mean tenant? ` + has},
		{"'x' +\n  principal.x", Scalar, `line 2, character 3 of the expression: a principal has no "x". ` + has},
		{"principal", Scalar, "character 1 of the expression: principal is followed by a field, such as principal.tenant or principal.claims.region"},
		{`principal["tenant"]`, Scalar, "character 1 of the expression: principal is followed by a field, such as principal.tenant or principal.claims.region"},
		{"has(principal.tenant)", Bool, "character 5 of the expression: has() asks for a claim: has(principal.claims.region)"},
		{"[1].map(principal, 2)", List, "character 8 of the expression: principal can't be the name of a variable"},
		{"tenant", Scalar, "character 1 of the expression: undeclared reference to 'tenant'"},
		{"now()", Scalar, "character 4 of the expression: undeclared reference to 'now'"},
		{"principal.tenant + 1", Scalar, "character 18 of the expression: found no matching overload for '_+_' applied to '(string, int)'"},
		{"principal.claims.org.a-id", Scalar, "character 24 of the expression: undeclared reference to 'id'"},
		{`[duration("1h")]`, List, "it yields a list(duration), and has to yield a list of texts, numbers or booleans"},
		{`[duration("1h")]`, Any, "it yields a list(duration), and has to yield a value"},
		{"[[dyn(1)]]", List, "it yields a list(list(dyn)), and has to yield a list of texts, numbers or booleans"},
		{"matches()", Bool, "character 8 of the expression: found no matching overload for 'matches' applied to '()'"},
		{"principal.claims.org-id", Scalar, `character 22 of the expression: undeclared reference to 'id'; write principal.claims["org-id"] for the claim of that name`},
		{"principal.claims", Scalar, "it yields a map(string, dyn), and has to yield a text, a number or a boolean"},
		{"principal.scopes", Scalar, "it yields a list(string), and has to yield a text, a number or a boolean"},
		{"principal.tenant", List, "it yields a string, and has to yield a list of texts, numbers or booleans"},
		{"[[1]]", List, "it yields a list(list(int)), and has to yield a list of texts, numbers or booleans"},
		{"principal.depth", Bool, "it yields an int, and has to yield true or false"},
		{"null", Scalar, "it yields null, and has to yield a text, a number or a boolean"},
		{`duration("1h")`, Scalar, "it yields a duration, and has to yield a text, a number or a boolean"},
		{`b"x"`, Scalar, "it yields a bytes, and has to yield a text, a number or a boolean"},
		{"1u", Bool, "it yields a uint, and has to yield true or false"},
		{`principal.tenant.matches(principal.owner)`, Bool, "character 25 of the expression: the pattern of matches is written out, in quotes"},
		{`principal.tenant.matches("(")`, Bool, "character 26 of the expression: invalid matches argument"},
		{`timestamp("x") < timestamp("y")`, Bool, "character 11 of the expression: invalid timestamp argument"},
		{"[1].all(a, [1].all(b, [1].all(c, true)))", Bool, "character 30 of the expression: comprehension exceeds nesting limit"},
		{strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200), Scalar, "expression recursion limit exceeded: 50"},
		{strings.Repeat("1 + ", 600) + "1", Scalar, "expression code point size exceeds limit: size: 2401, limit 2000"},
		{strings.Repeat("1+", 499) + "1", Scalar, "max recursion depth exceeded"},
	} {
		_, err := c.Compile(tt.text, tt.yield)
		var f *expressionFault
		if !errors.As(err, &f) {
			t.Errorf("%.60s: %v, want a fault", tt.text, err)
			continue
		}
		if err.Error() != tt.want {
			t.Errorf("%.60s:\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestClaims(t *testing.T) {
	c := NewCompiler()
	for text, want := range map[string]string{
		"principal.tenant":          "[] false",
		"principal.claims.region":   "[region] false",
		`principal.claims["b c"].d`: "[b c] false",
		`has(principal.claims.b) && "a" in principal.claims ? principal.claims.b : principal.claims.c`: "[a b c] false",
		"principal.claims[principal.id]":                       "[] true",
		"principal.claims.a + string(principal.claims.size())": "[a] true",
	} {
		e, err := c.Compile(text, Scalar)
		if err != nil {
			t.Fatal(text, err)
		}
		names, all := e.Claims()
		if got := fmt.Sprint(names, all); got != want {
			t.Errorf("%s reads %s, want %s", text, got, want)
		}
	}
}

// TestCost checks which costs are refused at compile time and at evaluation.
func TestCost(t *testing.T) {
	c := NewCompiler()
	numbers := "[" + strings.Repeat("0,", 150) + "0]"
	text := "size(" + numbers + ".map(a, " + numbers + ".map(b, a + b)))"
	if _, err := c.Compile(text, Scalar); err == nil || !strings.HasPrefix(err.Error(), "it costs too much: at least ") {
		t.Errorf("a product of lists: %v", err)
	}
	e, err := c.Compile("principal.claims.a.map(x, principal.claims.a.exists(y, x + y < 0))", List)
	if err != nil {
		t.Fatal(err)
	}
	small, large := principal(t, `{"a": [1, 2]}`), principal(t, `{"a": [`+strings.Repeat("1,", 200)+`1]}`)
	if v, err := e.Eval(small); err != nil || written(v) != "[false,false]" {
		t.Errorf("small: %s %v", written(v), err)
	}
	if v, err := e.Eval(large); !errors.Is(err, errCost) {
		t.Errorf("large: %s %v", written(v), err)
	}
}

// TestKeeps checks that each text is compiled once, including invalid texts, and that the cache is bounded.
func TestKeeps(t *testing.T) {
	c := NewCompiler()
	one, err := c.Compile("principal.tenant", Scalar)
	if err != nil {
		t.Fatal(err)
	}
	_, wrong := c.Compile("principal.tenat", Scalar)
	if again, _ := c.Compile("principal.tenant", Scalar); again != one {
		t.Error("compiled twice")
	}
	if _, again := c.Compile("principal.tenat", Scalar); again != wrong || wrong == nil {
		t.Error("refused twice")
	}
	if _, err := c.Compile("principal.tenant", Bool); err == nil {
		t.Error("a scalar was taken for true or false")
	}
	for i := range maxMade + 10 {
		if _, err := c.Compile("principal.claims.c"+fmt.Sprint(i), Scalar); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.made) != maxMade {
		t.Errorf("%d are kept", len(c.made))
	}
}

func FuzzCompile(f *testing.F) {
	for _, text := range []string{"principal.tenant", `principal.claims["a"].b`, `"x" in principal.scopes ? 1 : 2`, "[1, 2].map(x, x * 2)", "has(principal.claims.a)",
		`principal.name.matches("^a+$")`, `timestamp("2026-01-01T00:00:00Z")`, "principal\n.x", "{1: 2}[1]", "'\\u0000'", "google.protobuf.Int64Value{value: 1}"} {
		f.Add(text, uint8(0))
	}
	c, p := NewCompiler(), principal(f, `{"a": {"b": [1, "x", null]}, "n": 5}`)
	f.Fuzz(func(t *testing.T, text string, y uint8) {
		yield := Yield(y % 3)
		e, err := c.compile(text, yield)
		if err != nil {
			var fault *expressionFault
			if !errors.As(err, &fault) || fault.Message == "" || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		v, err := e.Eval(p)
		switch {
		case err != nil && !v.IsNull():
			t.Fatalf("%q: %v and %s", text, err, written(v))
		case err != nil:
		case yield == Bool && v.Kind() != value.Bool, yield == List && len(v.List()) == 0, yield == Scalar && (v.String() == "" || v.List() != nil || v.Members() != nil):
			t.Fatalf("%q yields %s, not %s", text, written(v), yield)
		}
		again, err2 := e.Eval(p)
		if err2 != err || written(again) != written(v) {
			t.Fatalf("%q: %s and %s", text, written(v), written(again))
		}
	})
}

func BenchmarkEval(b *testing.B) {
	c, p := NewCompiler(), principal(b, `{"region": "eu", "regions": ["eu", "us"]}`)
	for _, text := range []string{"principal.claims.region", `"org:" + principal.tenant`, `has(principal.claims.region) ? principal.claims.region : "eu"`} {
		e, err := c.Compile(text, Scalar)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Eval(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	c := NewCompiler()
	for b.Loop() {
		if _, err := c.compile(`has(principal.claims.region) ? principal.claims.region : "eu"`, Scalar); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewCompiler(b *testing.B) {
	for b.Loop() {
		NewCompiler()
	}
}
