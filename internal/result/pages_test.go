package result_test

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// rows returns records {id, text} with texts of the given lengths, as a source returns them for a limit.
func rows(t *testing.T, limit int, lengths ...int) redact.Rows {
	t.Helper()
	classes := []schema.Class{{Source: "s", Name: "notes", Table: "notes", Key: []string{"id"},
		Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "text", Type: schema.String}}}}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "notes", Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	var seq iter.Seq2[value.Row, error] = func(yield func(value.Row, error) bool) {
		row := make(value.Row, 3)
		for i, n := range lengths {
			// The row is reused, so the page must copy the values that it keeps.
			row[0], row[1], row[2] = value.OfInt(int64(i+1)), value.OfString(strings.Repeat("x", n)), value.OfInt(int64(i+1))
			if !yield(row, nil) {
				return
			}
		}
	}
	out, err := redact.Apply(permit, plan.MaskKey{}, seq)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRows checks pages of records {"id":"1","text":"…"}. A record with a text of n characters has 22+n bytes.
func TestRows(t *testing.T) {
	for _, tt := range []struct {
		name    string
		limit   int
		lengths []int
		want    string // count, more, next position, full, dropped
	}{
		{"all fits", 5, []int{10, 10}, "2 more=false after=[2] full=0 dropped=[]"},
		{"exactly the limit", 2, []int{10, 10}, "2 more=false after=[2] full=0 dropped=[]"},
		{"one more than the limit", 2, []int{10, 10, 10}, "2 more=true after=[2] full=0 dropped=[]"},
		{"the budget cuts", 5, []int{38, 37, 1}, "1 more=true after=[1] full=3 dropped=[]"},
		{"the budget cuts the last", 2, []int{38, 40}, "1 more=true after=[1] full=2 dropped=[]"},
		{"nothing small is let in after a cut", 5, []int{40, 90, 1, 1}, "1 more=true after=[1] full=4 dropped=[]"},
		{"the budget cuts and there is more", 2, []int{40, 90, 1}, "1 more=true after=[1] full=2 dropped=[]"},
		{"one alone is over", 5, []int{500, 500}, "2 more=false after=[2] full=0 dropped=[text]"},
		{"nothing", 5, nil, "0 more=false after=[] full=0 dropped=[]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := result.NewPage(rows(t, tt.limit, tt.lengths...), 100)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%d more=%t after=%v full=%d dropped=%v", p.Count, p.More, p.Next.After, p.Full, p.Dropped); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if n := len(p.AppendJSON(nil)); n > 100+2+p.Count {
				t.Errorf("%d bytes, over the budget", n)
			}
		})
	}
}

func TestWhole(t *testing.T) {
	if p, err := result.WholePage(rows(t, 2, 10, 20), 100); err != nil || p.Count != 2 || string(p.Record(1)) != `{"id":"2","text":"xxxxxxxxxxxxxxxxxxxx"}` || p.ID(1) != "2" {
		t.Errorf("Whole: %v, %v", p, err)
	}
	if p, err := result.WholePage(rows(t, 2, 100, 200), 100); err != nil || p.Count != 2 || p.Cut || fmt.Sprint(p.Dropped) != "[text]" || p.Dropped[0].Bytes != 200 {
		t.Errorf("Whole over the budget: %+v, %v", p, err)
	}
	if _, err := result.WholePage(rows(t, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1), 50); problem.CodeOf(err) != problem.BudgetExceeded {
		t.Errorf("Whole with keys over the budget: %v", err)
	}
}

func TestFormats(t *testing.T) {
	p, err := result.NewPage(rows(t, 2, 1, 2), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		format result.Format
		want   string
	}{
		{result.CSV, "id,text\r\n1,x\r\n2,xx\r\n"},
		{result.Markdown, "| id | text |\n| --- | --- |\n| 1 | x |\n| 2 | xx |\n"},
		{result.Table, "id  text\n1   x\n2   xx\n"},
	} {
		if got := p.Text(tt.format); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.format, got, tt.want)
		}
	}
}

// TestZeroRefuses checks that zero Rows return nothing.
func TestZeroRefuses(t *testing.T) {
	if _, err := result.NewPage(redact.Rows{}, 0); problem.CodeOf(err) != problem.PermissionDenied {
		t.Errorf("Rows of the zero redact.Rows: %v", err)
	}
	if _, err := result.CountRows(redact.Rows{}); problem.CodeOf(err) != problem.PermissionDenied {
		t.Errorf("Count of the zero redact.Rows: %v", err)
	}
	if _, err := redact.Apply(policy.Permit{}, plan.MaskKey{}, nil); problem.CodeOf(err) != problem.PermissionDenied {
		t.Errorf("Apply of the zero Permit: %v", err)
	}
	if _, err := (policy.Permit{}).From(policy.Position{}); problem.CodeOf(err) != problem.PermissionDenied {
		t.Errorf("From of the zero Permit: %v", err)
	}
}

func TestRedactRefusesOtherRows(t *testing.T) {
	good := rows(t, 5)
	permitless := func(yield func(value.Row, error) bool) { yield(value.Row{value.OfInt(1)}, nil) }
	p, _ := policy.New(policy.Rules{Unlisted: true}, []schema.Class{{Source: "s", Name: "notes", Table: "notes", Fields: []schema.Field{{Name: "a"}, {Name: "b"}}}})
	permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "notes", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	out, err := redact.Apply(permit, plan.MaskKey{}, permitless)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result.NewPage(out, 0); problem.CodeOf(err) != problem.Internal {
		t.Errorf("a row of another width: %v", err)
	}
	failed := errors.New("gone")
	out, _ = redact.Apply(permit, plan.MaskKey{}, func(yield func(value.Row, error) bool) { yield(nil, failed) })
	if _, err := result.NewPage(out, 0); !errors.Is(err, failed) {
		t.Errorf("a source that fails: %v", err)
	}
	if good.Plan() == nil {
		t.Error("rows without a plan")
	}
}

