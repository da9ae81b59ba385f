package store

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
)

// A ChangeQueries describes the SQL of a database.
type ChangeQueries struct {
	Schema   string           // the prefix of table names, with its dot
	Contains string           // the function that returns a positive number if its first argument contains the second
	Words    string           // the FROM clause that reads the words of c.search: as e.value, of the place l.place
	Empty    string           // the bytes of length 0
	Least    string           // the function that returns the smaller of two numbers
	Numbered bool             // whether placeholders are $1, $2, … instead of ?
	Bytes    func(string) any // returns an argument for a column that can contain any bytes
}

// A ChangeLookup is a query and its arguments.
type ChangeLookup struct {
	Text string
	Args []any
}

const (
	most    = 200
	usually = 50
)

func limit(f change.Filter) int { return min(cmp.Or(f.Limit, usually), most) }

// List returns the query for the bodies of the changes that match f, newest first. It returns one more than the limit
// of f. It queries each state separately, so that an index returns the first page of each state in order, regardless
// of the number of other changes.
//
// A search uses the index of words first if a word is rare. The argument known is for a search.
func (d ChangeQueries) List(f change.Filter, known Lexicon) ChangeLookup {
	var b builder
	n := limit(f) + 1
	if f.Text != "" && known.rare() {
		b.add(`SELECT c.body FROM `)
		d.found(&b, f, known)
		if f.Before != "" {
			b.add(` AND c.id < ?`, word(f.Before))
		}
		b.add(` ORDER BY c.id DESC LIMIT ?`, n)
		return b.ask(d)
	}
	b.add(`SELECT c.body FROM (`)
	for i, state := range states(f) {
		if i > 0 {
			b.add(` UNION ALL `)
		}
		b.add(`SELECT id FROM (SELECT c.id FROM ` + d.from(f) + ` WHERE `)
		d.where(&b, f, state, known)
		if f.Before != "" {
			b.add(` AND c.id < ?`, word(f.Before))
			if f.Class != "" {
				b.add(` AND k.id < ?`, word(f.Before))
			}
		}
		b.add(` ORDER BY `+order(f)+` DESC LIMIT ?) AS s`+strconv.Itoa(i), n)
	}
	b.add(`) AS page JOIN `+d.Schema+`change AS c ON c.id = page.id ORDER BY c.id DESC LIMIT ?`, n)
	return b.ask(d)
}

// Counts returns the query for the number of changes that match f, by state. A row has two numbers: of all without regard
// to f.For, and of those of f.For that have not ended. It counts at most mostCounted+1 changes of each state.
func (d ChangeQueries) Counts(f change.Filter, known Lexicon) ChangeLookup {
	f.States = nil
	every := f
	every.For = ""
	var b builder
	if f.Text != "" && known.rare() {
		b.add(`SELECT c.state, `+d.Least+`(count(*), ?), `+d.Least+`(sum(CASE WHEN c.state IN (`+openStates()+`)`, mostCounted+1)
		d.decidable(&b, f)
		b.add(` THEN `+strconv.Itoa(min(len(f.For), 1))+` ELSE 0 END), ?) FROM `, mostCounted+1)
		d.found(&b, every, known)
		b.add(` GROUP BY c.state`)
		return b.ask(d)
	}
	for i, state := range states(f) {
		if i > 0 {
			b.add(` UNION ALL `)
		}
		b.add(`SELECT '` + string(state) + `', `)
		d.count(&b, every, state, known)
		b.add(`, `)
		if f.For == "" || state.IsFinal() {
			b.add(`0`)
			continue
		}
		d.count(&b, f, state, known)
	}
	return b.ask(d)
}

// count adds the number of changes in a state that match f.
func (d ChangeQueries) count(b *builder, f change.Filter, state change.State, known Lexicon) {
	b.add(`(SELECT count(*) FROM (SELECT 1 FROM ` + d.from(f) + ` WHERE `)
	d.where(b, f, state, known)
	b.add(` LIMIT ?) AS n)`, mostCounted+1)
}

// openStates returns the states of changes that have not ended, as a list in SQL.
func openStates() string {
	var open []string
	for _, state := range change.States() {
		if !state.IsFinal() {
			open = append(open, `'`+string(state)+`'`)
		}
	}
	return strings.Join(open, ", ")
}

// Due returns the query for the ids of changes that need work at the time now. The argument now has the database's
// type for times. The order is random, so that changes without progress don't block others, and replicas seldom get
// the same changes.
func (d ChangeQueries) Due(now any, limit int) ChangeLookup {
	var b builder
	// An approved change is due if it has expired, or if it doesn't depend on a pending change.
	b.add(`SELECT id FROM (SELECT c.id FROM `+d.Schema+`change AS c WHERE c.state = 'approved' AND (c.expires <= ? OR NOT EXISTS (SELECT 1 FROM `+d.Schema+`change_after AS a
		JOIN `+d.Schema+`change AS o ON o.id = a.other WHERE a.id = c.id AND o.state IN ('pending', 'changes_requested', 'approved', 'applying', 'stale', 'unknown')))`, now)
	b.add(` UNION ALL SELECT id FROM `+d.Schema+`change WHERE state = 'applying' AND (lease <= ? OR leased > ?)`, now, now)
	for _, state := range []string{"pending", "changes_requested", "stale"} {
		b.add(` UNION ALL SELECT id FROM `+d.Schema+`change WHERE state = '`+state+`' AND expires <= ?`, now)
	}
	b.add(`) AS due ORDER BY random() LIMIT ?`, limit)
	return b.ask(d)
}

