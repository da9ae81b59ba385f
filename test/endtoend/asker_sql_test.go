package endtoend

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/test/sourcetest/selects"
)

// sql returns a random SELECT. It also names hidden and missing classes and fields.
func (a *asker) sql() string {
	if a.IntN(12) == 0 {
		return pick(a.Rand, `SELECT * FROM information_schema.columns`, `SELECT table_name FROM information_schema.tables`, `SELECT * FROM information_schema.key_column_usage`, `SELECT * FROM information_schema.table_constraints`, `SELECT * FROM information_schema.constraint_column_usage`, `SELECT * FROM pg_catalog.pg_constraint`, `SELECT * FROM information_schema.metrics`, `SELECT count(*) AS n FROM information_schema.metrics m WHERE m.class = 'users'`, `SELECT 1 AS one`,
			`SELECT * FROM vaults`, `SELECT * FROM absent`, `DELETE FROM issues`, `SELECT 1; SELECT 2`, `SELECT version()`)
	}
	if a.IntN(10) == 0 {
		return a.noted()
	}
	if a.IntN(8) == 0 {
		return a.measured()
	}
	if a.IntN(2) == 0 {
		return a.drawn()
	}
	a.asked = a.class()
	one := a.selected(1 + a.IntN(2))
	if a.IntN(8) == 0 {
		a.asked = a.class()
		return one + " " + pick(a.Rand, "UNION", "UNION ALL", "INTERSECT", "EXCEPT") + " " + a.selected(0)
	}
	return one + pick(a.Rand, "", fmt.Sprintf(" LIMIT %d", 1+a.IntN(4)))
}

// noted returns a statement whose answer may have notes. The notes are about ties, nulls, joins that repeat records,
// shares of few records, and case.
func (a *asker) noted() string {
	column := pick(a.Rand, "status", "title", "assignee_id", "org_id", "points")
	switch a.IntN(5) {
	case 0:
		return fmt.Sprintf("SELECT %s, count(*) AS n FROM issues GROUP BY %[1]s ORDER BY n DESC LIMIT %d", column, 1+a.IntN(3))
	case 1:
		return fmt.Sprintf("SELECT count(*) AS n FROM issues WHERE %s %s", column, pick(a.Rand, "<> 'open'", "NOT IN ('a', 'open')", "NOT LIKE '%a%'", "<> '1'"))
	case 2:
		return fmt.Sprintf("SELECT %s(u.age) AS s FROM users u JOIN %s", pick(a.Rand, "sum", "avg"), pick(a.Rand, "comments c ON c.author_id = u.id", "issues i ON i.assignee_id = u.id"))
	case 3:
		return fmt.Sprintf("SELECT %s, 100.0 * count(points) / count(*) AS pct FROM issues GROUP BY %[1]s ORDER BY 1", column)
	}
	return fmt.Sprintf("SELECT id FROM users WHERE %s = '%s'", pick(a.Rand, "name", "role", "email"), pick(a.Rand, "ANN", "bOB", "Admin", "gLOBEX", "X", "a"))
}

// readable describes the tables of the worlds for statements of package selects.
var readable = []selects.Table{
	{Name: "users", Key: "id", Parent: "boss_id", Columns: []selects.Column{{Name: "id"}, {Name: "boss_id"}, {Name: "age"}, {Name: "name", Kind: selects.Text}, {Name: "role", Kind: selects.Text},
		{Name: "org_id", Kind: selects.Text}}},
	{Name: "issues", Columns: []selects.Column{{Name: "points"}, {Name: "assignee_id"}, {Name: "title", Kind: selects.Text}, {Name: "status", Kind: selects.Text}, {Name: "estimate", Kind: selects.Double},
		{Name: "due", Kind: selects.Instant}, {Name: "deleted_at", Kind: selects.Instant}, {Name: "urgent", Kind: selects.Boolean}, {Name: "custom", Kind: selects.JSON}}},
	{Name: "comments", Key: "id", Columns: []selects.Column{{Name: "id"}, {Name: "author_id"}, {Name: "body", Kind: selects.Text}}},
	{Name: "shifts", Columns: []selects.Column{{Name: "day"}, {Name: "slot"}, {Name: "who"}}},
	{Name: "shares", Key: "id", Columns: []selects.Column{{Name: "id"}, {Name: "owner_id"}, {Name: "title", Kind: selects.Text}, {Name: "orgs", Kind: selects.JSON}}},
	{Name: "parts", Key: "id", Columns: []selects.Column{{Name: "id"}, {Name: "share_id"}, {Name: "note", Kind: selects.Text}}},
	{Name: "events", Columns: []selects.Column{{Name: "n"}, {Name: "kind", Kind: selects.Text}}},
}

// drawn returns a statement of package selects. Sometimes it inserts the name of a hidden or missing class or field.
func (a *asker) drawn() string {
	w := &selects.Writer{Tables: readable, Foreign: 8, Draw: func(n int) int { return a.IntN(n + 1) }}
	text := w.Statement(1 + a.IntN(2)).Text
	if a.IntN(6) > 0 {
		return text
	}
	name := pick(a.Rand, ".name", ".title", ".age", ".points", ".who", ".body", ".n", ".kind", " users ", " issues ", " comments ")
	other := pick(a.Rand, ".email", ".rank", ".phone", ".score", ".extra", ".pay", ".draft", ".trace", ".absent")
	if name[0] == ' ' {
		other = pick(a.Rand, " vaults ", " isues ", " absent ")
	}
	return strings.Replace(text, name, other, 1+a.IntN(2))
}

