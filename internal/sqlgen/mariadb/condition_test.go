package mariadb_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/condition"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/exprtest"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/mariadb"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// conditions shows how nodes of JSON are compared: with documents, and with the keys of other classes.
func conditions(t *testing.T, b *exprtest.Sheet) {
	c := mariadb.Conditions()
	b.Part("conditions")
	for _, doc := range []string{`[1,1.50,1e99,"a",true,false,null]`, `{"a":{},"b":[{"c\"":"d"}]}`} {
		var w condition.Writer
		if err := c.Compare(&w, condition.Operand{Text: "x"}, "=", condition.Document(doc)); err != nil {
			t.Fatal(err)
		}
		text, args, err := w.Statement(c, condition.MaxText)
		if err != nil {
			t.Fatal(err)
		}
		b.Line(doc, exprtest.Bound(text, args))
	}
	for _, v := range []any{condition.Document("{"), condition.Document("[1] 2"), condition.Moment{}} {
		if err := c.Compare(&condition.Writer{}, condition.Operand{Text: "x"}, "=", v); problem.CodeOf(err) == "" {
			t.Errorf("a node is compared with %v: %v", v, err)
		}
	}
	for _, f := range []schema.Field{{Type: schema.Integer, Native: "bigint"}, {Type: schema.String, Native: "varchar"}, {Type: schema.UUID, Native: "uuid"}} {
		node, key := c.Members(condition.Operand{Text: "x"}, "k", &f)
		b.Line("members of "+f.Native, node+" = "+key)
	}
}
