package sqlparse

import "strings"

// Elements parses the text of an array in PostgreSQL's form: {a,"b c",NULL}. A nil element is a NULL. It returns false
// for any other text, and for a list inside a list.
func Elements(array string) (items []*string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(array), "{")
	if ok && strings.TrimSpace(rest) == "}" {
		return nil, true
	}
	for more := ok; more; {
		var item string
		var isQuoted bool
		if item, isQuoted, rest, ok = element(strings.TrimSpace(rest)); !ok || rest == "" {
			return nil, false
		}
		items = append(items, &item)
		if !isQuoted && strings.EqualFold(item, "null") {
			items[len(items)-1] = nil
		}
		more = rest[0] == ','
		if !more && rest != "}" {
			return nil, false
		}
		rest = rest[1:]
	}
	return items, ok
}

// element parses one element of the text of an array. rest begins with the character after the element.
func element(s string) (item string, isQuoted bool, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		n := strings.IndexAny(s, `,}"\{`)
		if n < 0 {
			return "", false, "", false
		}
		item = strings.TrimSpace(s[:n])
		return item, false, s[n:], item != ""
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), true, strings.TrimSpace(s[i+1:]), true
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", false, "", false
}

// list parses ARRAY[…] or ARRAY(query). t is the word ARRAY. It returns nil if neither bracket follows.
func (p *parser) list(t *token) Expr {
	switch p.ahead(1).low {
	case "[":
		p.i += 2
		a := &Array{At: t.at}
		if !p.symbol("]") {
			a.Items = p.items()
			p.mark("]")
		}
		return a
	case "(":
		p.i += 2
		if !p.queryNext() {
			p.failExpecting("a query")
		}
		q := p.query()
		p.mark(")")
		return listOf(q, t.at)
	}
	return nil
}

// listOf returns ARRAY(query): the list of the values of a query, in its order. Without records the list is empty. If
// possible, the aggregate is added to the query itself, because in some databases a query in FROM can't refer to the
// outer record.
func listOf(q *Query, at Pos) Expr {
	list := &Call{Name: "array_agg", At: at}
	if s, ok := q.Body.(*Select); ok && q.plain(s) {
		list.Args, list.Order = []Expr{s.Items[0].X}, q.Order
		s.Items[0] = Item{X: list, Text: s.Items[0].Text}
		q.Order = nil
	} else {
		list.Args = []Expr{&Name{Parts: []Ident{{Text: "element", Quoted: true, At: at}}}}
		names := Alias{Name: &Ident{Text: "list", Quoted: true, At: at}, Columns: []Ident{{Text: "element", Quoted: true, At: at}}}
		q = &Query{Body: &Select{Items: []Item{{X: list}}, From: []From{&Derived{Query: q, Alias: names, At: at}}, At: at}, At: at}
	}
	return &Call{Name: "coalesce", Args: []Expr{&Sub{Query: q, At: at}, &Array{At: at}}, At: at}
}

// plain reports whether q selects a list of values, has no groups, limits or windows, and orders only by columns of its
// tables.
func (q *Query) plain(s *Select) bool {
	if len(q.With) > 0 || q.Limit != nil || q.Offset != nil || s.Distinct || s.On != nil || s.Top != nil || s.Group != nil || s.GroupAll || s.Having != nil || s.Qualify != nil || len(s.Items) != 1 {
		return false
	}
	if _, star := s.Items[0].X.(*Star); star || AggregateIn(s.Items[0].X) != nil || HasWindow(s.Items[0].X) {
		return false
	}
	for _, o := range q.Order {
		n, ok := o.X.(*Name)
		if !ok || s.Items[0].Alias != nil && len(n.Parts) == 1 && n.Parts[0].Text == s.Items[0].Alias.Text {
			return false
		}
	}
	return true
}
