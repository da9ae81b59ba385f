package mongogen

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ObjectID is the Native of a field that contains only ObjectIds. The Native of a field with several types has their
// names joined by "|".
const ObjectID = "objectId"

// bsonHolds reports whether the values of a field may have a BSON type, according to its description. native is the
// type's name for $type.
func bsonHolds(f *schema.Field, native string) bool {
	return slices.Contains(strings.Split(f.Native, "|"), native)
}

// number returns a number in the BSON form that compares exactly with the values of a field. For a field of Doubles it
// is a double. Otherwise it is a long, a double with the same decimal value, or a Decimal128. It returns false if there
// is no exact form.
func number(v value.Value, t schema.Type, decimals bool) (any, bool) {
	f, _ := v.AsFloat()
	switch {
	case t == schema.Double:
		return f, v.Kind() == value.Float || math.Abs(f) < 1<<53
	case v.Kind() == value.Int:
		return v.Int(), true
	case v.Kind() == value.Float:
		return f, true
	}
	if n, ok := v.AsInt(); ok {
		return n, true
	}
	exact, ok := interpret.NumberOf(v)
	if near, is := interpret.NumberOf(value.OfFloat(f)); ok && is && t != schema.Decimal && near.String() == exact.String() {
		return f, true
	}
	if !ok || !decimals {
		return nil, false
	}
	d, err := bson.ParseDecimal128(v.Text())
	if err != nil {
		return nil, false
	}
	back, ok := interpret.NumberText(d.String())
	return d, ok && back.String() == exact.String()
}

// scalar returns a value that isn't null as BSON, for a field of type t. It returns false if the value has no exact
// form.
func scalar(v value.Value, t schema.Type, decimals bool) (any, bool) {
	switch v.Kind() {
	case value.Bool:
		return v.Bool(), true
	case value.Int, value.Float, value.Decimal:
		return number(v, t, decimals)
	case value.String:
		if t == schema.UUID {
			return UUID(v.Text())
		}
		return v.Text(), true
	case value.Date, value.Day:
		ms := v.Micros() / 1000
		return bson.DateTime(ms), ms*1000 == v.Micros()
	case value.Bytes:
		return bson.Binary{Data: []byte(v.Text())}, true
	}
	return nil, false
}

// UUID returns the binary form of a UUID in text.
func UUID(text string) (any, bool) {
	raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	return bson.Binary{Subtype: uuidSubtype, Data: raw}, err == nil && len(raw) == 16 && len(text) == 36
}

// oid returns the ObjectId whose text is text. It returns false if DecodeBSON would return another text for it.
func oid(text string) (bson.ObjectID, bool) {
	id, err := bson.ObjectIDFromHex(text)
	return id, err == nil && id.Hex() == text
}

// texts returns all BSON values that DecodeBSON returns as this text in a field of JSON.
func texts(text string) []any {
	out := []any{text}
	if id, ok := oid(text); ok {
		out = append(out, id)
	}
	if id, ok := UUID(text); ok && strings.ToLower(text) == text {
		out = append(out, id)
	}
	if d, ok := value.OfDateText(text); ok && value.OfDate(d.Micros()).String() == text && d.Micros()%1000 == 0 {
		out = append(out, bson.DateTime(d.Micros()/1000))
	}
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil && base64.StdEncoding.EncodeToString(raw) == text {
		out = append(out, bson.Binary{Data: raw})
	}
	return out
}

// StoredBSON returns a value in the form in which a field of a class stores it, for a new or changed document. It
// converts texts to ObjectIds and UUIDs, and JSON to documents. It returns false for a value without an exact form.
func StoredBSON(v value.Value, f *schema.Field) (any, bool) {
	switch {
	case v.IsNull():
		return nil, true
	case v.Kind() == value.String && bsonHolds(f, ObjectID):
		if id, ok := oid(v.Text()); ok {
			return id, true
		}
		return v.Text(), f.Native != ObjectID
	case v.Kind() == value.String && f.Type == schema.Date:
		d, ok := value.OfDateText(v.Text())
		return bson.DateTime(d.Micros() / 1000), ok && d.Micros()%1000 == 0
	case v.Kind() == value.Array || v.Kind() == value.Object:
		return nestedBSON(v)
	case v.Kind() == value.Int && bsonHolds(f, "int") && v.Int() == int64(int32(v.Int())):
		return int32(v.Int()), true
	}
	x, ok := scalar(v, f.Type, true)
	if !ok && v.Kind() == value.Int {
		return v.Int(), true // it has more digits than a double
	}
	return x, ok
}

// nestedBSON returns v as BSON inside a document, where no field has a type that explains a text. It returns false for
// a value without an exact form, and for a name with NUL.
func nestedBSON(v value.Value) (any, bool) {
	switch v.Kind() {
	case value.Null:
		return nil, true
	case value.Array:
		out := make(bson.A, len(v.List()))
		for i, e := range v.List() {
			var ok bool
			if out[i], ok = nestedBSON(e); !ok {
				return nil, false
			}
		}
		return out, true
	case value.Object:
		out := make(bson.D, len(v.Members()))
		for i, m := range v.Members() {
			inner, ok := nestedBSON(m.Value)
			if !ok || strings.ContainsRune(m.Name, 0) {
				return nil, false
			}
			out[i] = bson.E{Key: m.Name, Value: inner}
		}
		return out, true
	case value.Decimal:
		if f, ok := number(v, schema.JSON, false); ok {
			return f, true
		}
	}
	return scalar(v, schema.JSON, true)
}
