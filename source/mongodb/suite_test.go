package mongodb_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/bailiwick-dev/bailiwick/internal/mongogen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/ending"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/large"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/masks"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/measures"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/pipelines"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/questions"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/statements"
	"github.com/bailiwick-dev/bailiwick/value"
)

// database returns the database of a URL for the test's direct use.
func database(t *testing.T, url string) *mongo.Database {
	t.Helper()
	o := options.Client().ApplyURI(url)
	client, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	return client.Database(name(url))
}

// name returns the name of the database in a URL.
func name(url string) string {
	i := len(url) - 1
	for url[i] != '/' {
		i--
	}
	return url[i+1:]
}

// load writes the tables of a dataset into collections, and returns their declarations.
func load(t *testing.T, url string, d sourcetest.Dataset, adapt func(*schema.Field)) map[string]schema.Class {
	t.Helper()
	db := database(t, url)
	declared := map[string]schema.Class{}
	classes := d.Classes("suite")
	for i := range classes {
		for f := range classes[i].Fields {
			adapt(&classes[i].Fields[f])
		}
	}
	rows := d.Rows(t, classes)
	for _, c := range classes {
		declared[c.Name] = c
		if err := db.CreateCollection(t.Context(), c.Name); err != nil {
			t.Fatal(err)
		}
		if c.Key != nil {
			keys := bson.D{}
			for _, k := range c.Key {
				keys = append(keys, bson.E{Key: k, Value: 1})
			}
			if _, err := db.Collection(c.Name).Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: keys, Options: options.Index().SetUnique(true)}); err != nil {
				t.Fatal(err)
			}
		}
		for _, row := range rows[c.Name] {
			if _, err := db.Collection(c.Name).InsertOne(t.Context(), document(t, &c, row)); err != nil {
				t.Fatalf("%s %v: %v", c.Name, row, err)
			}
		}
	}
	return declared
}

// document returns a record as a document. A null is sometimes stored and sometimes omitted.
func document(t *testing.T, c *schema.Class, row value.Row) bson.D {
	t.Helper()
	out := bson.D{}
	for i, v := range row {
		f := c.Fields[i]
		if v.IsNull() && i%2 == 0 {
			continue
		}
		x, ok := mongogen.StoredBSON(v, &f)
		if !ok && v.Kind() == value.String {
			x, ok = v.Text(), true // a text in a field that is declared as a date
		}
		if !ok {
			t.Fatalf("%s.%s: %v has no form in BSON", c.Name, f.Name, v)
		}
		out = append(out, bson.E{Key: f.Name, Value: x})
	}
	return out
}

// ferretLimits are the values that FerretDB can't store, and the values that MongoDB's types can't represent.
var ferretLimits = sourcetest.Limits{
	sourcetest.NaN:           "it stores none",
	sourcetest.Infinities:    "it stores none",
	sourcetest.ExactDecimals: "it has no decimals",
	sourcetest.Microseconds:  "dates count milliseconds",
	sourcetest.ListsInLists:  "it stores none",
	sourcetest.DottedKeys:    "it stores none",
	sourcetest.Conversions:   "its values have types",
	sourcetest.OddNames:      "it writes the names of collections and indexes into SQL without quoting them",
	sourcetest.JSONDigits:    "it has no decimals",
}

// ferretField changes a field to a type that FerretDB can store. The suite recognises the types by the names of
// databases with the same limits.
func ferretField(f *schema.Field) {
	switch f.Type {
	case schema.Decimal:
		f.Type, f.Native = schema.Double, "NUMERIC"
	case schema.Double:
		f.Native = "double"
	}
}

// mingoField changes a field to a type that the evaluator can store.
func mingoField(f *schema.Field) {
	if f.Type == schema.Decimal || f.Type == schema.Double {
		f.Type, f.Native = schema.Double, "double"
	}
}

func openFerretDB(t *testing.T, d sourcetest.Dataset) source.Source {
	t.Helper()
	return openSuite(t, services.FerretDB(t), d.Leave(t, ferretLimits), mongodb.Options{}, ferretField)
}

