package sourcetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// order tests orders, ties, and the position of nulls.
func (s *subject) order(t *testing.T) {
	for _, tt := range []struct {
		class, order, where string
		limit, skip         int
		ids                 string // ids of all records in order. The limit plus one are expected
	}{
		{"numbers", "n", "", 100, 0, "4 8 3 1 2 10 11 12 9 5 6 7"},
		{"numbers", "-n", "", 100, 0, "7 6 5 9 11 12 2 10 1 3 8 4"},
		{"numbers", "-n,-id", "", 100, 0, "7 6 5 9 12 11 10 2 1 3 8 4"},
		{"numbers", "x", "", 100, 0, "4 10 3 1 11 8 2 7 5 6 12 9"},
		{"numbers", "d", "", 100, 0, "4 3 1 12 7 8 2 5 6 10 11 9"},
		{"numbers", "small,-n", "", 100, 0, "10 4 6 3 1 7 2 8 11 12 9 5"},
		{"numbers", "id", `{"n":{"$gt":0}}`, 3, 0, "2 5 6 7 9 10 11 12"},
		{"numbers", "id", `{"n":{"$gt":0}}`, 3, 2, "2 5 6 7 9 10 11 12"},
		{"numbers", "", "", 1, 11, "1 2 3 4 5 6 7 8 9 10 11 12"},
		{"numbers", "", "", 5, 12, "1 2 3 4 5 6 7 8 9 10 11 12"},
		{"texts", "s", `{"id":{"$lte":20}}`, 100, 0, "4 3 20 13 19 2 8 1 16 10 6 14 15 18 7 9 5 17 12 11"},
		{"texts", "-s", `{"id":{"$lte":6}}`, 100, 0, "5 6 1 2 3 4"},
		{"texts", "ci", `{"ci":{"$ne":null}}`, 100, 0, "3 20 19 2 5 8 13 14 1 16 6 7"},
		{"texts", "mood,-id", `{"mood":{"$ne":null}}`, 100, 0, "16 3 10 9 2 5 1"},
		{"texts", "-mood", `{"mood":{"$ne":null}}`, 100, 0, "1 5 2 9 10 3 16"},
		{"texts", "code", `{"code":{"$ne":null}}`, 100, 0, "3 13 14 19 2 1 5"},
		{"times", "at", "", 100, 0, "4 7 5 6 10 11 1 2 3 9 8"},
		{"times", "-local", "", 100, 0, "8 3 1 2 9 11 10 6 5 7 4"},
		{"times", "day,-id", "", 100, 0, "4 7 5 6 9 10 11 2 1 3 8"},
		{"kinds", "b", "", 100, 0, "k2 10 K1 9 k1 é"},
		{"kinds", "-u", "", 100, 0, "K1 10 é 9 k1 k2"},
		{"kinds", "raw", "", 100, 0, "k2 é K1 9 k1 10"},
		{"posts", "title", "", 100, 0, "ACME/1 acme/1 globex/1 globex/2 acme/2 acme/3"},
		{`odd "table"`, "-größe,Case", "", 100, 0, `["/3 x/2 x/1 y"y/1`},
		{`odd "table"`, "it's", "", 100, 0, `x/2 y"y/1 ["/3 x/1`},
		{"untyped", "v", "", 100, 0, "4 5 2 6 3 1"},
		{"floats", "-x", "", 100, 0, "1 2 3 4"},
		{"micros", "local", "", 100, 0, "3 1 2"},
		{"places", "", `{"at":{"$nearSphere":[12.5683,55.6761]}}`, 2, 1, "3 1 2 4"},
		{"places", "-id", `{"at":{"$nearSphere":[12.5683,55.6761]}}`, 100, 0, "4 3 2 1"},
	} {
		if !s.has(tt.class) {
			continue
		}
		order, err := query.ParseOrder(tt.order, "/order")
		if err != nil {
			t.Fatal(err)
		}
		q := &query.Find{Class: tt.class, Where: where(t, tt.where), Order: order, Limit: tt.limit, Skip: tt.skip}
		plan, rows, err := s.read(t.Context(), s.policy, reader, q)
		want := strings.Fields(s.storableIDs(t, tt.class, tt.ids))
		want = want[min(tt.skip, len(want)):min(tt.skip+tt.limit+1, len(want))]
		if got := ids(plan, rows); err != nil || got != strings.Join(want, " ") {
			t.Errorf("%s by %q where %s, limit %d, skip %d: %v\n got %s\nwant %s", tt.class, tt.order, tt.where, tt.limit, tt.skip, err, got, want)
		}
	}
}

