package audit_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"pgregory.net/rapid"
)

// TestWell checks which outcomes count as success.
func TestWell(t *testing.T) {
	for outcome, want := range map[string]bool{audit.OK: true, audit.Refused: false, audit.Failed: false, audit.Cancelled: false, audit.Proposed: true, audit.Withdrawn: true, audit.Approved: true,
		audit.Rejected: true, audit.Expired: true, audit.Applying: true, audit.Applied: true} {
		if (&audit.Record{Outcome: outcome}).Well() != want {
			t.Error(outcome)
		}
	}
}

func TestCanonical(t *testing.T) {
	noon := time.Date(2026, 7, 28, 14, 0, 0, 123456789, time.FixedZone("", 2*3600))
	tests := []struct {
		name string
		r    audit.Record
		want string
	}{
		{"the least", audit.Record{Time: noon, Principal: "stdio", Tool: "count_objects", Outcome: "ok"},
			`{"seq":1,"time":"2026-07-28T12:00:00.123456Z","principal":"stdio","correlation_id":"","tool":"count_objects","outcome":"ok","rows":0,"bytes":0,"tokens":0,"duration_us":0}`},
		{"all", audit.Record{Time: noon, Principal: "token:t", Owner: "ana", Tenant: "acme", TokenID: "t", Correlation: "c", Tool: "query_class",
			Class: "tracker.issues", ArgKeys: []string{"class", "where"}, ArgHash: "ab", Outcome: "refused", Code: "not_found", Kind: "hidden_class",
			Policy: "p", Rows: 1, Bytes: 2, Tokens: 3, Micros: math.MaxInt64,
			Parent: "token:s", Depth: 2, Scopes: []string{"read", "write"}, Uses: []string{"tracker.issues", "tracker.issues.title"}, Cost: 1250, Change: "01j", Checkpoint: "1:ab:cd", Step: "01j:2", Digest: "d1", Credential: "person ana", Person: true},
			`{"seq":1,"time":"2026-07-28T12:00:00.123456Z","principal":"token:t","owner":"ana","tenant":"acme","token_id":"t","correlation_id":"c","tool":"query_class","class":"tracker.issues","arg_keys":["class","where"],"arg_hash":"ab","outcome":"refused","code":"not_found","kind":"hidden_class","policy":"p","rows":1,"bytes":2,"tokens":3,"duration_us":9223372036854775807,"parent":"token:s","depth":2,"scopes":["read","write"],"uses":["tracker.issues","tracker.issues.title"],"cost_microusd":1250,"change":"01j","checkpoint":"1:ab:cd","step":"01j:2","digest":"d1","credential":"person ana","person":true}`},
		{"escapes and bad UTF-8", audit.Record{Principal: "a\"b\\c\n\x00\u2028é\xff", Outcome: "ok"},
			`{"seq":1,"time":"0001-01-01T00:00:00.000000Z","principal":"a\"b\\c\u000a\u0000` + "\u2028é\uFFFD" + `","correlation_id":"","tool":"","outcome":"ok","rows":0,"bytes":0,"tokens":0,"duration_us":0}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			audit.Seal(audit.Head{}, &tt.r)
			got := string(tt.r.AppendCanonical(nil))
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if sum := sha256.Sum256([]byte(got)); tt.r.Hash != hex.EncodeToString(sum[:]) {
				t.Error("the first hash is not the SHA-256 of the canonical form")
			}
		})
	}
}

func records() *rapid.Generator[audit.Record] {
	return rapid.Custom(func(t *rapid.T) audit.Record {
		text := func(name string) string {
			return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\xff", "\uFFFD", `"`, `\u0041`, "\x7f"})).Draw(t, name)
		}
		return audit.Record{
			Time:      time.UnixMicro(rapid.Int64Range(-1e15, 1e17).Draw(t, "time")),
			Principal: text("principal"), Owner: text("owner"), Tenant: text("tenant"), TokenID: text("token"),
			Correlation: text("correlation"), Tool: text("tool"), Class: text("class"),
			ArgKeys: rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "keys"), ArgHash: text("hash"), Outcome: text("outcome"),
			Code: text("code"), Kind: text("kind"), Policy: text("policy"),
			Rows: rapid.Int().Draw(t, "rows"), Bytes: rapid.Int().Draw(t, "bytes"), Tokens: rapid.Int().Draw(t, "tokens"), Micros: rapid.Int64().Draw(t, "micros"),
			Parent: text("parent"), Depth: rapid.Int().Draw(t, "depth"), Scopes: rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, "scopes"),
			Uses: rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "uses"), Cost: rapid.Int64().Draw(t, "cost"), Change: rapid.String().Draw(t, "change"), Checkpoint: rapid.String().Draw(t, "checkpoint"), Step: rapid.String().Draw(t, "step"), Digest: rapid.String().Draw(t, "digest"),
			Person: rapid.Bool().Draw(t, "person"),
		}
	})
}