func openSuite(t *testing.T, url string, d sourcetest.Dataset, o mongodb.Options, adapt func(*schema.Field)) source.Source {
	t.Helper()
	o.Name, o.URL = "suite", url
	o.Declared = load(t, url, d, adapt)
	s, err := mongodb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func oracle(classes []schema.Class, rows map[string][]value.Row) source.Source {
	return memory.New(classes, rows)
}

// shown returns a function that returns the command that a source runs for a permit.
func shown(s *source.Source) func(policy.Permit) string {
	return func(p policy.Permit) string {
		text, err := (*s).(source.Compiler).Compile(p)
		if err != nil {
			return err.Error()
		}
		return text
	}
}

// mingoLimits are the values that the evaluator can't store, because it stores all numbers as doubles.
var mingoLimits = sourcetest.Limits{
	sourcetest.NaN:           "MongoDB orders it first",
	sourcetest.Infinities:    "it is text in JSON",
	sourcetest.ExactDecimals: "it computes with doubles",
	sourcetest.WideIntegers:  "it computes with doubles",
	sourcetest.JSONDigits:    "it computes with doubles",
	sourcetest.Microseconds:  "dates count milliseconds",
	sourcetest.Planes:        "its texts are of UTF-16",
	sourcetest.Conversions:   "its values have types",
	sourcetest.ListsInLists:  "its conditions look into them",
}

func mingoTarget(opened *source.Source) pipelines.Target {
	return pipelines.Target{Tables: mingoLimits, Oracle: oracle, Show: shown(opened),
		UTC: true, // its $dateTrunc ignores time zones
		Open: func(t *testing.T, d sourcetest.Dataset) source.Source {
			*opened = openSuite(t, services.Mingo(t), d.Leave(t, mingoLimits), mongodb.Options{Full: true}, mingoField)
			return *opened
		},
		// The square of these whole numbers fits a double, and their third power exceeds 64 bits. The evaluator
		// computes with doubles.
		Adapt: func(table *sourcetest.Table) {
			table.Rows = strings.NewReplacer("9007199254740992", "2100000", "9223372036854775807", "2100000").Replace(table.Rows)
		}}
}

// TestMingoPipelines compares random pipelines with the oracle, on the level of MongoDB. An independent evaluator
// runs them.
func TestMingoPipelines(t *testing.T) {
	var opened source.Source
	pipelines.Differential(t, mingoTarget(&opened))
}

// TestFerretDBStatements and TestMingoStatements run the SQL statements.
func TestFerretDBStatements(t *testing.T) {
	statements.Run(t, openFerretDB, statements.Limits{})
}

func TestMingoStatements(t *testing.T) {
	var opened source.Source
	statements.Run(t, mingoTarget(&opened).Open, statements.Limits{})
}

// TestFerretDBStatementsDifferential and TestMingoStatementsDifferential run random statements.
func TestFerretDBStatementsDifferential(t *testing.T) {
	statements.Differential(t, statements.Target{Open: openFerretDB, Oracle: oracle})
}

func TestMingoStatementsDifferential(t *testing.T) {
	var opened source.Source
	target := mingoTarget(&opened)
	statements.Differential(t, statements.Target{Open: target.Open, Oracle: target.Oracle, UTC: target.UTC})
}

func TestFerretDBSuite(t *testing.T) { sourcetest.Run(t, openFerretDB, ferretLimits) }

func TestFerretDBEnding(t *testing.T) { ending.Run(t, openFerretDB) }

func TestFerretDBLarge(t *testing.T) { large.Run(t, openFerretDB) }

func TestFerretDBMasks(t *testing.T) { masks.Run(t, openFerretDB, ferretLimits) }

func TestFerretDBDifferential(t *testing.T) {
	var opened source.Source
	open := func(t *testing.T, d sourcetest.Dataset) source.Source { opened = openFerretDB(t, d); return opened }
	sourcetest.Differential(t, open, ferretLimits, oracle, shown(&opened))
}

func TestFerretDBPipelines(t *testing.T) {
	var opened source.Source
	open := func(t *testing.T, d sourcetest.Dataset) source.Source { opened = openFerretDB(t, d); return opened }
	pipelines.Differential(t, pipelines.Target{Open: open, Tables: ferretLimits, Oracle: oracle, Show: shown(&opened)})
}

// mingoLeaves are words of the questions that mingo answers differently or slowly. It computes with doubles, and
// joins each record with each other. Its $dateTrunc ignores time zones, and its $isoWeekYear of 2024-12-30 is 2024.
var mingoLeaves = []string{
	"Which serial numbers are there, to the last digit?",
	"How many events have each number, to the last digit?",
	"Which numbers are beyond what a double tells apart?",
	"How many events carry exactly 9007199254740993?",
	"How many events refer to 9007199254740993 in their payload, as a number?",
	"What do the numbers of clicks without the largest add up to, and the least and the greatest of all?",
	"What is the sum of the greatest numbers, where it goes beyond 64 bits and where it doesn't?",
	"What do sums, products and remainders of each number give, null where they leave 64 bits?",
	"Which references do payloads hold, numbers and text apart?",
	"Which events are there twice or more? (all of their columns)",
	"What was the first and the last number of each kind, by time and number, where times are unknown first?",
	"Which numbers came with purchases, in turn, with nulls and twice the same?",
	"What is the sum of all unit prices, to the last digit?",
	"How many orders came in the weeks of autumn that begin on Monday in Oslo, on Sunday in New York?",
	"How do orders trend by quarter, in New York?",
	"How many orders were placed in each ISO week around both new years, by the clocks of Oslo?",
	"How many of the orders that came back were placed in each ISO week of the winter, empty weeks too, over new year?",
	"How many orders fell into each ISO week and ISO year around new year, in UTC?",
	"What is the revenue by the country of the customer, two joins away, nobody's orders as well?",
	"Which two products are most often in one order together?",
	"two joins to either side",
	"revenue of delivered orders in each month, by the clocks of Oslo",
	"orders have nothing in them",
}

// TestFerretDBQuestions and TestMingoQuestions answer the analytical questions.
func TestFerretDBQuestions(t *testing.T) {
	questions.Run(t, "FerretDB", openSuite(t, services.FerretDB(t), questions.Shop(t), mongodb.Options{}, ferretField), nil)
}

// TestFerretDBMeasures answers the questions about metrics.
func TestFerretDBMeasures(t *testing.T) {
	measures.Run(t, openSuite(t, services.FerretDB(t), questions.Shop(t), mongodb.Options{}, ferretField))
}

// TestMingoQuestions lets mingo run the stages that it supports. For the other questions, it lets mingo run the
// stages that FerretDB could run. The gateway computes the rest.
func TestMingoQuestions(t *testing.T) {
	left := func(words string) bool {
		return slices.ContainsFunc(mingoLeaves, func(text string) bool { return strings.Contains(words, text) })
	}
	there := func(words string) bool { return !left(words) }
	open := func(full bool) source.Source {
		return openSuite(t, services.Mingo(t), questions.Shop(t), mongodb.Options{Full: full}, mingoField)
	}
	n, m := questions.Some(t, "mingo", open(true), nil, there), questions.Some(t, "mingo", open(false), nil, left)
	if n < 185 || n+m != 208 {
		t.Errorf("%d and %d questions, want 208 and at least 185 on the server", n, m)
	}
}
