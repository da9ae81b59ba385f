package sqldriver

import (
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A FoundTrigger is the code that runs when a record of a table is written.
type FoundTrigger struct {
	Of   *FoundTable // the table
	Text string      // its body
}

// Triggers adds the origins that triggers cause to the fields of classes. It understands assignments to NEW, UPDATE,
// INSERT and SELECT INTO, and the use of variables. It is incomplete: code that it doesn't understand adds no origin.
func (v *FoundViews) Triggers(classes []schema.Class, triggers []FoundTrigger, quoting Quoting) {
	v.keep(classes)
	for _, t := range triggers {
		ts, ok := LexSQL(t.Text, quoting)
		if !ok || t.Of == nil || t.Of.View {
			continue
		}
		k := &keeping{selecting: &selecting{FoundViews: v, space: t.Of.Space}, of: t.Of, vars: map[string]origin{}, made: map[schema.Origin]origin{}}
		for range 3 { // a variable may be set from another variable
			k.statements(ts)
		}
		for to, made := range k.made {
			at := slices.IndexFunc(classes, func(c schema.Class) bool { return c.Space == to.Space && c.Table == to.Table })
			delete(made.from, to)
			if at < 0 || len(made.from) == 0 {
				continue
			}
			if field := classes[at].Field(to.Column); field != nil {
				for o := range made.from {
					if !slices.Contains(field.Origins, o) {
						field.Origins = append(field.Origins, o)
					}
				}
				slices.SortFunc(field.Origins, compareOrigins)
			}
		}
	}
}

// A keeping traces one trigger.
type keeping struct {
	*selecting
	of   *FoundTable
	last *FoundTable              // the table of the last INSERT
	vars map[string]origin        // the origin of each variable's value, by name in lower case
	made map[schema.Origin]origin // the origin of the value that the trigger writes to a column
}

// level returns the names that expressions of the trigger can use: NEW, OLD, its variables, and the columns of a
// table.
func (k *keeping) level(table *FoundTable) *level {
	vars := item{alias: "\x00"}
	for name, o := range k.vars {
		o.name = name
		vars.columns = append(vars.columns, o)
	}
	lv := &level{items: []item{{alias: "new", columns: k.table(k.of)}, {alias: "old", columns: k.table(k.of)}}, up: &level{items: []item{vars}}}
	if table != nil {
		lv.items = append(lv.items, item{alias: table.Table, columns: k.table(table)})
	}
	return lv
}

// value returns the origin of an expression. NEW and OLD without a column mean the whole record. Names without NEW or
// OLD mean columns of table, if it isn't nil, or variables.
func (k *keeping) value(ts []Token, table *FoundTable) origin {
	lv := k.level(table)
	for i := range lv.items[:2] {
		lv.items[i].columns = nil
	}
	o := origin{from: map[schema.Origin]bool{}}
	rest := slices.Clone(ts)
	for i := 0; i < len(rest); i++ {
		if !rest[i].Is("NEW") && !rest[i].Is("OLD") {
			continue
		}
		if i+2 < len(rest) && rest[i+1].Is(".") && rest[i+2].Kind <= QuotedToken {
			for _, c := range k.table(k.of) {
				if LowerASCII(c.name) == LowerASCII(rest[i+2].Text) {
					o.add(c)
				}
			}
			i += 2
		} else {
			o.add(k.whole(k.of))
		}
	}
	o.add(k.expression(rest, lv))
	return o
}

// makes records that the trigger computes a column of f from o.
func (k *keeping) makes(f *FoundTable, column string, o origin) {
	if f == nil {
		return
	}
	for _, name := range f.Columns {
		if LowerASCII(name) == LowerASCII(column) {
			to := schema.Origin{Space: f.Space, Table: f.Table, Column: name}
			before := k.made[to]
			before.from = maps.Clone(before.from)
			before.add(o)
			k.made[to] = before
		}
	}
}

// sets records the assignment of o to a column of NEW, or to a variable.
func (k *keeping) sets(target []Token, o origin) {
	switch {
	case len(target) == 3 && target[0].Is("NEW") && target[1].Is("."):
		k.makes(k.of, target[2].Text, o)
	case len(target) == 1:
		name := LowerASCII(target[0].Text)
		before := k.vars[name]
		before.from = maps.Clone(before.from)
		before.add(origin{from: o.from})
		k.vars[name] = before
	}
}

// statements reads the statements of the trigger, at any depth of its blocks.
func (k *keeping) statements(ts []Token) {
	for i := 0; i < len(ts); i++ {
		rest := ts[i:]
		rest = rest[:cut(rest, ";")]
		begins := i == 0 || slices.ContainsFunc([]string{";", "BEGIN", "THEN", "ELSE", "LOOP", "SET", "DO", ","}, ts[i-1].Is)
		switch {
		case len(rest) > 1 && rest[0].Is("INSERT"):
			k.insert(rest)
		case len(rest) > 1 && rest[0].Is("UPDATE"):
			k.update(rest[1:])
			i += len(rest) - 1
		case len(rest) > 1 && rest[0].Is("SELECT") && begins:
			k.into(rest)
		case begins:
			k.assign(rest)
		}
	}
}

// assign reads "target := expression" and "target = expression".
func (k *keeping) assign(ts []Token) {
	n := 1
	if len(ts) > 3 && ts[1].Is(".") {
		n = 3
	}
	if len(ts) <= n || ts[0].Kind > QuotedToken {
		return
	}
	from := n
	if ts[from].Is(":") {
		from++
	}
	if from+1 >= len(ts) || !ts[from].Is("=") {
		return
	}
	expression := ts[from+1:]
	k.sets(ts[:n], k.value(expression[:cut(expression, ",")], nil))
}

// target returns the table at the start of ts, and the tokens after it.
func (k *keeping) target(ts []Token) (*FoundTable, []Token) {
	switch {
	case len(ts) > 2 && ts[1].Is("."):
		space := ts[0].Text
		if space == "public" {
			space = ""
		}
		return k.find(space, ts[2].Text), ts[3:]
	case len(ts) > 0:
		return k.find(k.of.Space, ts[0].Text), ts[1:]
	}
	return nil, nil
}

// update reads "UPDATE table SET column = expression, …".
func (k *keeping) update(ts []Token) {
	table := k.last
	set := cut(ts, "SET")
	if set == len(ts) {
		return
	}
	if set > 0 {
		table, _ = k.target(ts)
	}
	list := ts[set+1:]
	for _, part := range SplitTokens(list[:cut(list, "WHERE", "FROM", "RETURNING", "ORDER", "LIMIT")], ",") {
		if at := cut(part, "="); at > 0 && at < len(part) {
			k.makes(table, part[at-1].Text, k.value(part[at+1:], table))
		}
	}
}

// insert reads "INSERT INTO table (columns) VALUES …" or "… SELECT …".
func (k *keeping) insert(ts []Token) {
	into := cut(ts, "INTO")
	if into+1 >= len(ts) {
		return
	}
	table, rest := k.target(ts[into+1:])
	if k.last = table; table == nil {
		return
	}
	columns := table.Columns
	if len(rest) > 0 && rest[0].Is("(") {
		inner, after, ok := TokenGroup(rest)
		if !ok {
			return
		}
		columns, rest = nil, after
		for _, part := range SplitTokens(inner, ",") {
			if len(part) == 1 {
				columns = append(columns, part[0].Text)
			}
		}
	}
	rest = rest[:cut(rest, "ON", "RETURNING")]
	if len(rest) == 0 {
		return
	}
	if !rest[0].Is("VALUES") && !rest[0].Is("VALUE") {
		made, err := k.query(rest, k.level(nil))
		for i := range made {
			if err == nil && i < len(columns) {
				k.makes(table, columns[i], made[i])
			}
		}
		return
	}
	for _, row := range SplitTokens(rest[1:], ",") {
		inner, _, ok := TokenGroup(row)
		if !ok {
			return
		}
		for i, part := range SplitTokens(inner, ",") {
			if i < len(columns) {
				k.makes(table, columns[i], k.value(part, nil))
			}
		}
	}
}

// into reads "SELECT … INTO targets FROM …".
func (k *keeping) into(ts []Token) {
	at := cut(ts, "INTO")
	if at == len(ts) {
		return
	}
	targets := ts[at+1:]
	if len(targets) > 0 && targets[0].Is("STRICT") {
		targets = targets[1:]
	}
	end := cut(targets, "FROM", "WHERE", "LIMIT", "ORDER")
	made, err := k.query(slices.Concat(ts[:at], targets[end:]), k.level(nil))
	for i, target := range SplitTokens(targets[:end], ",") {
		if err == nil && i < len(made) {
			k.sets(target, made[i])
		}
	}
}
