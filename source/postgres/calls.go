package postgres

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A function is a function that a view calls, with the objects that its text names.
type function struct {
	OID            uint32
	Name, Language string
	Immutable      bool
	Text           string
	Parts          []uint32 // for an aggregate: the functions that implement it
	reads          []uint32 // the tables and views that the text names
	calls          []uint32 // the functions that the text names
	anything       bool     // it may read any table
}

const selectFunctions = `
SELECT p.oid, p.proname::text, l.lanname::text, p.provolatile = 'i',
	CASE WHEN p.prokind <> 'a' THEN coalesce(pg_get_functiondef(p.oid), '') ELSE '' END,
	ARRAY(SELECT x::oid FROM pg_catalog.pg_aggregate g, unnest(ARRAY[g.aggtransfn, g.aggfinalfn, g.aggcombinefn, g.aggmtransfn, g.aggminvtransfn, g.aggmfinalfn]) AS x
		WHERE g.aggfnoid = p.oid AND x::oid >= 16384)
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE p.oid = ANY ($1::oid[])`

// calls reads the functions that views call, and the functions that these functions call. It looks for the names of
// tables in their texts.
func (t *tracer) calls(ctx context.Context) error {
	want, operators := map[uint32]bool{}, map[uint32]bool{}
	for _, v := range t.views {
		for _, l := range v.columns {
			maps.Copy(want, l.functions)
			maps.Copy(operators, l.operators)
		}
	}
	if len(operators) > 0 {
		type row struct{ OID, Function uint32 }
		rows, err := collect[row](ctx, t.conn, "SELECT oid, oprcode::oid FROM pg_catalog.pg_operator WHERE oid = ANY ($1::oid[])", slices.Sorted(maps.Keys(operators)))
		if err != nil {
			return err
		}
		for _, x := range rows {
			t.operators[x.OID] = x.Function
			want[x.Function] = true
		}
	}
	if len(want) == 0 {
		return nil
	}
	tables, functions, err := t.names(ctx)
	if err != nil {
		return err
	}
	for len(want) > 0 {
		rows, err := collect[function](ctx, t.conn, selectFunctions, slices.Sorted(maps.Keys(want)))
		if err != nil {
			return err
		}
		clear(want)
		for i := range rows {
			f := &rows[i]
			t.functions[f.OID] = f
			f.look(tables, functions)
		}
		for i := range rows {
			for _, id := range slices.Concat(rows[i].Parts, rows[i].calls) {
				if t.functions[id] == nil {
					want[id] = true
				}
			}
		}
	}
	var read []uint32
	for _, f := range t.functions {
		for _, oid := range f.reads {
			if t.relations[oid] == nil {
				read = append(read, oid)
			}
		}
	}
	return t.describe(ctx, read)
}

// names returns the ids of user-defined tables and views, and of user-defined functions, by name.
func (t *tracer) names(ctx context.Context) (tables, functions map[string][]uint32, err error) {
	type row struct {
		OID  uint32
		Name string
	}
	of := func(query string) (map[string][]uint32, error) {
		rows, err := collect[row](ctx, t.conn, query)
		out := map[string][]uint32{}
		for _, x := range rows {
			out[x.Name] = append(out[x.Name], x.OID)
		}
		return out, err
	}
	if tables, err = of("SELECT oid, relname::text FROM pg_catalog.pg_class WHERE oid >= 16384 AND relkind IN ('r', 'p', 'v', 'm', 'f')"); err != nil {
		return nil, nil, err
	}
	functions, err = of("SELECT oid, proname::text FROM pg_catalog.pg_proc WHERE oid >= 16384 AND prokind <> 'a'")
	return tables, functions, err
}

// harmless matches the names of functions in C that read no table, although they aren't immutable.
var harmless = regexp.MustCompile(`^(?:uuid_generate_\w+|uuid_\w+|gen_random_\w+|gen_salt|unaccent)$`)

// word matches a name in the text of a function, including its quotes.
var word = regexp.MustCompile(`"(?:[^"]|"")+"|[\pL_][\pL\pN_$]*`)

// look finds the objects that the text of f names. A function may read any table if its text isn't SQL, or if it runs
// dynamic SQL.
func (f *function) look(tables, functions map[string][]uint32) {
	own := f.OID >= firstOwn
	switch f.Language {
	case "internal":
		f.anything = !own // of PostgreSQL's own functions, only runners get here
		return
	case "c":
		f.anything = !f.Immutable && !harmless.MatchString(f.Name)
		return
	case "sql", "plpgsql":
	default:
		f.anything = !f.Immutable
	}
	begun := false
	for _, name := range word.FindAllString(f.Text, -1) {
		if !begun && unquoteName(name) == f.Name { // the name in CREATE FUNCTION
			begun = true
			continue
		}
		for _, n := range []string{strings.ToLower(name), unquoteName(name)} {
			f.reads = append(f.reads, tables[n]...)
			f.calls = append(f.calls, functions[n]...)
		}
		if low := strings.ToLower(name); f.Language == "plpgsql" && low == "execute" || strings.Contains(low, "_to_xml") || low == "ts_stat" || low == "ts_rewrite" {
			f.anything = true
		}
	}
	slices.Sort(f.reads)
	f.reads = slices.Compact(f.reads)
}

// call adds the tables that a function may read, including tables that it reads through other functions.
func (t *tracer) call(id uint32, m *making) {
	seen := map[uint32]bool{}
	var visit func(id uint32)
	visit = func(id uint32) {
		f := t.functions[id]
		switch {
		case seen[id]:
			return
		case f == nil:
			if id >= firstOwn {
				m.fails("a function of the view isn't there")
				m.origins[schema.Origin{}] = true
			}
			return
		}
		seen[id] = true
		if f.anything {
			m.fails("the view calls the function " + f.Name + ", which may read any table")
			m.origins[schema.Origin{}] = true
		}
		for _, oid := range f.reads {
			m.fails("the view calls the function " + f.Name + ", which reads tables itself")
			t.whole(oid, m)
		}
		for _, id := range slices.Concat(f.Parts, f.calls) {
			visit(id)
		}
	}
	visit(id)
}

// whole adds all columns of a table or view that a function names. A view that is not a class counts as any column,
// unless the query of the view was read.
func (t *tracer) whole(oid uint32, m *making) {
	if found := t.relations[oid]; found != nil && found.View && t.views[oid] == nil {
		if t.byClass[[2]string{found.Space, found.Table}] == nil {
			m.origins[schema.Origin{}] = true
			return
		}
	}
	t.attribute(attribute{oid, 0}, m)
}
