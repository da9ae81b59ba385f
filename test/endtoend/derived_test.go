package endtoend_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// A derivedDialect contains the SQL syntax of a database for the generated views.
type derivedDialect struct {
	open     func(t *testing.T, ddl []string) changing
	fallible bool // the database may refuse some views
	expr     []string
	agg      []string
	texts    string // the type of text columns
	views    int    // the number of views
}

// derivedDialects returns the databases that support views. In an expression, @ stands for a text column and # for
// another one.
func derivedDialects() map[string]derivedDialect {
	common := []string{"coalesce(@, #)", "CASE WHEN @ IS NULL THEN # ELSE @ END", "upper(@)", "lower(@)", "trim(@)", "nullif(@, #)", "replace(@, 'zz', #)", "(@)"}
	return map[string]derivedDialect{
		"SQLite": {views: 1000, texts: "text", expr: append([]string{"@ || #", "'<' || @ || '>'", "substr(@, 1, 40)", "CAST(@ AS text)", "json_object('a', @, 'b', #)", "(@ COLLATE NOCASE)", "printf('%s-%s', @, #)"}, common...),
			agg:  []string{"max(@)", "min(@)", "group_concat(@, #)", "json_group_array(@)"},
			open: changingSQLite},
		"PostgreSQL": {views: 500, texts: "text", expr: append([]string{"@ || #", "'<' || @ || '>'", "substr(@, 1, 40)", "CAST(@ AS text)", "json_build_object('a', @, 'b', #)::text", "format('%s-%s', @, #)",
			"(ARRAY[@, #])[1]", "concat(@, #)", `(@ COLLATE "C")`, "greatest(@, #)", "(SELECT x.v FROM (SELECT @ AS v) x)", "overlay(@ placing # from 1 for 0)", "(SELECT string_agg(u, ',') FROM unnest(ARRAY[@, #]) u)"}, common...),
			agg:  []string{"max(@)", "min(@)", "string_agg(@, #)", "array_to_string(array_agg(@), ',')", "(json_agg(@))::text", "max(@) FILTER (WHERE # IS NOT NULL)"},
			open: changingPostgres},
		"MariaDB": {views: 500, texts: "varchar(200)", fallible: true, expr: append([]string{"concat(@, #)", "concat('<', @, '>')", "substr(@, 1, 40)", "CAST(@ AS char)", "JSON_OBJECT('a', @, 'b', #)", "concat_ws('it\\'s', @, #)",
			"if(@ IS NULL, #, @)", "convert(@ USING utf8mb4)", "greatest(@, #)", "insert(@, 1, 0, #)"}, common...),
			agg:  []string{"max(@)", "min(@)", "group_concat(@ ORDER BY # SEPARATOR '-')", "group_concat(DISTINCT @)"},
			open: changingMariaDB},
	}
}

// A derivedColumn is a text column of a table or a view, with the table columns that it is derived from.
type derivedColumn struct {
	name string
	from map[string]bool
}

// A derivedTable is a table or a view. Its column k contains numbers.
type derivedTable struct {
	name    string
	columns []derivedColumn
	depth   int
}

// A deriver generates views on tables.
type deriver struct {
	*rand.Rand
	derivedDialect
	tables []derivedTable
	views  []derivedTable
	n      int
}