// pages tests pages of every size. In sequence they must return every record once and in order.
func (s *subject) pages(t *testing.T) {
	for class, orders := range map[string][]string{
		"numbers": {"", "n", "-n", "x", "-x,n", "d", "-d", "small", "-small,-n"},
		"texts":   {"s", "-s", "ci", "-ci", "code", "mood", "-mood,ci"},
		"times":   {"at", "-at", "local", "-local", "day", "-day,at"},
		"kinds":   {"b", "-b", "u", "-u", "raw", "-raw"},
		"posts":   {"", "title", "-deleted,title", "num"}, "untyped": {"v", "-v", "m", "-m"},
		`odd "table"`: {"größe", "-select,it's"}, "floats": {"x", "-x"}, "micros": {"at", "-local"},
	} {
		for _, order := range orders {
			if !s.has(class) {
				continue
			}
			for _, size := range []int{1, 2, 5, 100} {
				s.page(t, query.Find{Class: class}, order, size)
			}
		}
	}
	for _, near := range []string{`{"at":{"$nearSphere":[12.5683,55.6761]}}`, `{"at.p":{"$nearSphere":[21,10]}}`} {
		for size := 1; size <= 5; size++ {
			s.page(t, query.Find{Class: "places", Where: where(t, near)}, "", size)
		}
	}
	s.pagesWithoutKey(t)
}

func (s *subject) page(t *testing.T, of query.Find, order string, size int) {
	t.Helper()
	class := of.Class
	sorts, err := query.ParseOrder(order, "/order")
	if err != nil {
		t.Fatal(err)
	}
	// The keys omit most fields of the order, so the source must select these fields separately.
	q := &query.Find{Class: class, Where: of.Where, Order: sorts, Limit: 1000, Keys: []query.Path{{s.class(class).Columns[0].Name}}}
	plan, all, err := s.read(t.Context(), s.policy, reader, q)
	if err != nil {
		t.Errorf("%s by %q: %v", class, order, err)
		return
	}
	whole := ids(plan, all)
	if n := len(s.data.Rows(t, s.classes)[class]); len(all) != n && of.Where == nil {
		t.Errorf("%s by %q: %d records; want %d", class, order, len(all), n)
	}
	q.Limit = size
	permit, err := s.policy.Read(reader, q)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for range len(all) + 1 {
		rows, err := Collect(t.Context(), s.source, permit)
		if err != nil {
			t.Errorf("%s by %q, pages of %d, after %s: %v", class, order, size, got, err)
			return
		}
		if len(rows) > size+1 {
			t.Errorf("%s by %q, pages of %d: %d rows", class, order, size, len(rows))
		}
		shown := rows[:min(size, len(rows))]
		if len(shown) > 0 {
			got = append(got, ids(plan, shown))
		}
		if len(rows) <= size {
			break
		}
		last := shown[len(shown)-1]
		if permit, err = permit.From(policy.Position{After: last[len(plan.Columns):]}); err != nil {
			t.Errorf("%s by %q: a row of %d values for %d columns and an order of %d: %v", class, order, len(last), len(plan.Columns), len(plan.Order), err)
			return
		}
	}
	if strings.Join(got, " ") != whole {
		t.Errorf("%s by %q in pages of %d:\n got %s\nwant %s", class, order, size, strings.Join(got, " "), whole)
	}
}

