package statements

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/selects"
	"github.com/bailiwick-dev/bailiwick/value"
	"pgregory.net/rapid"
)

// rounds is the default number of random statements for each source. BAILIWICK_SOAK overrides it.
const rounds = 400

// most is the number of records at which answers are cut. Longer answers aren't compared.
const most = 1000

// catalogue describes the shop for random statements. A member of customers.meta is a list of texts.
var catalogue = []selects.Table{
	{Name: "customers", Key: "id", Columns: []selects.Column{{Name: "id"}, {Name: "name", Kind: selects.Text}, {Name: "city", Kind: selects.Text}, {Name: "joined", Kind: selects.Instant},
		{Name: "vip", Kind: selects.Boolean}, {Name: "credit", Kind: selects.Double}, {Name: "meta", Kind: selects.JSON}}},
	{Name: "products", Key: "id", Columns: []selects.Column{{Name: "id"}, {Name: "name", Kind: selects.Text}, {Name: "kind", Kind: selects.Text}, {Name: "price", Kind: selects.Double}, {Name: "stock"}}},
	{Name: "orders", Key: "id", Columns: []selects.Column{{Name: "id"}, {Name: "customer_id"}, {Name: "status", Kind: selects.Text}, {Name: "placed", Kind: selects.Instant},
		{Name: "shipped", Kind: selects.Instant}, {Name: "note", Kind: selects.Text}}},
	{Name: "staff", Key: "id", Parent: "boss_id", Columns: []selects.Column{{Name: "id"}, {Name: "name", Kind: selects.Text}, {Name: "boss_id"}, {Name: "pay"}, {Name: "team", Kind: selects.Text}}},
	{Name: "items", Columns: []selects.Column{{Name: "order_id"}, {Name: "line"}, {Name: "product_id"}, {Name: "qty"}, {Name: "discount", Kind: selects.Double}}},
}

// A Target is a source under test with random statements.
type Target struct {
	Open   sourcetest.Open
	Oracle sourcetest.Oracle // creates the source whose answers are correct
	// Raw runs the text of a statement directly in the database and returns its records as JSON. It is nil if the
	// database rejects the text or gives it another meaning.
	Raw func(text string) ([]string, error)
	UTC bool // the server ignores time zones, so statements with time zones are omitted
}

// A differential compares the answers to random statements.
type differential struct {
	*subject
	oracle *subject
	raw    func(text string) ([]string, error)
	utc    bool

	compared, rows, raws, laws int
	refused                    map[string]int // by the text of the refusal without its position
}

// Differential runs random statements on a source and the oracle. They must have the same answers. If the database
// accepts the same text, its own answer must also be the same. For a plain list it checks two laws. The records for
// which a condition is true, false or null must together be all records. A condition in WHERE must find as many
// records as the complete list contains with a true condition.
func Differential(t *testing.T, target Target) {
	n := sourcetest.Rounds(t, rounds)
	data := sourcetest.Dataset{Tables: shop()}
	s := open(t, target.Open)
	classes, _, err := s.source.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	of := *s
	of.source = target.Oracle(classes, data.Rows(t, classes))
	d := &differential{subject: s, oracle: &of, raw: target.Raw, utc: target.UTC, refused: map[string]int{}}
	rapid.Check(t, d.check)
	t.Logf("%d statements compared, %d rows, %d with the database's own answer, %d laws", d.compared, d.rows, d.raws, d.laws)
	refused := slices.SortedFunc(maps.Keys(d.refused), func(a, b string) int { return d.refused[b] - d.refused[a] })
	for _, why := range refused[:min(len(refused), 10)] {
		t.Logf("refused %d times: %s", d.refused[why], why)
	}
	if testing.Short() {
		n /= 5 // as rapid does in short mode
	}
	if d.compared < n/2 || d.rows < n {
		t.Errorf("only %d statements with %d rows of %d rounds were compared", d.compared, d.rows, n)
	}
}

func (d *differential) check(t *rapid.T) {
	w := &selects.Writer{Tables: catalogue, Foreign: 8, Draw: func(n int) int { return rapid.IntRange(0, n).Draw(t, "n") }}
	q := w.Statement(2)
	if d.utc && slices.ContainsFunc([]string{"Europe/", "America/", "Asia/"}, func(zone string) bool { return strings.Contains(q.Text, zone) }) {
		return
	}
	got, err := d.ask(t.Context(), q.Text)
	if err != nil {
		d.refuse(t, q.Text, err)
		if several(err) {
			if _, other := d.oracle.ask(t.Context(), q.Text); other == nil || errorText(other) != errorText(err) {
				t.Fatalf("%s\n%s\nthe oracle: %v", q.Text, errorText(err), other)
			}
		}
		return
	}
	if len(got) >= most {
		return // the cut depends on the order
	}
	want, err := d.oracle.ask(t.Context(), q.Text)
	if problem.CodeOf(err) == problem.Unsupported && strings.HasPrefix(problem.Of(err).Detail, "the query makes more than") {
		d.refused["the oracle: too many values"]++ // memory refuses this join, but a database can run it
		return
	}
	if err != nil {
		t.Fatalf("%s\nthe oracle: %s", q.Text, errorText(err))
	}
	differ(t, "the oracle", q.Text, got, want)
	d.compared++
	d.rows += len(got)
	if d.raw != nil && !q.Own {
		if want, err := d.raw(fixTime(q.Text)); err == nil && !slices.ContainsFunc(want, beyond.MatchString) {
			differ(t, "the database", q.Text, got, want)
			d.raws++
		}
	}
	if q.Free != "" && q.Cond != "" {
		d.law(t, q, got)
	}
}

