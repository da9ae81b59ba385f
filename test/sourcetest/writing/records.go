package writing

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
)

// A row contains writes and their result. The result is "before → after" of each write, the other records that are
// deleted, and the reason for which the database would refuse. Then the applied records follow. The rows of a table
// run in sequence in one database.
type row struct {
	writes []string
	want   string
	others [3]string // results of dialects that differ
}

func (d *database) rows(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		if got, want := d.previewAndApply(t, r.writes...), cmp.Or(r.others[d.Kind], r.want); got != want {
			t.Errorf("%s\n got %s\nwant %s", strings.Join(r.writes, "\n"), got, want)
		}
	}
}

// previewAndApply previews writes, applies them twice, and returns the result.
func (d *database) previewAndApply(t *testing.T, texts ...string) string {
	t.Helper()
	seen, err := d.previewWrites(t, texts...)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for i, e := range seen.Effects {
		if i > 0 {
			b.WriteString(" & ")
		}
		fmt.Fprintf(&b, "%v → %v", e.Before, e.After)
	}
	for _, c := range seen.Cascades {
		fmt.Fprintf(&b, "; %s %d %s", c.Effect, c.Records, c.Class)
	}
	if seen.Refusal != "" {
		fmt.Fprintf(&b, "; refused: %s", seen.Refusal)
	}
	if seen.Kind != cmp.Or(d.Shows, change.Executed) {
		t.Errorf("%v: the preview is %s", texts, seen.Kind)
	}
	c := d.changeFrom(t, seen, texts...)
	r, err := d.apply(t, c, 1)
	again, twice := d.apply(t, c, 1)
	switch {
	case err != nil:
		if fmt.Sprint(twice) != err.Error() {
			t.Errorf("%v: once %v, then %v", texts, err, twice)
		}
		fmt.Fprintf(&b, "; %v", err)
	case twice != nil || !again.Again || fmt.Sprint(again.Keys, again.Rows, again.After) != fmt.Sprint(r.Keys, r.Rows, r.After):
		t.Errorf("%v: once %v, then %v %v", texts, r, again, twice)
	default:
		for i, e := range seen.Effects {
			if !strings.HasPrefix(texts[i], `{"op":"create"`) && e.After.String() != r.After[i].String() {
				t.Errorf("%v: shown as %v, became %v", texts, e.After, r.After[i])
			}
		}
		fmt.Fprintf(&b, "; applied %s", strings.Join(r.Keys, " "))
	}
	return b.String()
}

func one(text string) []string { return []string{text} }

