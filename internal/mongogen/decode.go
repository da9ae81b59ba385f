package mongogen

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// maxDepth is the maximum nesting that MongoDB allows. Deeper values are cut.
const maxDepth = 100

// DecodeBSON returns a stored value of a field of type t. ObjectIds and UUIDs become text. In a field of JSON or of
// lists, all other values without a JSON type also become text. Unreadable BSON becomes a Cut.
func DecodeBSON(v bson.RawValue, t schema.Type) value.Value {
	out := decode(v, 0)
	switch {
	case t.IsStructured():
		return interpret.JSON(out)
	case t == schema.Day && out.Kind() == value.Date && out.Micros()%(24*3600e6) == 0:
		return value.OfDay(out.Micros())
	case t == schema.Integer && out.IsNumber():
		if n, ok := out.AsInt(); ok {
			return value.OfInt(n)
		}
	}
	return out
}

// ComputedBSON is DecodeBSON for a value that a server has computed. Among doubles or decimals, it may be a whole
// number, which expressions read as a number of type t.
func ComputedBSON(v bson.RawValue, t schema.Type) value.Value {
	return interpret.Widen(DecodeBSON(v, t), t)
}

// decode returns v as a value: ObjectIDs in hex, dates as dates, and numbers exactly. A damaged value becomes a Cut
// with its size. A value of a type that only the database knows becomes its extended JSON.
func decode(v bson.RawValue, depth int) value.Value {
	switch v.Type {
	case bson.TypeNull, bson.TypeUndefined, 0:
		return value.Value{}
	case bson.TypeBoolean:
		if b, ok := v.BooleanOK(); ok {
			return value.OfBool(b)
		}
	case bson.TypeInt32:
		if n, ok := v.Int32OK(); ok {
			return value.OfInt(int64(n))
		}
	case bson.TypeInt64:
		if n, ok := v.Int64OK(); ok {
			return value.OfInt(n)
		}
	case bson.TypeDouble:
		if f, ok := v.DoubleOK(); ok {
			return value.OfFloat(f)
		}
	case bson.TypeDecimal128:
		if d, ok := v.Decimal128OK(); ok {
			return decimal(d)
		}
	case bson.TypeString:
		if s, ok := v.StringValueOK(); ok {
			return value.OfString(strings.ToValidUTF8(s, "\uFFFD"))
		}
	case bson.TypeObjectID:
		if id, ok := v.ObjectIDOK(); ok {
			return value.OfString(id.Hex())
		}
	case bson.TypeDateTime:
		if ms, ok := v.DateTimeOK(); ok {
			return date(ms)
		}
	case bson.TypeBinary:
		if kind, data, ok := v.BinaryOK(); ok {
			if depth > 0 && kind != 0 && kind != uuidSubtype {
				break // its text in JSON must differ from the text of other bytes
			}
			return binary(kind, data)
		}
	case bson.TypeEmbeddedDocument:
		if doc, ok := v.DocumentOK(); ok {
			return object(doc, depth)
		}
	case bson.TypeArray:
		if list, ok := v.ArrayOK(); ok {
			return array(list, depth)
		}
	}
	if v.Validate() != nil {
		return value.OfCut(int64(len(v.Value)))
	}
	return value.OfString(strings.ToValidUTF8(v.String(), "\uFFFD")) // extended JSON, for types that only the database knows
}

func decimal(d bson.Decimal128) value.Value {
	switch {
	case d.IsNaN():
		return value.OfFloat(math.NaN())
	case d.IsInf() != 0:
		return value.OfFloat(math.Inf(d.IsInf()))
	}
	return value.OfDecimal(d.String())
}

// date returns an instant in milliseconds. It returns text if the instant is outside of the range of a Date.
func date(ms int64) value.Value {
	if ms > math.MaxInt64/1000 || ms < math.MinInt64/1000 {
		return value.OfString("Date(" + strconv.FormatInt(ms, 10) + ")")
	}
	return value.OfDate(ms * 1000)
}

const uuidSubtype = 4

func binary(kind byte, data []byte) value.Value {
	if kind != uuidSubtype || len(data) != 16 {
		return value.OfBytes(string(data))
	}
	x := hex.EncodeToString(data)
	return value.OfString(strings.Join([]string{x[:8], x[8:12], x[12:16], x[16:20], x[20:]}, "-"))
}

// object decodes a document. If members share a name, the first one counts, as in MongoDB's own expressions.
func object(doc bson.Raw, depth int) value.Value {
	elements, err := doc.Elements()
	if err != nil || depth >= maxDepth {
		return value.OfCut(int64(len(doc)))
	}
	members, seen := make([]value.Member, 0, len(elements)), make(map[string]bool, len(elements))
	for _, e := range elements {
		name := strings.ToValidUTF8(e.Key(), "\uFFFD")
		if !seen[name] {
			members, seen[name] = append(members, value.Member{Name: name, Value: decode(e.Value(), depth+1)}), true
		}
	}
	return value.OfObject(members)
}

// array decodes a list. A list that is damaged or too deep becomes a Cut with its size in bytes.
func array(list bson.RawArray, depth int) value.Value {
	values, err := list.Values()
	if err != nil || depth >= maxDepth {
		return value.OfCut(int64(len(list)))
	}
	out := make([]value.Value, len(values))
	for i, v := range values {
		out[i] = decode(v, depth+1)
	}
	return value.OfArray(out)
}
