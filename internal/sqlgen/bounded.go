package sqlgen

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The size limits in bytes: mostRecord is the maximum of a record, shared by its values. Each value may have at least
// leastValue.
const (
	mostRecord = 4 << 20
	leastValue = 64 << 10
)

// mostValue returns the maximum size in bytes of a value, in a record with n values of unlimited length.
func mostValue(plan *policy.Plan, n int) int {
	most := plan.Most
	if most == 0 {
		most = policy.MostValue
	}
	return min(most, max(leastValue, max(mostRecord, most)/max(1, n)))
}

// selectTerms returns the terms that select w.columns, given their texts xs. A value that is too long is selected as
// null. An additional column then contains the sizes of the values, so a large value is never read.
func (w *writer) selectTerms(xs []string) []string {
	out := make([]string, len(xs), len(xs)+1)
	var sizes []string
	for i, c := range w.columns {
		if out[i] = xs[i]; c.Millis {
			continue
		}
		if out[i] = w.Read(xs[i], c.Field); w.long(c.Field) {
			size := w.size(xs[i], c.Field)
			// A list that is otherwise never null was too large if it is null.
			if c.Field.Name == "" && c.Field.NotNull {
				size = "coalesce(" + size + ", " + strconv.Itoa(value.Unmeasured) + ")"
			}
			sizes = append(sizes, size)
			w.bounded = append(w.bounded, i)
		}
	}
	if sizes == nil {
		return out
	}
	w.most = mostValue(w.plan, len(sizes))
	most := strconv.Itoa(w.most)
	for n, i := range w.bounded {
		out[i] = "CASE WHEN " + sizes[n] + " <= " + most + " THEN " + out[i] + " END"
	}
	return append(out, "CASE WHEN "+strings.Join(sizes, " > "+most+" OR ")+" > "+most+
		" THEN concat_ws(',', coalesce("+strings.Join(sizes, ", 0), coalesce(")+", 0)) END")
}

// long reports whether values of a field may have any length. SQLite doesn't enforce a declared length.
func (w *writer) long(f *schema.Field) bool {
	_, length := w.Pieces()
	return f.Type.Open() && (length != "" || f.Type != schema.String || f.Length == 0 || f.Length > leastValue/8)
}

// size returns the size in bytes of a selected column. Databases know the size of stored text without reading it.
func (w *writer) size(x string, f *schema.Field) string {
	return w.Bytes(w.AsText(x, f), f)
}

// piece writes a piece of a column. It also returns a field that describes the piece.
func (w *writer) piece(x string, f *schema.Field, p *policy.Piece) (string, *schema.Field) {
	text, t := w.AsText(x, f), schema.String
	units, most := w.Pieces()
	if f.Type == schema.Bytes {
		units, t = "octet_length", schema.Bytes
	}
	otherwise := ""
	if p.Size {
		text, t, otherwise = units+"("+text+")", schema.Integer, " ELSE "+w.size(x, f)
	} else {
		text = w.Slice(text, f, w.Arg(p.Offset+1, "int4"), w.Arg(p.Length, "int4"))
	}
	if most != "" {
		text = "CASE WHEN " + w.size(x, f) + " <= " + most + " THEN " + text + otherwise + " END"
	}
	return text, w.ComputedField(t)
}