// wide returns records {id, title, body} with bodies of these lengths. As a source does, it cuts bodies of 1,000 or
// more characters.
func wide(t *testing.T, key bool, bodies ...int) redact.Rows {
	t.Helper()
	class := schema.Class{Source: "s", Name: "notes", Table: "notes",
		Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "title", Type: schema.String}, {Name: "body", Type: schema.String}}}
	if key {
		class.Key = []string{"id"}
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{class})
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "notes", Limit: 10, Order: []query.Sort{{Path: query.Path{"body"}}}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := redact.Apply(permit, plan.MaskKey{}, func(yield func(value.Row, error) bool) {
		for i, n := range bodies {
			body := value.OfString(strings.Repeat("x", n))
			if n >= 1000 {
				body = value.OfCut(int64(n))
			}
			row := value.Row{value.OfInt(int64(i)), value.OfString("title"), body}
			if key {
				row = append(row, body, value.OfInt(int64(i)))
			}
			if !yield(row, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDrops checks that a page over the budget loses its largest field and not records. A value that was too large to
// read must never be shown as null.
func TestDrops(t *testing.T) {
	for _, tt := range []struct {
		name   string
		bodies []int
		want   string
	}{
		{"all fits", []int{10, 10}, `[{"id":"0","title":"title","body":"xxxxxxxxxx"},{"id":"1","title":"title","body":"xxxxxxxxxx"}] dropped=[]`},
		{"one is most of the page", []int{10, 100}, `[{"id":"0","title":"title"},{"id":"1","title":"title"}] dropped=[{body 100}]`},
		{"what comes later is longer", []int{10, 100, 200}, `[{"id":"0","title":"title"},{"id":"1","title":"title"},{"id":"2","title":"title"}] dropped=[{body 200}]`},
		{"a value was cut", []int{1, 5000}, `[{"id":"0","title":"title"},{"id":"1","title":"title"}] dropped=[{body 5000}]`},
		{"the first was cut", []int{5000, 1}, `[{"id":"0","title":"title"},{"id":"1","title":"title"}] dropped=[{body 5000}]`},
	} {
		p, err := result.NewPage(wide(t, true, tt.bodies...), 120)
		if err != nil {
			t.Fatal(err)
		}
		var dropped []string
		for _, d := range p.Dropped {
			dropped = append(dropped, fmt.Sprintf("{%s %d}", d.Field, d.Bytes))
		}
		if got := fmt.Sprintf("%s dropped=%v", p.AppendJSON(nil), dropped); got != tt.want || p.Cut || p.More {
			t.Errorf("%s: cut %t, more %t\n got %s\nwant %s", tt.name, p.Cut, p.More, got, tt.want)
		}
		if tt.bodies[len(tt.bodies)-1] == 100 && strings.Contains(strings.Join(p.Columns, " "), "body") {
			t.Errorf("%s: columns %v", tt.name, p.Columns)
		}
	}
	// Fields of similar size are not dropped, because fewer records are better.
	p, err := result.NewPage(wide(t, true, 5, 5, 5, 5), 120)
	if err != nil || !p.Cut || p.Count != 2 || p.Dropped != nil || p.Full != 4 {
		t.Errorf("%d of %d records, dropped %v, %v", p.Count, p.Full, p.Dropped, err)
	}
}

// TestLongPlaces checks a page whose last place in the order is too long for a cursor. The next page then skips the
// number of records shown.
func TestLongPlaces(t *testing.T) {
	for body, want := range map[int]string{10: "[xxxxxxxxxx 0] 0", 600: "[] 1", 5000: "[] 1"} {
		p, err := result.NewPage(wide(t, true, body), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.Next.After, " ", p.Next.Skip); got != want {
			t.Errorf("a place of %d bytes: goes on at %s, want %s", body, got, want)
		}
	}
}

// TestExportTooLong checks that an export never silently omits a value that was too large to read.
func TestExportTooLong(t *testing.T) {
	for _, format := range []result.Format{result.CSV, result.JSONLines} {
		_, err := result.Export(io.Discard, wide(t, true, 1, 5000), result.ExportOptions{Format: format})
		if p := problem.Of(err); p == nil || p.Code != problem.BudgetExceeded || p.Detail != "body has 5000 bytes in record 2, more than is read of one value" {
			t.Errorf("%s: %v", format, err)
		}
		done, err := result.Export(io.Discard, wide(t, true, 1, 5000), result.ExportOptions{Format: format, Columns: []result.Selection{{Path: []string{"title"}}}})
		if err != nil || done.Count != 2 {
			t.Errorf("%s without it: %+v, %v", format, done, err)
		}
	}
}

// TestCountsAfterCut checks that a page stops counting further records if they are large.
func TestCountsAfterCut(t *testing.T) {
	p, err := result.NewPage(rows(t, 100, 60, 60, 5<<20, 5<<20, 5<<20), 100)
	if err != nil || !p.Cut || p.Full != 0 || p.Count != 1 || !p.More {
		t.Errorf("%+v, %v", p, err)
	}
}