func states(f change.Filter) []change.State {
	if len(f.States) == 0 {
		return change.States()
	}
	out := slices.Clone(f.States)
	slices.Sort(out)
	return slices.Compact(out)
}

// from returns the FROM clause for f. It begins with the table whose index selects the changes of f, because SQLite
// keeps the order of a CROSS JOIN.
func (d ChangeQueries) from(f change.Filter) string {
	changes, classes := d.Schema+`change AS c`, d.Schema+`change_class AS k`
	switch {
	case f.Class == "":
		return changes
	case f.Principal != "" || f.Owner != "":
		return changes + ` CROSS JOIN ` + classes
	}
	return classes + ` CROSS JOIN ` + changes
}

func order(f change.Filter) string {
	if f.Class != "" && f.Principal == "" && f.Owner == "" {
		return `k.id`
	}
	return `c.id`
}

// where adds the conditions of f on a change in the given state.
func (d ChangeQueries) where(b *builder, f change.Filter, state change.State, known Lexicon) {
	b.add(`c.state = ?`, string(state))
	if f.Class != "" {
		b.add(` AND k.class = ? AND k.state = ? AND k.id = c.id`, d.Bytes(f.Class), string(state))
	}
	if len(f.Records) > 0 {
		b.add(` AND c.id IN (SELECT r.id FROM `+d.Schema+`change_class AS r WHERE r.state = ? AND `, string(state))
		d.records(b, f)
		b.add(`)`)
	}
	d.conditions(b, f, known)
}

// records adds the condition of f on the records of a change.
func (d ChangeQueries) records(b *builder, f change.Filter) {
	for i, at := range f.Records {
		b.add(map[bool]string{true: `r.class IN (?`, false: `, ?`}[i == 0], d.Bytes(recordEntry(at)))
	}
	b.add(`)`)
}

// conditions adds the conditions of f that don't depend on the state of a change.
func (d ChangeQueries) conditions(b *builder, f change.Filter, known Lexicon) {
	for _, is := range []struct {
		column, value string
		asked         bool
	}{{"principal", f.Principal, f.Principal != ""}, {"owner", f.Owner, f.Owner != ""}, {"tenant", f.Tenant, f.Tenanted}, {"source", f.Source, f.Source != ""}} {
		if is.asked {
			b.add(` AND c.`+is.column+` = ?`, d.Bytes(is.value))
		}
	}
	for _, source := range slices.Sorted(maps.Keys(f.Schemas)) {
		b.add(` AND (c.source <> ?`, d.Bytes(source))
		if f.Schemas[source] != "" {
			b.add(` OR `+d.Contains+`(c.closed, ?) > 0`, word(mark(inSchema, f.Schemas[source])))
		}
		b.add(`)`)
	}
	if f.Op != "" {
		b.add(` AND c.op = ?`, word(f.Op))
	}
	if f.Risk != "" {
		b.add(` AND c.risk = ?`, word(string(f.Risk)))
	}
	d.decidable(b, f)
	if f.Text != "" {
		d.words(b, f, known)
	}
}

// decidable adds the condition that f.For may decide about a change, and is one of its reviewers if rules name some.
func (d ChangeQueries) decidable(b *builder, f change.Filter) {
	if f.For == "" {
		return
	}
	b.add(` AND `+d.Contains+`(c.closed, ?) = 0`, word(mark(approver, f.For)))
	if !f.Own {
		b.add(` AND `+d.Contains+`(c.closed, ?) = 0`, word(mark(author, f.For)))
	}
	b.add(` AND (`+d.Contains+`(c.closed, ?) = 0`, mark(reviewer, ""))
	for _, name := range f.As {
		b.add(` OR `+d.Contains+`(c.closed, ?) > 0`, word(mark(reviewer, name)))
	}
	b.add(`)`)
}

// word returns s without the characters that PostgreSQL's text type can't store. Such a value matches nothing.
func word(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// A builder collects the text of a query and its arguments.
type builder struct {
	text strings.Builder
	args []any
}

func (b *builder) add(text string, args ...any) {
	b.text.WriteString(text)
	b.args = append(b.args, args...)
}

// ask returns the query with numbered placeholders if the dialect needs them. Otherwise it writes a plus before each
// argument. Without the plus, SQLite would plan a cached statement again for each argument that influences the plan.
// All question marks in the query are placeholders.
func (b *builder) ask(d ChangeQueries) ChangeLookup {
	if !d.Numbered {
		return ChangeLookup{strings.ReplaceAll(b.text.String(), "?", "+?"), b.args}
	}
	var out strings.Builder
	for i, part := range strings.Split(b.text.String(), "?") {
		if i > 0 {
			out.WriteString("$" + strconv.Itoa(i))
		}
		out.WriteString(part)
	}
	return ChangeLookup{out.String(), b.args}
}