// pagesWithoutKey tests a class without a key. Its pages are counted instead of found by key.
func (s *subject) pagesWithoutKey(t *testing.T) {
	want := "null,3,2025-01-01T00:00:00Z Click,1,2026-01-02T00:00:00Z click,1,2026-01-01T00:00:00Z click,1,2026-01-01T00:00:00Z " +
		"click,2,2026-01-01T00:00:00Z view,null,null view,null,null"
	for size := 1; size <= 8; size++ {
		var got []string
		for skip := 0; ; skip += size {
			plan, rows, err := s.read(t.Context(), s.policy, reader, &query.Find{Class: "events", Limit: size, Skip: skip})
			if err != nil {
				t.Fatal(err)
			}
			if plan.Unique || len(rows) > 0 && len(rows[0]) != len(plan.Columns) {
				t.Fatalf("a class without a key has no places: %v", rows)
			}
			for _, row := range rows[:min(size, len(rows))] {
				got = append(got, line(row))
			}
			if len(rows) <= size {
				break
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("pages of %d:\n got %s\nwant %s", size, strings.Join(got, " "), want)
		}
	}
}

// line joins the values of a row with commas. Null is written as null.
func line(row value.Row) string {
	out := make([]string, len(row))
	for i, v := range row {
		out[i] = v.String()
		if v.IsNull() {
			out[i] = "null"
		}
	}
	return strings.Join(out, ",")
}

// keys tests which values a record contains and that they are exact.
func (s *subject) keys(t *testing.T) {
	for _, tt := range []struct {
		class, id, keys, row string
		needs                Ability
	}{
		{"numbers", "6", "n,x", "6,9007199254740993,9007199254740994", ""},
		{"numbers", "7", "n,x,d", "7,9223372036854775807,1.5,0.1", ""},
		{"numbers", "8", "n,d,x", "8,-9223372036854775808,0.25,0.1", ""},
		{"numbers", "10", "d", `10,123456789012345678.901234567`, ExactDecimals},
		{"numbers", "10", "x", `10,-Infinity`, Infinities},
		{"numbers", "9", "d", "9,12345678901234567890123456789", ExactDecimals},
		{"numbers", "4", "n,x,d,small", "4,null,null,null,null", ""},
		{"texts", "14", "s", `14,it's "q" \ b`, ""},
		{"texts", "11", "s", "11,𝒳 marks", ""},
		{"texts", "1", "code,mood,ci", "1,ab,sad,abc", ""},
		{"times", "3", "at,local,day", "3,2026-01-31T08:00:00.123Z,2026-01-31T08:00:00.123Z,2026-02-01", Days},
		{"times", "9", "at", "9,2026-01-31T19:30:00.5Z", ""},
		{"times", "7", "at,day", "7,0001-01-01T00:00:00Z,0001-01-01", Days},
		{"kinds", "k1", "b,u,raw", "k1,true,00000000-0000-0000-0000-000000000001,aGVsbG8=", ""},
		{"kinds", "K1", "raw", "K1,AAEC/w==", ""},
		{"docs", "14", "doc", `14,{"a":9007199254740993,"big":9223372036854775807}`, ""},
		{"docs", "32", "doc.a", "32,123456789012345678901234567890", ""},
		{"docs", "4", "doc.a.b", "4,[1,2,null]", ""},
		{"docs", "23", "doc.a.b.c,doc.nothing", "23,[1,[2,null]],null", ""},
		{"docs", "10", "doc.a", "10,[null,null,5]", ""},
		{"docs", "11", "doc.a,doc", "11,scalar", ""},
		{"docs", "19", "doc.naïve,plain.naïve.日本", `19,{"日本":"語"},語`, ""},
		{"docs", "7", "doc,plain", "7,null,null", ""},
		{"lists", "4", "tags,nums", `4,["a",null],[null]`, ""},
		{"lists", "5", "nums,tags", `5,[9007199254740993],["with,comma","q\"uote","b\\s"]`, ""},
		{"posts", `["ACME",1]`, "meta.n.k,title", "ACME,1,[1,2,null],Case", ""},
		{"micros", "1", "at", "1,2026-01-31T08:00:00.000001Z", ""},
	} {
		if !s.has(tt.class) || s.left[tt.class] && !slices.Contains(s.keysOf(t, tt.class), tt.id) {
			continue
		}
		q := &query.Find{Class: tt.class, IDs: []string{tt.id}, Limit: 10, Keys: paths(tt.keys)}
		plan, rows, err := s.read(t.Context(), s.policy, reader, q)
		got := fmt.Sprint(len(rows), " records")
		if len(rows) == 1 {
			got = line(rows[0][:len(plan.Columns)])
		}
		if _, lacks := s.limits[tt.needs]; lacks {
			s.met[tt.needs] = true
			if got == tt.row {
				t.Errorf("%s %s has %s, yet the source is said to have no %s", tt.class, tt.id, got, tt.needs)
			}
		} else if err != nil || got != tt.row {
			t.Errorf("%s %s, %s: %s, %v; want %s", tt.class, tt.id, tt.keys, got, err, tt.row)
		}
	}
}

func paths(list string) []query.Path {
	var out []query.Path
	for name := range strings.SplitSeq(list, ",") {
		if name != "" {
			out = append(out, query.ParsePath(name))
		}
	}
	return out
}

// ids tests queries by id. An unknown or invalid id must match no record and cause no error.
func (s *subject) ids(t *testing.T) {
	for _, tt := range []struct {
		class string
		ids   []string
		want  string
	}{
		{"numbers", []string{"1", "3", "99", "3"}, "1 3"},
		{"numbers", []string{"01", "1.0", "x", "", "9223372036854775808"}, ""},
		{"users", []string{"9007199254740993"}, "9007199254740993"},
		{"users", []string{"9007199254740992"}, ""},
		{"kinds", []string{"k1", "é", "10"}, "10 k1 é"},
		{"posts", []string{`["acme",2]`, `["acme","3"]`, `["globex",9]`, "acme", `["acme"]`, `{`}, "acme/2 acme/3"},
		{"posts", []string{"acme"}, ""},
		{`odd "table"`, []string{`["y\"y",1]`, `["[\"",3]`}, `["/3 y"y/1`},
		{"numbers", []string{}, ""},
	} {
		if !s.has(tt.class) {
			continue
		}
		plan, rows, err := s.read(t.Context(), s.policy, reader, &query.Find{Class: tt.class, IDs: tt.ids, Limit: 50})
		if want := s.storableIDs(t, tt.class, tt.want); err != nil || ids(plan, rows) != want {
			t.Errorf("%s %q: %v, %v; want %s", tt.class, tt.ids, rows, err, want)
		}
	}
}

func (s *subject) class(name string) *Table {
	return &s.data.Tables[slices.IndexFunc(s.data.Tables, func(t Table) bool { return t.Name == name })]
}
