package result

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A node is a member of a record in the result.
type node struct {
	name     string
	quoted   []byte // the name as JSON, with a colon
	column   int    // the column of the value, or -1 for an object that only has children
	present  int    // for a followed pointer: the column that is null if the caller can't see the target, otherwise -1
	children []*node
	dropped  bool
	implied  bool   // the text doesn't show its own column (policy.Column.Implied)
	columns  []int  // the columns of this node and its descendants
	optional bool   // the node is null if all its columns are null
	class    string // the class for encoding a pointer, or "" for an id only
}

// treeOf arranges the plan's columns as nested members, in the order of their first columns.
func treeOf(plan *policy.Plan) *node {
	root := &node{column: -1, present: -1, children: make([]*node, 0, len(plan.Columns))}
	room := roomFor(plan.Columns)
	for i, c := range plan.Columns {
		at := root
		for _, name := range c.Path {
			at = room.child(at, name)
			at.columns = append(at.columns, i)
		}
		at.column, at.implied = i, c.Implied
		if c.Leads >= 0 {
			at.present = slices.IndexFunc(plan.Columns, func(d policy.Column) bool {
				return d.Join == c.Leads && d.Part == nil && d.Mask == nil && d.Field.Name == plan.Joins[c.Leads].Key
			})
		}
	}
	if plan.Program != nil {
		for _, path := range plan.Program.Out().Optional {
			if n := root.find(path); n != nil {
				n.optional = true
			}
		}
	}
	return root
}

// find returns the node at path, or nil.
func (n *node) find(path []string) *node {
	for _, name := range path {
		i := slices.IndexFunc(n.children, func(c *node) bool { return c.name == name })
		if i < 0 {
			return nil
		}
		n = n.children[i]
	}
	return n
}

// A room is preallocated memory for the nodes of a tree. Each response makes a tree. Separate allocations for its nodes
// would be most of the response's allocations.
type room struct {
	nodes   []node
	columns []int
	quoted  []byte
}

// roomFor returns a room for all nodes of columns. It also has room for their names, unless some names require escapes.
func roomFor(columns []policy.Column) *room {
	nodes, letters := 0, 0
	for _, c := range columns {
		for _, name := range c.Path {
			nodes++
			letters += len(name) + 3
		}
	}
	return &room{make([]node, 0, nodes), make([]int, nodes), make([]byte, 0, letters)}
}

// child returns the child of n with this name. It creates the child if necessary.
func (r *room) child(n *node, name string) *node {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	from := len(r.quoted)
	r.quoted = append(value.AppendQuote(r.quoted, name), ':')
	at := len(r.nodes)
	r.nodes = append(r.nodes, node{name: name, quoted: r.quoted[from:len(r.quoted):len(r.quoted)], column: -1, present: -1,
		columns: r.columns[at : at : at+1]})
	n.children = append(n.children, &r.nodes[at])
	return &r.nodes[at]
}

// append appends the member's value in row as JSON. A followed pointer becomes the record to which it refers, or the
// id.
func (n *node) append(dst []byte, row value.Row) []byte {
	switch {
	case n.column >= 0 && n.class != "" && !row[n.column].IsNull():
		dst = value.AppendQuote(append(dst, `{"__type":"Pointer","className":`...), n.class)
		return append(row[n.column].AppendJSON(append(dst, `,"objectId":`...)), '}')
	case n.column >= 0 && (n.children == nil || n.present >= 0 && row[n.present].IsNull()):
		return row[n.column].AppendJSON(dst)
	case n.absent(row):
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	first := true
	for _, c := range n.children {
		if c.dropped {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = c.append(append(dst, c.quoted...), row)
	}
	return append(dst, '}')
}

// length estimates the number of bytes that append adds, so that a growing answer of one record isn't copied.
func (n *node) length(row value.Row) int {
	all := 8
	for _, c := range n.children {
		all += len(c.quoted) + 1
		if c.children != nil {
			all += c.length(row)
		}
	}
	if n.name == "" {
		for _, v := range row {
			all += len(v.Text()) + 16
		}
	}
	return all
}

// absent reports whether n is an object that is missing in row.
func (n *node) absent(row value.Row) bool {
	return n.optional && !slices.ContainsFunc(n.columns, func(i int) bool { return !row[i].IsNull() })
}

// value returns the value that append encodes. The only difference is that a followed pointer is always its id.
func (n *node) value(row value.Row) value.Value {
	switch {
	case n.column >= 0:
		return row[n.column]
	case n.absent(row):
		return value.Value{}
	}
	members := make([]value.Member, len(n.children))
	for i, c := range n.children {
		members[i] = value.Member{Name: c.name, Value: c.value(row)}
	}
	return value.OfObject(members)
}

// A size is the number of bytes of a member.
type size struct {
	name  string
	bytes int
}

// sizes returns the size of each member in row, including the parts that were cut.
func (n *node) sizes(row value.Row) []size {
	out := make([]size, len(n.children))
	for i, c := range n.children {
		out[i] = size{c.name, len(c.append(nil, row)) + len(c.quoted) + 1}
		for _, j := range c.columns {
			out[i].bytes += int(row[j].Size())
		}
	}
	return out
}

// leaf returns the member that contains only column i. It returns nil if the member also has the record of a followed
// pointer.
func (n *node) leaf(i int) *node {
	for _, c := range n.children {
		if c.column == i && c.children == nil {
			return c
		}
		if slices.Contains(c.columns, i) {
			return c.leaf(i)
		}
	}
	return nil
}

// showsColumn reports whether the text shows column i. It omits the key of a followed pointer's target, because the
// pointer has the same value.
func (n *node) showsColumn(i int) bool {
	for _, c := range n.children {
		if !slices.Contains(c.columns, i) {
			continue
		}
		if c.dropped || c.repeats(i) || c.implied && c.column == i || c.children != nil && c.column != i && !c.showsColumn(i) {
			return false
		}
	}
	return true
}

func (n *node) repeats(i int) bool {
	if n.present == i {
		return true
	}
	return slices.ContainsFunc(n.children, func(c *node) bool { return c.repeats(i) })
}