// named returns the name of a column, sometimes in another case or in quotes.
func (a *asker) named() string {
	f := a.field()
	if strings.ContainsAny(f, ".$ ") || f == "" || a.IntN(12) == 0 {
		return `"` + strings.ReplaceAll(f, `"`, ``) + `x"`
	}
	return pick(a.Rand, f, f, f, "t."+f, `"`+f+`"`, strings.ToUpper(f))
}

// from returns a FROM item with the alias t.
func (a *asker) from(depth int) string {
	if depth > 0 && a.IntN(10) == 0 {
		return "(" + a.selected(0) + ") AS t"
	}
	return a.asked + " AS t"
}

// compared returns a condition.
func (a *asker) compared(depth int) string {
	constant := func() string {
		return pick(a.Rand, "1", "2", "101", "'a'", "'open'", "'acme'", "true", "null", "2.5", "'2026-01-31'", "'"+uuid(1)+"'", "'"+uuid(101)+"'",
			"12.5", "'10.0.0.1'", "'13:05:00'", "'PT1H'", "timestamp '2026-02-01'")
	}
	switch a.IntN(11) {
	case 9:
		return "extract(hour FROM " + a.named() + " AT TIME ZONE " + pick(a.Rand, "'Europe/Oslo'", "'UTC'") + ") > 3"
	case 10:
		return pick(a.Rand, "lpad(", "rpad(") + a.named() + "::text, 4, '0') > '0101'"
	case 0:
		return a.named() + pick(a.Rand, " IS NULL", " IS NOT NULL", " IS DISTINCT FROM ") + pick(a.Rand, "", "1")
	case 1:
		return a.named() + pick(a.Rand, " IN (", " NOT IN (") + constant() + ", " + constant() + ")"
	case 2:
		return a.named() + " LIKE " + pick(a.Rand, "'%a%'", "'a%'", "'_'", "'%'")
	case 3:
		return "(" + a.compared(depth) + pick(a.Rand, " AND ", " OR ") + a.compared(depth) + ")"
	case 4:
		return "NOT " + a.compared(depth)
	case 5:
		if depth > 0 {
			outer := a.named()
			was := a.asked
			a.asked = a.class()
			inner := "SELECT " + a.named() + " FROM " + a.asked + " AS t"
			second := a.named()
			a.asked = was
			if a.IntN(3) == 0 {
				return "(" + outer + ", " + a.named() + ")" + pick(a.Rand, " IN (", " NOT IN (") + strings.Replace(inner, " FROM ", ", "+second+" FROM ", 1) + ")"
			}
			return outer + pick(a.Rand, " IN (", " NOT IN (", " = ANY (") + inner + ")"
		}
	case 6:
		if depth > 0 {
			was, outer := a.asked, a.named()
			a.asked = a.class()
			inner := "EXISTS (SELECT 1 FROM " + a.asked + " AS u WHERE u." + a.field() + " = " + outer + ")"
			a.asked = was
			return inner
		}
	}
	return a.named() + pick(a.Rand, " = ", " <> ", " < ", " >= ") + pick(a.Rand, constant(), constant(), a.named())
}

// selected returns one SELECT.
func (a *asker) selected(depth int) string {
	where := ""
	if a.IntN(2) == 0 {
		where = " WHERE " + a.compared(depth)
	}
	join := ""
	if depth > 0 && a.IntN(4) == 0 {
		left := a.named()
		was := a.asked
		a.asked = a.class()
		join = pick(a.Rand, " JOIN ", " LEFT JOIN ", " FULL JOIN ") + a.asked + " AS j ON j." + a.field() + " = " + left
		a.asked = was
	}
	from := a.from(depth) + join
	switch a.IntN(6) {
	case 0:
		return "SELECT " + pick(a.Rand, "count(*)", "count(DISTINCT "+a.named()+")", "max("+a.named()+")", "sum("+a.named()+")", "array_agg("+a.named()+")", "mode() WITHIN GROUP (ORDER BY "+a.named()+")") + " AS v FROM " + from + where
	case 1:
		key := a.named()
		return "SELECT " + key + " AS k, count(*) AS n FROM " + from + where + " GROUP BY " + key + " ORDER BY n DESC, k"
	case 2:
		return "SELECT " + a.named() + " AS a, " + pick(a.Rand, "row_number()", "count(*)", "max("+a.named()+")", "lag("+a.named()+")") + " OVER (PARTITION BY " + a.named() + " ORDER BY " +
			a.named() + ") AS w FROM " + from + where
	case 3:
		return "SELECT DISTINCT " + a.named() + " AS a FROM " + from + where
	case 4:
		was, outer := a.asked, a.named()
		a.asked = a.class()
		inner := "(SELECT count(*) FROM " + a.asked + " AS u WHERE u." + a.field() + " = " + outer + ")"
		a.asked = was
		return "SELECT " + outer + " AS a, " + inner + " AS n FROM " + from + where
	}
	return "SELECT " + pick(a.Rand, "*", "t.*", a.named()+" AS a, "+a.named()+" AS b") + " FROM " + from + where + pick(a.Rand, "", " ORDER BY "+a.named()+pick(a.Rand, "", " DESC", " NULLS LAST"))
}
