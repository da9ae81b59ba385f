package postgres

import (
	"fmt"
	"strconv"
	"strings"
)

// A node is a node of a query in PostgreSQL's stored form, {TAG :field value …}. A list has no tag, and an atom has
// only Text.
type node struct {
	Tag    string
	Text   string
	Fields map[string]node
	List   []node
}

// Of returns a field of n, or the zero node.
func (n node) Of(field string) node { return n.Fields[field] }

// Int returns the value of a field of n as a number, or 0 if it isn't a number.
func (n node) Int(field string) int {
	i, _ := strconv.Atoi(n.Fields[field].Text)
	return i
}

// deepest is the maximum nesting of nodes. PostgreSQL's own limit depends on its stack.
const deepest = 10_000

// nodes reads the text of a pg_node_tree.
type nodes struct {
	text  string
	depth int
}

// parseNodes parses the text of a pg_node_tree.
func parseNodes(text string) (n node, err error) {
	r := &nodes{text: text}
	if n, err = r.item(r.token()); err != nil {
		return node{}, err
	}
	if rest := r.token(); rest != "" {
		return node{}, fmt.Errorf("a stored query goes on with %.20q", rest)
	}
	return n, nil
}

// token returns the next token, including its escapes, or "" at the end. Each bracket is a separate token.
func (r *nodes) token() string {
	r.text = strings.TrimLeft(r.text, " \n\t")
	if r.text == "" {
		return ""
	}
	end := 0
	for end < len(r.text) && strings.IndexByte(" \n\t(){}", r.text[end]) < 0 {
		if r.text[end] == '\\' {
			end++
		}
		end++
	}
	end = min(max(end, 1), len(r.text))
	token := r.text[:end]
	r.text = r.text[end:]
	return token
}

// item parses the node, the list or the atom that begins with token.
func (r *nodes) item(token string) (node, error) {
	if r.depth++; r.depth > deepest {
		return node{}, fmt.Errorf("a stored query is nested more than %d deep", deepest)
	}
	defer func() { r.depth-- }()
	switch token {
	case "", ")", "}":
		return node{}, fmt.Errorf("a stored query has %q where a value belongs", token)
	case "(":
		list := node{List: []node{}}
		for {
			token := r.token()
			if token == ")" {
				return list, nil
			}
			n, err := r.item(token)
			if err != nil {
				return node{}, err
			}
			list.List = append(list.List, n)
		}
	case "{":
		return r.fields()
	case "<>":
		return node{}, nil
	}
	return node{Text: token}, nil
}

// fields parses a node after its opening brace. A field has one value. The bytes of a constant, which follow the
// length, are skipped.
func (r *nodes) fields() (node, error) {
	n := node{Tag: r.token(), Fields: map[string]node{}}
	for token := r.token(); token != "}"; token = r.token() {
		name, is := strings.CutPrefix(token, ":")
		if !is {
			if token == "" || token == "(" || token == ")" || token == "{" {
				return node{}, fmt.Errorf("a stored query has %q in a node %s", token, n.Tag)
			}
			continue
		}
		value, err := r.item(r.token())
		if err != nil {
			return node{}, err
		}
		n.Fields[name] = value
	}
	return n, nil
}
