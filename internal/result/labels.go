package result

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// most is the maximum number of records of one query for labels.
const most = 1000

// Labels describes records whose labels are requested: the records of Class with a Key in Values.
type Labels struct {
	Class  string        // in the caller's spelling, or "source.Class"
	Key    string        // a field of Class, as in policy.Relation.TargetKey. "" means the id
	Values []value.Value // ids, as texts or in the types of the source
	Raw    bool          // include records that the canonical filter excludes
	Fields []string      // for ReadNamed: the fields to read instead of the label
}

// Query returns the query for the labels of records of v, the view of Class. It returns nil if the caller can't see
// labels.
func (of Labels) Query(v *policy.View) *query.Find {
	key := of.Key
	if own := v.Key(); key == "" && len(own) == 1 {
		key = own[0]
	}
	f := v.Field(key)
	fields := of.Fields
	if fields == nil {
		fields = []string{v.Label()}
	}
	if f == nil || v.Mask(key) != nil || slices.Contains(fields, "") || v.Class().Recordless || len(of.Values) == 0 {
		return nil
	}
	values := slices.Clone(of.Values[:min(len(of.Values), most)])
	for i, id := range values { // ids are texts in answers, whatever type the source uses
		if n, err := value.Read([]byte(id.Text()), 0); f.Type == schema.Integer && err == nil && n.Kind() == value.Int {
			values[i] = n
		}
	}
	keys := []query.Path{{key}}
	for _, field := range fields {
		keys = append(keys, query.Path{field})
	}
	return &query.Find{Class: v.Class().FullName(), Where: query.In{Path: query.Path{key}, Values: values}, Keys: keys, Limit: most, Raw: of.Raw}
}

// ReadNamed returns the requested fields of the rows of q by the text of the record's key. It omits masked fields.
func ReadNamed(rows redact.Rows, q *query.Find) (map[string]value.Value, error) {
	plan, out := rows.Plan(), map[string]value.Value{}
	for row, err := range rows.All() {
		if err != nil {
			return nil, err
		}
		id, members := "", []value.Member(nil)
		for i, c := range plan.Columns {
			switch {
			case c.Join >= 0 || c.Mask != nil:
			case c.Field.Name == q.Keys[0][0]:
				id = row.Values[i].String()
			default:
				members = append(members, value.Member{Name: c.Field.Name, Value: row.Values[i]})
			}
		}
		out[id] = value.OfObject(members)
	}
	return out, nil
}

// ReadLabels returns the labels in the rows of q by the text of the record's key. q is the result of Query. Records
// without a label are omitted.
func ReadLabels(rows redact.Rows, q *query.Find) (map[string]string, error) {
	plan := rows.Plan()
	at := func(path query.Path) int {
		return slices.IndexFunc(plan.Columns, func(c policy.Column) bool { return c.Join < 0 && c.Mask == nil && c.Field.Name == path[0] })
	}
	id, label := at(q.Keys[0]), at(q.Keys[1])
	out := map[string]string{}
	for row, err := range rows.All() {
		if err != nil {
			return nil, err
		}
		if text := row.Values[label].String(); !row.Values[label].IsNull() && text != "" {
			out[row.Values[id].String()] = text
		}
	}
	return out, nil
}
