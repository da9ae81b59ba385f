package sqldriver

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

const (
	maxLevels  = 4         // the maximum number of references between a deleted record and a counted record
	maxPaths   = 64        // the maximum number of paths that are followed
	maxCounted = 1_000_000 // the maximum number of records of one class that are counted
)

// A CountStatement counts the records of a table that a write deletes or changes through references.
type CountStatement struct {
	Space, Table string
	Effect       string           // as in change.Cascade
	Statement    sqlgen.Statement // it returns one row with one integer
}

// A path is a sequence of references that starts at the written record.
type path []schema.Reference

// effect returns the effect on the records at the end of p.
func (p path) effect(changed bool) string {
	switch rule := p[len(p)-1].Delete; {
	case changed && p[0].Changed == schema.SetNull, !changed && rule == schema.SetNull:
		return "set_null"
	case changed:
		return "update"
	}
	return "delete"
}

// CascadeCounts compiles statements that count the records that are deleted or changed with the record of c with the
// key id. The records are at most maxLevels references away. If fields is nil, the record is deleted. Otherwise its
// fields get other values. refs are all references of the database.
func CascadeCounts(d sqlgen.Dialect, c *schema.Class, id []value.Value, fields []string, refs []schema.Reference) ([]CountStatement, error) {
	groups := map[[3]string][]path{}
	for _, p := range dmlPaths(c, fields, refs) {
		last := p[len(p)-1]
		at := [3]string{last.Space, last.Table, p.effect(fields != nil)}
		groups[at] = append(groups[at], p)
	}
	var out []CountStatement
	for at, ways := range groups {
		goes := groups[[3]string{at[0], at[1], "delete"}]
		if at[2] == "delete" {
			goes = nil
		}
		st, err := compileCount(d, c, id, ways, goes)
		if err != nil {
			return nil, err
		}
		out = append(out, CountStatement{at[0], at[1], at[2], st})
	}
	slices.SortFunc(out, func(a, b CountStatement) int {
		return cmp.Or(cmp.Compare(a.Space, b.Space), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Effect, b.Effect))
	})
	return out, nil
}

// dmlPaths returns the paths to records that are deleted or changed with a record of c. The shortest paths come
// first.
func dmlPaths(c *schema.Class, fields []string, refs []schema.Reference) []path {
	var found []path
	for _, r := range refs {
		touched := slices.ContainsFunc(r.Targets, func(f string) bool { return slices.Contains(fields, f) })
		rule := r.Delete
		if fields != nil {
			rule = r.Changed
		}
		if r.ToSpace == c.Space && r.To == c.Table && rule != schema.Refuse && (fields == nil || touched) {
			found = append(found, path{r})
		}
	}
	if fields != nil {
		return found
	}
	for i := 0; i < len(found); i++ {
		p := found[i]
		last := p[len(p)-1]
		if last.Delete != schema.Cascade || len(p) == maxLevels {
			continue
		}
		for _, r := range refs {
			if r.ToSpace == last.Space && r.To == last.Table && r.Delete != schema.Refuse && len(found) < maxPaths {
				found = append(found, append(slices.Clone(p), r))
			}
		}
	}
	return found
}

// compileCount compiles the count of the records at the ends of ways. It doesn't count the record itself and the
// records at the ends of the ways in but.
func compileCount(d sqlgen.Dialect, c *schema.Class, id []value.Value, ways, but []path) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	last := ways[0][len(ways[0])-1]
	t.Write("SELECT count(*) FROM (SELECT 1 AS n FROM ", t.Table(last.Space, last.Table), " AS r0 WHERE (")
	var named error // one error for all conditions, since each names the same record
	for i, p := range ways {
		t.Write([]string{"", " OR "}[min(i, 1)])
		named = writePathCondition(t, c, id, p, 0)
	}
	t.Write(")")
	before, after := t.Not()
	for _, p := range but {
		t.Write(" AND ", before)
		named = writePathCondition(t, c, id, p, 0)
		t.Write(after)
	}
	if last.Space == c.Space && last.Table == c.Table {
		t.Write(" AND ", before, "1=1")
		named = writeKeyCondition(t, c, id, " AND ", alias(t, 0))
		t.Write(after)
	}
	t.Write(" LIMIT ", strconv.Itoa(maxCounted), ") AS c")
	st, err := t.Statement([]sqlgen.Column{{Field: &schema.Field{Type: schema.Integer}}})
	return st, cmp.Or(named, err)
}

// writePathCondition appends the condition that the record r<depth> is at the end of p.
func writePathCondition(t *sqlgen.Text, c *schema.Class, id []value.Value, p path, depth int) (err error) {
	r := p[len(p)-1]
	t.Write(list(r.Fields, alias(t, depth)), " IN (SELECT ", joinColumns(r.Targets, alias(t, depth+1)), " FROM ",
		t.Table(r.ToSpace, r.To), " AS r", strconv.Itoa(depth+1), " WHERE ")
	if len(p) == 1 {
		err = writeKeyCondition(t, c, id, "", alias(t, depth+1))
	} else {
		err = writePathCondition(t, c, id, p[:len(p)-1], depth+1)
	}
	t.Write(")")
	return err
}

// alias returns a function that returns the qualified name of a column of r<depth>.
func alias(t *sqlgen.Text, depth int) func(string) string {
	return func(name string) string { return "r" + strconv.Itoa(depth) + "." + t.Name(name) }
}

func list(fields []string, column func(string) string) string {
	if len(fields) == 1 {
		return column(fields[0])
	}
	return "(" + joinColumns(fields, column) + ")"
}

func joinColumns(fields []string, column func(string) string) string {
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i] = column(f)
	}
	return strings.Join(columns, ", ")
}
