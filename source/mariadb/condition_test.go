package mariadb_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/test/dialecttest"
)

// conditions writes how JSON nodes are compared with documents, and with the keys of other classes.
func conditions(t *testing.T, b *dialecttest.Sheet) {
	c := mariadb.Dialect()
	b.Part("conditions")
	for _, doc := range []string{`[1,1.50,1e99,"a",true,false,null]`, `{"a":{},"b":[{"c\"":"d"}]}`} {
		var w sqlgen.Writer
		if err := c.CompareValue(&w, sqlgen.Operand{Text: "x"}, "=", sqlgen.Document(doc)); err != nil {
			t.Fatal(err)
		}
		text, args, err := w.Statement(c, sqlgen.MaxText)
		if err != nil {
			t.Fatal(err)
		}
		b.Line(doc, dialecttest.WithArguments(text, args))
	}
	for _, v := range []any{sqlgen.Document("{"), sqlgen.Document("[1] 2"), sqlgen.Moment{}} {
		if err := c.CompareValue(&sqlgen.Writer{}, sqlgen.Operand{Text: "x"}, "=", v); problem.CodeOf(err) == "" {
			t.Errorf("a node is compared with %v: %v", v, err)
		}
	}
	for _, f := range []schema.Field{{Type: schema.Integer, Native: "bigint"}, {Type: schema.String, Native: "varchar"}, {Type: schema.UUID, Native: "uuid"}} {
		node, key := c.Members(sqlgen.Operand{Text: "x"}, "k", &f)
		b.Line("members of "+f.Native, node+" = "+key)
	}
}