// choose returns a random value of a list.
func choose[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// merged returns the union of the columns that these columns are derived from.
func merged(columns ...derivedColumn) map[string]bool {
	out := map[string]bool{}
	for _, c := range columns {
		for f := range c.from {
			out[f] = true
		}
	}
	return out
}

// any returns a random table or view that isn't nested too deeply.
func (d *deriver) any() derivedTable {
	for {
		if d.IntN(2) == 0 || len(d.views) == 0 {
			return d.tables[d.IntN(len(d.tables))]
		}
		if v := d.views[d.IntN(len(d.views))]; v.depth < 4 {
			return v
		}
	}
}

// alias returns a new name.
func (d *deriver) alias() string {
	d.n++
	return fmt.Sprintf("n%d", d.n)
}

// expression returns an expression on two columns of items, written as alias.column, and the columns that it is
// derived from.
func (d *deriver) expression(items map[string]derivedTable, forms []string) (string, map[string]bool) {
	names := slices.Sorted(func(yield func(string) bool) {
		for a := range items {
			if !yield(a) {
				return
			}
		}
	})
	draw := func() (string, derivedColumn) {
		a := names[d.IntN(len(names))]
		c := items[a].columns[d.IntN(len(items[a].columns))]
		return a + "." + c.name, c
	}
	text, c := draw()
	from := merged(c)
	depth := d.IntN(3)
	if len(forms) != len(d.expr) {
		depth = 1
	}
	for range depth {
		other, o := draw()
		form := forms[d.IntN(len(forms))]
		if strings.Contains(form, "#") {
			from = merged(derivedColumn{from: from}, o)
		}
		text = strings.NewReplacer("@", text, "#", other).Replace(form)
	}
	return text, from
}

// body returns a SELECT of k and some text columns, without LIMIT.
func (d *deriver) body(width, depth int) (string, []derivedColumn, int) {
	if depth > 0 {
		switch d.IntN(6) {
		case 0: // UNION
			a, left, n := d.body(width, depth-1)
			b, right, m := d.body(width, depth-1)
			for i := range left {
				left[i].from = merged(left[i], right[i])
			}
			return a + choose(d.Rand, " UNION ALL ", " UNION ") + b, left, max(n, m)
		case 1: // WITH
			inner, columns, n := d.body(width, depth-1)
			w := d.alias()
			out, list := d.renamed(w, columns)
			return fmt.Sprintf("SELECT * FROM (WITH %s AS (%s) SELECT %s FROM %s) %s", w, inner, list, w, d.alias()), out, n
		case 2: // a subquery in FROM
			inner, columns, n := d.body(width, depth-1)
			w := d.alias()
			out, list := d.renamed(w, columns)
			return fmt.Sprintf("SELECT %s FROM (%s%s) %s", list, inner, choose(d.Rand, "", d.order(columns)+" LIMIT 2"), w), out, n
		}
	}
	return d.simple(width)
}

// order returns an ORDER BY of k or one of these columns.
func (d *deriver) order(columns []derivedColumn) string {
	return " ORDER BY " + choose(d.Rand, "k", columns[d.IntN(len(columns))].name) + choose(d.Rand, "", " DESC")
}

// renamed returns a select list that renames the columns of an item.
func (d *deriver) renamed(item string, columns []derivedColumn) (out []derivedColumn, list string) {
	list = item + ".k AS k"
	for _, c := range columns {
		name := d.alias()
		list += fmt.Sprintf(", %s.%s AS %s", item, c.name, name)
		out = append(out, derivedColumn{name, c.from})
	}
	return out, list
}

// simple returns a SELECT on one or two tables. It may contain groups, windows and scalar subqueries.
func (d *deriver) simple(width int) (string, []derivedColumn, int) {
	t, a := d.any(), d.alias()
	items, from, depth := map[string]derivedTable{a: t}, t.name+" "+a, t.depth
	if d.IntN(2) == 0 {
		u, b := d.any(), d.alias()
		items[b], depth = u, max(depth, u.depth)
		from += fmt.Sprintf("%s %s %s ON %s.k = %s.k", choose(d.Rand, " JOIN", " LEFT JOIN"), u.name, b, a, b)
	}
	grouped := d.IntN(4) == 0
	list, end := "", ""
	var out []derivedColumn
	if list = a + ".k AS k"; grouped {
		end = " GROUP BY " + a + ".k"
	}
	for range width {
		name := d.alias()
		var text string
		var made map[string]bool
		switch n := d.IntN(8); {
		case grouped:
			text, made = d.expression(items, d.agg)
		case n == 0: // a scalar subquery
			o, b := d.any(), d.alias()
			c := o.columns[d.IntN(len(o.columns))]
			text, made = fmt.Sprintf("(SELECT max(%s.%s) FROM %s %s WHERE %s.k = %s.k)", b, c.name, o.name, b, b, a), merged(c)
		case n == 1: // a window
			c := t.columns[d.IntN(len(t.columns))]
			by := t.columns[d.IntN(len(t.columns))]
			text, made = fmt.Sprintf("%s(%s.%s) OVER (%s BY %s.%s)", choose(d.Rand, "max", "min"), a, c.name, choose(d.Rand, "ORDER", "PARTITION"), a, by.name), merged(c, by)
		default:
			text, made = d.expression(items, d.expr)
		}
		list += ", " + text + " AS " + name
		out = append(out, derivedColumn{name, made})
	}
	return "SELECT " + list + " FROM " + from + end, out, depth
}

// TestDerivedCanaries creates views of views on tables with denied and masked columns. Their values are recognisable.
// No such value may reach an agent through a view. Fields that are derived only from other columns must stay visible.
// BAILIWICK_DERIVED sets the number of views for each database.
func TestDerivedCanaries(t *testing.T) {
	for name, dialect := range derivedDialects() {
		t.Run(name, func(t *testing.T) {
			want := dialect.views
			if testing.Short() {
				want /= 5
			}
			if s := os.Getenv("BAILIWICK_DERIVED"); s != "" {
				fmt.Sscan(s, &want)
			}
			var seed uint64
			if s := os.Getenv("BAILIWICK_SEED"); s != "" {
				fmt.Sscan(s, &seed)
			}
			const batch = 100
			total := derivedTally{}
			for ; total.views < want && !t.Failed(); seed++ {
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { // the subtest closes what it opens
					derivedBatch(t, dialect, seed, min(batch, want-total.views), &total)
				})
			}
			t.Logf("%d views with %d columns: %d made of denied or masked columns, %d of others, of which %d are hidden or masked; %d calls about one column, of which %d are answered", total.views, total.guarded+total.free, total.guarded, total.free, total.strict, total.probes, total.answered)
			if total.answered < total.probes/10 || total.free < total.views/4 || total.guarded < total.views/4 || total.strict*50 > total.free {
				t.Errorf("%+v", total)
			}
		})
	}
}