// A sealed record reads back unchanged, and is JSON that other parsers read alike.
func TestParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := records().Draw(t, "record")
		audit.Seal(audit.Head{Seq: rapid.Int64Range(0, 1<<60).Draw(t, "seq"), Hash: "ab"}, &r)
		text := r.AppendCanonical(nil)
		got, err := audit.Parse(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got.Prev, got.Hash = r.Prev, r.Hash
		for _, list := range []*[]string{&r.ArgKeys, &r.Scopes, &r.Uses} {
			if len(*list) == 0 {
				*list = nil
			}
		}
		if !reflect.DeepEqual(got, r) {
			t.Fatalf("got  %+v\nwant %+v", got, r)
		}
		var other audit.Record
		if err := json.Unmarshal(r.AppendJSON(nil), &other); err != nil || !reflect.DeepEqual(other, r) {
			t.Fatalf("encoding/json: %v\ngot  %+v\nwant %+v", err, other, r)
		}
	})
}

// Every change of a stored byte is refused or gives another record.
func TestParseRefuses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := records().Draw(t, "record")
		audit.Seal(audit.Head{}, &r)
		text := r.AppendCanonical(nil)
		i := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		text[i] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		got, err := audit.Parse(text)
		if err != nil {
			return
		}
		if old := r.Hash; string(got.AppendCanonical(nil)) != string(text) || old == hashOf(got) {
			t.Fatalf("unseen change at byte %d", i)
		}
	})
	for _, text := range []string{"", "{}", "null", ` {"seq":1}`, `{"seq":01`, strings.Repeat("[", 100)} {
		if _, err := audit.Parse([]byte(text)); err == nil {
			t.Errorf("Parse(%q) did not refuse", text)
		}
	}
}

func hashOf(r audit.Record) string {
	sum := sha256.Sum256(r.AppendCanonical(nil))
	return hex.EncodeToString(sum[:])
}

func FuzzParse(f *testing.F) {
	r := record(1)
	audit.Seal(audit.Head{}, &r)
	f.Add(r.AppendCanonical(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := audit.Parse(text); err == nil && string(r.AppendCanonical(nil)) != string(text) {
			t.Errorf("%q reads as another text", text)
		}
	})
}

func TestArgHasher(t *testing.T) {
	if _, err := audit.NewArgHasher(make([]byte, 31)); err == nil {
		t.Error("a short secret was taken")
	}
	a, _ := audit.NewArgHasher([]byte(strings.Repeat("a", 32)))
	b, _ := audit.NewArgHasher([]byte(strings.Repeat("b", 32)))
	args := []byte(`{"where":{"ssn":"078-05-1120"}}`)
	plain := sha256.Sum256(args)
	first, again := a.Sum(args), a.Sum(args)
	switch {
	case first != again:
		t.Error("equal arguments have different hashes")
	case a.Sum(args) == b.Sum(args):
		t.Error("the hash does not depend on the secret")
	case a.Sum(args) == hex.EncodeToString(plain[:]):
		t.Error("the hash is not keyed")
	case audit.ArgHasher{}.Sum(args) != "":
		t.Error("the zero ArgHasher hashes without a secret")
	}
}

func TestMemory(t *testing.T) {
	var l audit.Memory
	ctx := t.Context()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := range 50 {
				r := record(n)
				if err := l.Append(ctx, &r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	report, err := audit.Verify(ctx, &l)
	if err != nil || !report.Whole() || report.Records != 400 || report.Head.Seq != 400 {
		t.Fatal(report, err)
	}
	seqs := func(walk func(context.Context, int64, func(audit.Record) bool) error, from int64) (out []int64) {
		if err := walk(ctx, from, func(r audit.Record) bool { out = append(out, r.Seq); return len(out) < 3 }); err != nil {
			t.Error(err)
		}
		return out
	}
	for _, tt := range []struct{ got, want []int64 }{
		{seqs(l.Records, audit.First), []int64{1, 2, 3}},
		{seqs(l.Records, 399), []int64{399, 400}},
		{seqs(l.Records, 401), nil},
		{seqs(l.Backwards, audit.Last), []int64{400, 399, 398}},
		{seqs(l.Backwards, 2), []int64{2, 1}},
	} {
		if !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("got %v, want %v", tt.got, tt.want)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	r := record(1)
	if l.Append(gone, &r) == nil || l.Records(gone, 1, func(audit.Record) bool { return true }) == nil {
		t.Error("a cancelled context was ignored")
	}
}

func BenchmarkSeal(b *testing.B) {
	r := record(1)
	var h audit.Head
	for b.Loop() {
		h = audit.Seal(h, &r)
	}
}

func BenchmarkVerify(b *testing.B) {
	l := written(100_000)
	for b.Loop() {
		if got := verify(b, l); got != nil {
			b.Fatal(got)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/record")
}

func BenchmarkParse(b *testing.B) {
	r := record(1)
	audit.Seal(audit.Head{}, &r)
	text := r.AppendCanonical(nil)
	b.ReportAllocs()
	for b.Loop() {
		audit.Parse(text)
	}
}
