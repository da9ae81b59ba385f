package changes

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
)

// A Dialect is how a database wants the statements.
type Dialect struct {
	Schema   string           // before the names of tables, with its dot
	Contains string           // whether the first of two arguments holds the second: the name of a function that gives a number
	Numbered bool             // arguments are $1, $2, … and not ?
	Bytes    func(string) any // an argument for a column that can hold any bytes
}

// A CallSpec is a statement and its arguments.
type Lookup struct {
	Text string
	Args []any
}

const (
	most    = 200
	usually = 50
)

func limit(f change.Filter) int { return min(cmp.Or(f.Limit, usually), most) }

// List asks for the bodies of the changes of f, the newest first, and one more than its limit. Each state is asked for by
// itself: then an index gives the first page of each in order, however many others there are.
func (d Dialect) List(f change.Filter) Lookup {
	var b builder
	n := limit(f) + 1
	b.add(`SELECT c.body FROM (`)
	for i, state := range states(f) {
		if i > 0 {
			b.add(` UNION ALL `)
		}
		b.add(`SELECT id FROM (SELECT c.id FROM ` + d.from(f) + ` WHERE `)
		d.where(&b, f, state)
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

// Counts asks how many changes f means, by state.
func (d Dialect) Counts(f change.Filter) Lookup {
	f.States = nil
	var b builder
	for i, state := range states(f) {
		if i > 0 {
			b.add(` UNION ALL `)
		}
		b.add(`SELECT '` + string(state) + `', count(*) FROM ` + d.from(f) + ` WHERE `)
		d.where(&b, f, state)
	}
	return b.ask(d)
}

// Due asks for the ids of changes that something is to be done with at now, an argument of the database's type for times.
// They come in no order: so those that can't go on for long don't stand before others, and replicas seldom take the same.
func (d Dialect) Due(now any, limit int) Lookup {
	var b builder
	// Approved ones are due whether or not they have expired, but not while they wait for others.
	b.add(`SELECT id FROM (SELECT c.id FROM `+d.Schema+`change AS c WHERE c.state = 'approved' AND (c.expires <= ? OR NOT EXISTS (SELECT 1 FROM `+d.Schema+`change_after AS a
		JOIN `+d.Schema+`change AS o ON o.id = a.other WHERE a.id = c.id AND o.state IN ('pending', 'approved', 'applying', 'stale', 'unknown')))`, now)
	b.add(` UNION ALL SELECT id FROM `+d.Schema+`change WHERE state = 'applying' AND lease <= ?`, now)
	for _, state := range []string{"pending", "stale"} {
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

// from begins with the table whose index leads to what f means: SQLite keeps the order of a CROSS JOIN.
func (d Dialect) from(f change.Filter) string {
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

// where writes what f asks of a change in one state.
func (d Dialect) where(b *builder, f change.Filter, state change.State) {
	b.add(`c.state = ?`, string(state))
	if f.Class != "" {
		b.add(` AND k.class = ? AND k.state = ? AND k.id = c.id`, d.Bytes(f.Class), string(state))
	}
	for _, is := range []struct {
		column, value string
		asked         bool
	}{{"principal", f.Principal, f.Principal != ""}, {"owner", f.Owner, f.Owner != ""}, {"tenant", f.Tenant, f.Tenanted}, {"source", f.Source, f.Source != ""}} {
		if is.asked {
			b.add(` AND c.`+is.column+` = ?`, d.Bytes(is.value))
		}
	}
	if f.Op != "" {
		b.add(` AND c.op = ?`, word(f.Op))
	}
	if f.Risk != "" {
		b.add(` AND c.risk = ?`, word(string(f.Risk)))
	}
	if f.Text != "" {
		b.add(` AND `+d.Contains+`(c.search, ?) > 0`, lower(f.Text))
	}
}

// word keeps a word of ours as it is, without what PostgreSQL's texts can't hold: such a one finds nothing.
func word(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// A builder gathers text and its arguments.
type builder struct {
	text strings.Builder
	args []any
}

func (b *builder) add(text string, args ...any) {
	b.text.WriteString(text)
	b.args = append(b.args, args...)
}

// ask numbers the arguments where the dialect wants it. No text of a statement holds another question mark.
func (b *builder) ask(d Dialect) Lookup {
	if !d.Numbered {
		return Lookup{b.text.String(), b.args}
	}
	var out strings.Builder
	for i, part := range strings.Split(b.text.String(), "?") {
		if i > 0 {
			out.WriteString("$" + strconv.Itoa(i))
		}
		out.WriteString(part)
	}
	return Lookup{out.String(), b.args}
}