// several reports whether err says that a subquery for a single value returned several records.
func several(err error) bool { return err != nil && problem.Of(err).Kind == "several_records" }

// beyond matches a time that isn't supported here: before the year 1 or after 9999.
var beyond = regexp.MustCompile(`[0-9]{5}-[0-9]{2}-[0-9]{2}[T"]|[0-9] BC"`)

// refuse counts a refusal. It fails the test if the source failed.
func (d *differential) refuse(t *rapid.T, text string, err error) {
	t.Helper()
	p := problem.Of(err)
	if p.Code == problem.Internal || p.Code == problem.Upstream {
		t.Fatalf("%s\n%s", text, errorText(err))
	}
	why := p.Detail
	if _, rest, ok := strings.Cut(why, ": "); ok {
		why = rest
	}
	d.refused[why]++
}

// law checks the two laws for a list with a condition.
func (d *differential) law(t *rapid.T, q selects.Written, holds []string) {
	t.Helper()
	all, err := d.ask(t.Context(), q.Free)
	if several(err) { // without the condition, more records are evaluated
		return
	}
	if err != nil {
		t.Fatalf("%s\n%s", q.Free, errorText(err))
	}
	if len(all) >= most {
		return
	}
	parts := slices.Clone(holds)
	for _, form := range []string{" WHERE NOT (%s)", " WHERE (%s) IS NULL"} {
		text := q.Free + fmt.Sprintf(form, q.Cond)
		part, err := d.ask(t.Context(), text)
		if err != nil { // with NOT, the statement may be too long for the source
			d.refuse(t, text, err)
			return
		}
		parts = append(parts, part...)
	}
	differ(t, "the three parts of the list", q.Free+" | "+q.Cond, parts, all)
	text := q.With + "SELECT sum(CASE WHEN " + q.Cond + " THEN 1 ELSE 0 END) AS n FROM " + q.From
	n, err := d.ask(t.Context(), text)
	if several(err) {
		return
	}
	if err != nil {
		t.Fatalf("%s\n%s", text, errorText(err))
	}
	want := fmt.Sprintf(`{"n":%d}`, len(holds))
	if len(all) == 0 {
		want = `{"n":null}`
	}
	differ(t, "the records that WHERE finds", text, n, []string{want})
	d.laws++
}

// differ fails if two answers contain different records, in any order.
func differ(t *rapid.T, other, text string, got, want []string) {
	t.Helper()
	if !same(sortRecords(got), sortRecords(want)) {
		t.Fatalf("%s\n%d records:\n  %s\n%s, %d:\n  %s", text, len(got), few(got), other, len(want), few(want))
	}
}

// few returns the first records as lines.
func few(records []string) string { return strings.Join(records[:min(len(records), 20)], "\n  ") }

// sortRecords sorts records by their text with rounded numbers, because sums of doubles depend on their order.
func sortRecords(records []string) []string {
	keys := make(map[string]string, len(records))
	for _, r := range records {
		v, err := value.Read([]byte(r), 20)
		if err != nil {
			continue
		}
		var key, exact strings.Builder
		for _, m := range v.Members() {
			switch v := m.Value; {
			case v.IsNumber():
				f, _ := v.AsFloat()
				fmt.Fprintf(&key, "%.9g|", f+0)
				fmt.Fprintf(&exact, "%.13g|", f+0)
			case v.Kind() == value.String:
				if at, ok := value.OfDateText(v.Text()); ok && len(v.Text()) > 10 {
					fmt.Fprintf(&key, "%d|", at.Micros())
					continue
				}
				fallthrough
			default:
				fmt.Fprintf(&key, "%d %s|", v.Kind(), v)
			}
		}
		keys[r] = key.String() + exact.String() // defines an order of numbers that agree in nine digits
	}
	out := slices.Clone(records)
	slices.SortStableFunc(out, func(a, b string) int { return strings.Compare(keys[a], keys[b]) })
	return out
}