// records tests the effects of defaults, keys, triggers, constraints, cascades and views on single writes.
func records(t *testing.T, d *database) {
	d.rows(t, made)
	d.rows(t, constrained)
	d.rows(t, outside)
	d.rows(t, cascading)
	for query, want := range map[string]int64{
		"SELECT count(*) FROM comments":                                1, // the comment on issue 3
		"SELECT count(*) FROM likes":                                   1,
		"SELECT count(*) FROM pins WHERE issue IS NULL":                2,
		"SELECT count(*) FROM issues":                                  3, // issues 3 and 4, and the new issue
		"SELECT count(*) FROM projects WHERE org = 'other'":            1,
		"SELECT count(*) FROM bailiwick_applied WHERE receipt IS NULL": map[bool]int64{false: 7, true: 6}[d.Kind == sourcetest.MySQL], // refused changes
	} {
		if got := d.count(t, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

// testRevivedRecords tests a record that a revert restores. It must have its former id, even if only the database
// assigns ids. It must not take an id that was used again.
func testRevivedRecords(t *testing.T, d *database) {
	d.run(t, [3]string{"CREATE TABLE counted (id INTEGER PRIMARY KEY, n INT, twice INT GENERATED ALWAYS AS (n * 2) VIRTUAL)",
		"CREATE TABLE counted (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int4, twice int4 GENERATED ALWAYS AS (n * 2) STORED)",
		"CREATE TABLE counted (id bigint AUTO_INCREMENT PRIMARY KEY, n int, twice int AS (n * 2) STORED)"}[d.Kind])
	d.look(t)
	back := one(`{"op":"create","class":"counted","data":{"id":41,"n":4,"twice":8}}`)
	d.rows(t, []row{{writes: back, want: "invalid_argument: id is filled in by the source"}})
	d.action = writes.Revert
	d.rows(t, []row{
		{writes: back, want: ` → {"id":41,"n":4,"twice":8}; applied 41`},
		{writes: back, want: ` → {"id":41,"n":4,"twice":null}; refused: another record has the same id; conflict: another record has the same id`},
	})
}

var (
	made = []row{
		// defaults, generated keys, and keys of several fields
		{writes: one(`{"op":"create","class":"issues","data":{"project":"1","title":"new"}}`),
			want: ` → {"id":101,"project":1,"title":"new","votes":0,"parent":null,"loud":null}; applied 101`,
			others: [3]string{1: ` → {"id":101,"project":1,"title":"new","votes":0,"parent":null,"loud":null}; applied 102`,
				2: ` → {"id":101,"project":1,"title":"new","votes":0,"parent":null,"loud":null}; applied 102`}},
		{writes: one(`{"op":"create","class":"members","data":{"project":"1","person":"李雷 👩‍🚀"}}`),
			want: ` → {"project":1,"person":"李雷 👩‍🚀","role":"reader"}; applied ["1","李雷 👩‍🚀"]`},
		{writes: one(`{"op":"update","class":"members","id":"[\"1\",\"zoë\"]","data":{"role":null}}`),
			want: `{"project":1,"person":"zoë","role":"owner"} → {"project":1,"person":"zoë","role":null}; applied ["1","zoë"]`},
		{writes: one(`{"op":"delete","class":"members","id":"[\"1\",\"bob\"]"}`), want: `{"project":1,"person":"bob","role":"reader"} → ; applied ["1","bob"]`},
		{writes: one(`{"op":"update","class":"marks","id":"0","data":{"n":0}}`), want: `{"id":0,"n":0} → {"id":0,"n":0}; applied 0`},
		{writes: one(`{"op":"create","class":"projects","data":{"id":"9007199254740993","name":"big"}}`),
			want: ` → {"id":9007199254740993,"org":"acme","name":"big","budget":5}; applied 9007199254740993`},
		// triggers
		{writes: one(`{"op":"update","class":"issues","id":"2","data":{"title":"b2"}}`),
			want: `{"id":2,"project":1,"title":"b","votes":2,"parent":1,"loud":null} → {"id":2,"project":1,"title":"b2","votes":2,"parent":1,"loud":"B2"}; applied 2`},
		{writes: one(`{"op":"update","class":"issues","id":"2","data":{"title":"no"}}`),
			want: `{"id":2,"project":1,"title":"b2","votes":2,"parent":1,"loud":"B2"} → {"id":2,"project":1,"title":"no","votes":2,"parent":1,"loud":"B2"}` +
				`; refused: a trigger of the database refuses it; conflict: a trigger of the database refuses it`},
		{writes: one(`{"op":"update","class":"issues","id":"2","data":{"title":"never"}}`),
			want: `{"id":2,"project":1,"title":"b2","votes":2,"parent":1,"loud":"B2"} → {"id":2,"project":1,"title":"never","votes":2,"parent":1,"loud":"B2"}` +
				`; refused: the database doesn't write exactly this record; conflict: the database doesn't write exactly this record`,
			others: [3]string{2: `{"id":2,"project":1,"title":"b2","votes":2,"parent":1,"loud":"B2"} → {"id":2,"project":1,"title":"never","votes":2,"parent":1,"loud":"NEVER"}; applied 2`}},
	}
	constrained = []row{
		{writes: one(`{"op":"create","class":"projects","data":{"id":"5","name":"one"}}`),
			want: ` → {"id":5,"org":"acme","name":"one","budget":null}; refused: another record has the same org, name; conflict: another record has the same org, name`},
		{writes: one(`{"op":"create","class":"projects","data":{"id":"3","name":"hidden"}}`),
			want: ` → {"id":3,"org":"acme","name":"hidden","budget":null}; refused: another record has the same id; conflict: another record has the same id`},
		{writes: one(`{"op":"update","class":"projects","id":"1","data":{"budget":-1}}`),
			want: `invalid_argument: budget must be at least 0, not -1`},
		{writes: one(`{"op":"update","class":"issues","id":"1","data":{"votes":100}}`),
			want: `{"id":1,"project":1,"title":"a","votes":1,"parent":null,"loud":null} → {"id":1,"project":1,"title":"a","votes":100,"parent":null,"loud":null}` +
				`; refused: a constraint on votes doesn't hold: issues_votes; conflict: a constraint on votes doesn't hold: issues_votes`},
		{writes: one(`{"op":"update","class":"issues","id":"1","data":{"parent":"77"}}`),
			want: `{"id":1,"project":1,"title":"a","votes":1,"parent":null,"loud":null} → {"id":1,"project":1,"title":"a","votes":1,"parent":77,"loud":null}` +
				`; refused: parent leads to no record; conflict: parent leads to no record`,
			others: [3]string{`{"id":1,"project":1,"title":"a","votes":1,"parent":null,"loud":null} → {"id":1,"project":1,"title":"a","votes":1,"parent":77,"loud":null}` +
				`; refused: a field leads to no record; conflict: a field leads to no record`}},
		{writes: one(`{"op":"delete","class":"projects","id":"4"}`),
			want:   `{"id":4,"org":"acme","name":"four","budget":5} → ; refused: records of bills lead to it; conflict: records of bills lead to it`,
			others: [3]string{`{"id":4,"org":"acme","name":"four","budget":5} → ; refused: other records lead to it; conflict: other records lead to it`}},
	}
	outside = []row{
		{writes: one(`{"op":"update","class":"issues","id":"3","data":{"title":"x"}}`), want: `not_found: there is no record "3" in issues`},
		{writes: one(`{"op":"update","class":"issues","id":"999","data":{"title":"x"}}`), want: `not_found: there is no record "999" in issues`},
		{writes: one(`{"op":"delete","class":"projects","id":"3"}`), want: `not_found: there is no record "3" in projects`},
		{writes: one(`{"op":"create","class":"issues","data":{"project":"3","title":"x"}}`), want: `not_found: there is no record "" in issues`},
		{writes: one(`{"op":"create","class":"issues","data":{"project":"78","title":"x"}}`), want: `not_found: there is no record "" in issues`},
		{writes: one(`{"op":"update","class":"issues","id":"1","data":{"project":"3"}}`), want: `not_found: there is no record "1" in issues`},
		{writes: one(`{"op":"update","class":"issues","id":"1","data":{"project":"78"}}`), want: `not_found: there is no record "1" in issues`},
		{writes: one(`{"op":"update","class":"projects","id":"1","data":{"org":"other"}}`), want: `not_found: there is no record "1" in projects`},
		{writes: one(`{"op":"create","class":"projects","data":{"id":"3","org":"other"}}`), want: `not_found: there is no record "" in projects`},
		{writes: one(`{"op":"create","class":"projects","data":{"id":"6","org":"other"}}`), want: `not_found: there is no record "" in projects`},
	}
	cascading = []row{
		{writes: one(`{"op":"delete","class":"issues","id":"5"}`),
			want: `{"id":5,"project":1,"title":"e","votes":5,"parent":2,"loud":null} → ; set_null 1 app.pins; applied 5`},
		{writes: one(`{"op":"delete","class":"issues","id":"1"}`),
			want: `{"id":1,"project":1,"title":"a","votes":1,"parent":null,"loud":null} → ; delete 3 app.comments; delete 1 app.issues; delete 2 app.likes; set_null 1 app.pins; applied 1`},
	}
)

// groups tests several writes in one transaction.
func groups(t *testing.T, d *database) {
	d.rows(t, []row{
		{writes: []string{`{"op":"create","class":"projects","data":{"id":"7","name":"seven"}}`, `{"op":"create","class":"issues","data":{"project":"7","title":"first"}}`,
			`{"op":"update","class":"issues","id":"4","data":{"project":"7","title":"dd"}}`},
			want: ` → {"id":7,"org":"acme","name":"seven","budget":5} &  → {"id":101,"project":7,"title":"first","votes":0,"parent":null,"loud":null}` +
				` & {"id":4,"project":2,"title":"d","votes":4,"parent":null,"loud":null} → {"id":4,"project":7,"title":"dd","votes":4,"parent":null,"loud":"DD"}; applied 7 ` + [...]string{"101", "102", "102"}[d.Kind] + ` 4`},
		// the diff of a second write to a record would reveal whether the first write found a hidden record
		{writes: []string{`{"op":"update","class":"marks","id":"0","data":{"n":3}}`, `{"op":"update","class":"marks","id":"0","data":{"n":0}}`},
			want: `invalid_argument: it writes the record of /writes/0 again`},
		// a key that the database generates can't be guessed. A key that the group sets can be used
		{writes: []string{`{"op":"create","class":"issues","data":{"project":"7","title":"made"}}`,
			`{"op":"update","class":"issues","id":"` + [...]string{"102", "103", "103"}[d.Kind] + `","data":{"title":"guessed"}}`},
			want: `not_found: there is no record "` + [...]string{"102", "103", "103"}[d.Kind] + `" in issues`},
		{writes: []string{`{"op":"create","class":"projects","data":{"id":"8","name":"eight"}}`, `{"op":"delete","class":"projects","id":"8"}`},
			want: ` → {"id":8,"org":"acme","name":"eight","budget":5} & {"id":8,"org":"acme","name":"eight","budget":5} → ; applied 8 8`},
		// if one write is refused, none is written
		{writes: []string{`{"op":"update","class":"marks","id":"0","data":{"n":1}}`, `{"op":"create","class":"projects","data":{"id":"1","name":"x"}}`,
			`{"op":"update","class":"issues","id":"2","data":{"title":"no"}}`},
			want: `{"id":0,"n":0} → {"id":0,"n":1} &  → {"id":1,"org":"acme","name":"x","budget":null} & {"id":2,"project":1,"title":"b","votes":2,"parent":1,"loud":null}` +
				` → {"id":2,"project":1,"title":"no","votes":2,"parent":1,"loud":null}; refused: write 2: another record has the same id. write 3: a trigger of the database refuses it` +
				`; conflict: another record has the same id`},
		{writes: []string{`{"op":"update","class":"marks","id":"0","data":{"n":1}}`, `{"op":"update","class":"issues","id":"3","data":{"title":"x"}}`},
			want: `not_found: there is no record "3" in issues`},
	})
	if n := d.count(t, "SELECT n FROM marks WHERE id = 0"); n != 0 {
		t.Errorf("a part of a group was written: %d", n)
	}
	if n := d.count(t, "SELECT count(*) FROM trail"); n != 1 {
		t.Errorf("%d trails, want 1: those of previews are taken back", n)
	}
}
