package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/database"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestEncodedStatements runs the suites with the statements for databases with other encodings.
func TestEncodedStatements(t *testing.T) {
	d := suite
	d.Open = func(ctx context.Context, name, at string) (database.Source, error) {
		s, err := postgres.Open(ctx, name, at)
		if err == nil {
			postgres.SetEncoding(s, "EUC_JP")
		}
		return s, err
	}
	d.Tables = limits()
	delete(d.Tables, sourcetest.LongRepeat)
	t.Run("Queries", d.TestQueries)
	t.Run("Pipelines", d.TestPipelines)
	t.Run("Differential", d.TestDifferential)
	t.Run("PipelinesDifferential", d.TestPipelinesDifferential)
}

// encodings are the encodings of PostgreSQL databases that PostgreSQL can convert to UTF-8.
var encodings = []string{"EUC_CN", "EUC_JP", "EUC_JIS_2004", "EUC_KR", "EUC_TW", "ISO_8859_5", "ISO_8859_6", "ISO_8859_7", "ISO_8859_8", "KOI8R", "KOI8U", "LATIN1", "LATIN2",
	"LATIN3", "LATIN4", "LATIN5", "LATIN6", "LATIN7", "LATIN8", "LATIN9", "LATIN10", "UTF8", "WIN1250", "WIN1251", "WIN1252", "WIN1253", "WIN1254", "WIN1255", "WIN1256",
	"WIN1257", "WIN1258", "WIN866", "WIN874"}

// words are texts of many scripts. A database contains the words that its encoding can represent.
var words = strings.Fields("a Z ~ é ÿ Ÿ € ß Ä œ š ž Ω ω α я а Я ё і א ת ع ي ก ฮ ğ İ ő ţ ķ ħ ŵ 日本 語 ァ ー ， 中文 한국 國 ¥ ” – ™ ½ ﾃ 〜 № ░ х́ 😀")

// TestEncodings compares databases of each encoding with the oracle, over the words that they contain.
func TestEncodings(t *testing.T) {
	for _, encoding := range encodings {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			at := services.PostgresWithEncoding(t, encoding)
			outside := suite.Outside(t, at+"&client_encoding=UTF8", `CREATE TABLE t (id int PRIMARY KEY, v text, j jsonb)`, `CREATE TABLE k (v text PRIMARY KEY)`)
			outside.SetMaxOpenConns(1)
			var held []value.Row
			var lacks string
			for i, w := range words {
				if _, err := outside.Exec(`INSERT INTO t VALUES ($1, $2, jsonb_build_object('w', $2::text))`, i, w); err == nil {
					outside.Exec(`INSERT INTO k VALUES ($1)`, w)
					held = append(held, value.Row{value.OfInt(int64(i)), value.OfString(w), value.OfObject([]value.Member{{Name: "w", Value: value.OfString(w)}})})
				} else {
					lacks = w
				}
			}
			src, err := postgres.Open(t.Context(), "app", at)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			classes, _, err := src.Describe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			keys := make([]value.Row, len(held))
			for i, row := range held {
				keys[i] = row[1:2]
			}
			if lacks != "" {
				refuseWord(t, src, classes, lacks)
			}
			compareWords(t, src, memory.New(classes, map[string][]value.Row{"t": held, "k": keys}), classes, held)
		})
	}
}

// refuseWord queries a word with a character that the encoding lacks, and expects an error.
func refuseWord(t *testing.T, src source.Source, classes []schema.Class, word string) {
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, found(t, "t", fmt.Sprintf(`{"v":%q}`, word), ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sourcetest.Collect(t.Context(), src, permit); problem.CodeOf(err) != problem.Unsupported || !strings.Contains(problem.Of(err).Detail, "lacks a character") {
		t.Errorf("%s: %v", word, err)
	}
}

// compareWords runs the same queries on both sources: orders, ranges, the least and greatest text, parts of JSON and
// expressions.
func compareWords(t *testing.T, src, oracle source.Source, classes []schema.Class, held []value.Row) {
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	first, last := held[0][1].Text(), held[len(held)-1][1].Text()
	asked := []query.Query{
		found(t, "t", fmt.Sprintf(`{"v":{"$in":[%q,%q]}}`, first, last), "-v"), found(t, "t", `{"v":{"$regex":"^[a-é日-語]"}}`, "v"), found(t, "k", `{}`, ""),
	}
	for _, row := range held {
		w := row[1].Text()
		for _, op := range []string{"$eq", "$gt", "$lte"} {
			asked = append(asked, found(t, "t", fmt.Sprintf(`{"v":{%q:%q}}`, op, w), "v"), found(t, "t", fmt.Sprintf(`{"j.w":{%q:%q}}`, op, w), "id"), found(t, "k", fmt.Sprintf(`{"v":{%q:%q}}`, op, w), ""))
		}
	}
	for _, text := range []string{`SELECT min(v) AS a, max(v) AS b, count(DISTINCT v) AS c, array_agg(v ORDER BY v) AS d FROM t`, `SELECT id, v FROM t ORDER BY v DESC LIMIT 5`,
		`SELECT v, v > 'm' AS after, length(v) AS n, upper(v) AS up, row_number() OVER (ORDER BY v) AS r FROM t ORDER BY v`, `SELECT v FROM t WHERE v LIKE '%` + last + `%' ORDER BY id`,
		`SELECT j FROM t ORDER BY j, id`, `SELECT v FROM t WHERE v BETWEEN 'Z' AND '` + last + `' ORDER BY v`, `SELECT a.id FROM t a JOIN t b ON a.v < b.v GROUP BY a.id ORDER BY count(*), a.id`} {
		q, err := query.ParseSQL(text)
		if err != nil {
			t.Fatal(text, err)
		}
		q.Limit = 1000
		asked = append(asked, q)
	}
	for _, q := range asked {
		if got, want := answered(t, src, p, q), answered(t, oracle, p, q); got != want {
			t.Errorf("%+v\n got %s\nwant %s", q, got, want)
		}
	}
}

// found returns a Find of all matching records in an order.
func found(t *testing.T, class, where, order string) query.Query {
	t.Helper()
	v, err := value.Read([]byte(where), 0)
	if err != nil {
		t.Fatal(err)
	}
	q := &query.Find{Class: class, Limit: 200}
	if q.Where, err = query.ParseWhere(v, "/where"); err != nil {
		t.Fatal(err)
	}
	if order != "" {
		if q.Order, err = query.ParseOrder(order, "/order"); err != nil {
			t.Fatal(err)
		}
	}
	return q
}

// answered returns the rows of a query as text, or its error.
func answered(t *testing.T, src source.Source, p *policy.Policy, q query.Query) string {
	t.Helper()
	permit, err := p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	rows, err := sourcetest.Collect(t.Context(), src, permit)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(rows)
}