// derivedTally counts the results of a test.
type derivedTally struct {
	views, guarded, free, strict int
	probes, answered             int // calls on one column, and answered calls on columns that are not protected
}

// derivedBatch creates the views of one seed and reads all of them.
func derivedBatch(t *testing.T, dialect derivedDialect, seed uint64, views int, total *derivedTally) {
	c := dialect.open(t, []string{"CREATE TABLE other (k int PRIMARY KEY)"})
	run := c.run
	d := &deriver{Rand: rand.New(rand.NewPCG(seed, 38)), derivedDialect: dialect}
	rules := policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{}}
	canaries := d.base(t, run, rules)
	for len(d.views) < views {
		body, columns, depth := d.body(1+d.IntN(4), 2)
		v := derivedTable{name: fmt.Sprintf("v%d", len(d.views)), columns: columns, depth: depth + 1}
		if err := run("CREATE VIEW " + v.name + " AS " + body + choose(d.Rand, "", d.order(columns)) + " LIMIT 3"); err != nil {
			if !dialect.fallible {
				t.Fatalf("seed %d: %v in %s", seed, err, body)
			}
			continue
		}
		d.views = append(d.views, v)
	}
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Rules: rules, Sources: map[string]source.Source{"app": c.source}, Audit: &audit.Memory{}, Secret: make([]byte, 32),
		Limits: limit.Options{PerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	s := &sentinel{T: t, Rand: d.Rand, tools: tools, canaries: canaries, seed: seed}
	for _, v := range append(slices.Clone(d.tables), d.views...) {
		s.look(v, total)
	}
	total.views += len(d.views)
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// base creates the tables. For each denied or masked column it returns a canary, which is a text that each value of
// the column contains.
func (d *deriver) base(t *testing.T, run func(string) error, rules policy.Rules) map[string]string {
	canaries := map[string]string{}
	for i := range 4 {
		table := derivedTable{name: fmt.Sprintf("t%d", i)}
		rule := policy.ClassRule{Mask: map[string]policy.Mask{}, MaskInside: map[string][]policy.Pattern{}}
		list, values := "", [3]string{}
		for j := range 5 {
			name := fmt.Sprintf("c%d", j)
			column := table.name + "." + name
			guarded, more := true, ""
			switch d.IntN(8) {
			case 0:
				name = choose(d.Rand, "password", "api_token", "secret_key") + fmt.Sprint(j)
				name = strings.TrimRight(name, "0123456789") + strings.Repeat("_hash", j)
				column = table.name + "." + name
			case 1:
				rule.Denied = append(rule.Denied, name)
			case 2:
				rule.Mask[name] = choose(d.Rand, policy.Partial, policy.Hash, policy.Null, policy.Pseudonym, policy.Inside)
				if rule.Mask[name] == policy.Inside {
					rule.MaskInside[name] = policy.Patterns()
					more = "@mail.example"
				}
			default:
				guarded = false
			}
			if guarded {
				canaries[column] = fmt.Sprintf("kq%dw%dzj", i, j)
			}
			list += ", " + name + " " + d.texts
			for r := range values {
				values[r] += fmt.Sprintf(", 'a%d %skq%dw%dzj%s'", r, map[bool]string{true: "", false: "plain-"}[guarded], i, j, more)
			}
			table.columns = append(table.columns, derivedColumn{name, map[string]bool{column: true}})
		}
		if err := run(fmt.Sprintf("CREATE TABLE %s (k int PRIMARY KEY%s)", table.name, list)); err != nil {
			t.Fatal(err)
		}
		for r, v := range values {
			if err := run(fmt.Sprintf("INSERT INTO %s VALUES (%d%s)", table.name, r, v)); err != nil {
				t.Fatal(err)
			}
		}
		d.tables = append(d.tables, table)
		rules.Classes[table.name] = rule
	}
	return canaries
}
