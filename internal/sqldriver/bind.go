package sqldriver

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// dmlPlaceholder returns the placeholder for the value of a set. It returns an error if the column can't hold the
// value.
func dmlPlaceholder(t *sqlgen.Text, s writes.Set, forms map[string]WriteForm) (string, error) {
	arg, why := dmlArgument(&t.Writes, s.Field, s.Value, forms[s.Field.Name])
	if text, ok := arg.(string); ok && why == "" && s.Field.Type == schema.Opaque && !t.Fits(s.Field, text) {
		why = "must be " + s.Field.Form
	}
	if why != "" {
		return "", UnfitValue(s.Field, s.Field.Name+" "+why)
	}
	place := t.Arg(arg)
	if arg == nil || t.Writes.Place == nil {
		return place, nil
	}
	return t.Writes.Place(place, s.Field), nil
}

// UnfitValue returns the error for a value that doesn't fit the field f of a write. The pointer in the error is
// relative to the write.
func UnfitValue(f *schema.Field, detail string) *problem.Error {
	name := strings.NewReplacer("~", "~0", "/", "~1").Replace(f.Name)
	return &problem.Error{Code: problem.InvalidArgument, Kind: "value", Pointer: "/data/" + name, Detail: detail}
}

// dmlArgument returns v as the argument that the driver expects for a column of f. If the column can't hold v, why is
// the reason.
func dmlArgument(ws *sqlgen.Writes, f *schema.Field, v value.Value, form WriteForm) (arg any, why string) {
	if f.Stored != nil {
		raw, why := interpret.EncodeValue(f, v)
		if why != "" {
			return nil, why
		}
		return dmlArgument(ws, &f.Stored.Field, raw, nil)
	}
	if v.IsNull() {
		if f.NotNull {
			return nil, "can't be null"
		}
		return nil, ""
	}
	if f.Values != nil && !slices.ContainsFunc(f.Values, func(a value.Value) bool { return value.Equal(a, v) }) {
		return nil, "can't hold " + problem.Cut(v.String()) + "; it holds one of " + joinValues(f.Values)
	}
	switch f.Type {
	case schema.String, schema.Opaque:
		return heldText(f, v)
	case schema.Integer:
		return heldInteger(ws, f, v)
	case schema.Double:
		return heldDouble(ws, f, v)
	case schema.Decimal:
		return heldDecimal(ws, f, v)
	case schema.Boolean:
		return heldBoolean(ws, f, v)
	case schema.Date, schema.Day:
		return heldDate(ws, f, v, form)
	case schema.UUID:
		id, ok := value.OfUUIDText(v.Text())
		if v.Kind() != value.String || !ok {
			return nil, "must be a UUID"
		}
		return id.Text(), ""
	case schema.Bytes:
		return heldBytes(ws, f, v)
	case schema.JSON:
		return string(v.AppendJSON(nil)), ""
	case schema.Array:
		if v.Kind() != value.Array {
			return nil, "must be a list"
		}
		if why := heldElements(ws, f.Element, v); why != "" {
			return nil, why
		}
		return ws.Bind(v, f), ""
	}
	return heldAny(ws, v)
}

// joinValues returns at most 20 of values, joined by commas, for messages.
func joinValues(values []value.Value) string {
	texts := make([]string, 0, len(values))
	for i, v := range values {
		if i == 20 {
			return strings.Join(texts, ", ") + ", …"
		}
		texts = append(texts, v.String())
	}
	return strings.Join(texts, ", ")
}

// heldText returns a text as the argument for its column, or the reason why the column can't hold it. NUL is rejected
// in every database, because PostgreSQL can't store it.
func heldText(f *schema.Field, v value.Value) (any, string) {
	switch {
	case v.Kind() != value.String:
		return nil, "must be a text"
	case strings.ContainsRune(v.Text(), 0):
		return nil, "can't hold the NUL character"
	case f.Length > 0 && utf8.RuneCountInString(v.Text()) > f.Length:
		return nil, fmt.Sprintf("must have at most %d characters", f.Length)
	}
	return v.Text(), ""
}

// heldInteger returns an integer as the argument for its column, or the reason why the column can't hold it.
func heldInteger(ws *sqlgen.Writes, f *schema.Field, v value.Value) (any, string) {
	n, ok := v.AsInt()
	if !ok {
		return nil, "must be an integer of 64 bits"
	}
	if r, narrow := ws.Ranges[f.Native]; narrow && (n < r[0] || n > r[1]) {
		return nil, fmt.Sprintf("holds integers from %d to %d", r[0], r[1])
	}
	return ws.Bind(value.OfInt(n), f), ""
}

// heldDouble returns a number as the argument for a Double column, or the reason why the column can't hold it. It
// accepts only numbers that read back as they were written, such as 0.1 but not 0.1000000000000000055.
func heldDouble(ws *sqlgen.Writes, f *schema.Field, v value.Value) (any, string) {
	x, ok := v.AsFloat()
	if !ok {
		return nil, "must be a number"
	}
	if v.Kind() == value.Float && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return heldInfinite(ws, f, x)
	}
	if n, whole := v.AsInt(); whole && ws.Whole != nil && ws.Whole(f) {
		return n, ""
	}
	bits := 64
	if ws.Single != "" && f.Native == ws.Single {
		bits = 32
	}
	text := strconv.FormatFloat(x, 'g', -1, bits)
	if !same(text, v) {
		return nil, "can't hold all digits of " + problem.Cut(v.String())
	}
	return ws.Bind(value.OfDecimal(text), f), ""
}

// heldInfinite returns NaN or an infinity as the argument for a column, or the reason why the column can't hold it.
func heldInfinite(ws *sqlgen.Writes, f *schema.Field, x float64) (any, string) {
	if ws.Infinite == nil || !ws.Infinite(f, x) {
		return nil, "can't hold " + value.OfFloat(x).String()
	}
	return ws.Bind(value.OfFloat(x), f), ""
}

// same reports whether text and v are the same number.
func same(text string, v value.Value) bool {
	if strings.ContainsAny(text, "NI") { // not a finite number
		return false
	}
	return value.Equal(value.OfDecimal(text), v)
}

// heldDecimal returns the text of a number for a Decimal column, or the reason why the column can't hold it. It
// rejects numbers with too many digits behind the point. The database would round them, and then store another value
// than the reviewed one.
func heldDecimal(ws *sqlgen.Writes, f *schema.Field, v value.Value) (any, string) {
	if !v.IsNumber() {
		return nil, "must be a number"
	}
	text := v.String()
	x, _ := v.AsFloat()
	if v.Kind() == value.Float && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return heldInfinite(ws, f, x)
	}
	if len(text) > 1000 || x > 1e300 || x < -1e300 || strings.ContainsAny(text, "Nn") {
		return nil, "can't hold so large a number"
	}
	if f.Digits == 0 {
		return text, ""
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok { // the number is too small to count its digits
		return nil, fmt.Sprintf("holds %d digits behind the point", f.Scale)
	}
	exact := r.FloatString(f.Scale)
	if back, _ := new(big.Rat).SetString(exact); back.Cmp(r) != 0 {
		return nil, fmt.Sprintf("holds %d digits behind the point", f.Scale)
	}
	whole, _, _ := strings.Cut(strings.TrimPrefix(exact, "-"), ".")
	if whole != "0" && len(whole) > f.Digits-f.Scale {
		return nil, fmt.Sprintf("holds %d digits before the point", f.Digits-f.Scale)
	}
	return exact, ""
}

// heldBoolean returns a Boolean as the argument that the driver of ws expects.
func heldBoolean(ws *sqlgen.Writes, f *schema.Field, v value.Value) (any, string) {
	if v.Kind() != value.Bool {
		return nil, "must be true or false"
	}
	return ws.Bind(v, f), ""
}

// heldBytes returns bytes, or a base64 text, as the argument that the driver of ws expects.
func heldBytes(ws *sqlgen.Writes, f *schema.Field, v value.Value) (any, string) {
	raw := v.Text()
	if v.Kind() == value.String {
		b, err := base64.StdEncoding.DecodeString(raw)
		if err != nil {
			return nil, "must be bytes in base64"
		}
		raw = string(b)
	} else if v.Kind() != value.Bytes {
		return nil, "must be bytes in base64"
	}
	return ws.Bind(value.OfBytes(raw), f), ""
}

// heldAny converts v to an argument for a column that holds values of any type.
func heldAny(ws *sqlgen.Writes, v value.Value) (any, string) {
	switch v.Kind() {
	case value.Bool:
		return heldBoolean(ws, &schema.Field{}, v)
	case value.Int, value.Float, value.Decimal:
		if n, whole := v.AsInt(); whole {
			return n, ""
		}
		return heldDouble(ws, &schema.Field{Type: schema.Double, Native: "REAL"}, v)
	case value.String:
		return heldText(&schema.Field{}, v)
	case value.Date, value.Day:
		return v.String(), ""
	}
	return nil, "can't hold " + v.Kind().String()
}

// heldDate returns a date as the argument for its column, or the reason why the column can't hold it. It writes
// instants in UTC, and a day as its midnight.
func heldDate(ws *sqlgen.Writes, f *schema.Field, v value.Value, form WriteForm) (any, string) {
	day := f.Type == schema.Day
	if v.Kind() == value.String {
		read, ok := f.ParseDate(v.Text())
		if ok && read.Kind() == value.String { // the text is the Endless value
			return read.Text(), ""
		}
		v = read // null if the text is not a date
	}
	if v.Kind() != value.Date && v.Kind() != value.Day {
		return nil, "must be a date in ISO 8601"
	}
	at := time.UnixMicro(v.Micros()).UTC()
	switch {
	case at.Year() < 1 || at.Year() > 9999:
		return nil, "holds years from 1 to 9999"
	case day && !at.Equal(at.Truncate(24*time.Hour)):
		return nil, "holds a day without a time"
	}
	switch {
	case ws.Moment != nil:
		return ws.Moment(f, at, form), ""
	case day:
		return at.Format(time.DateOnly), ""
	}
	digits := 6
	if f.Scaled {
		digits = f.Scale
	}
	if step := time.Second / time.Duration(pow10(digits)); !at.Equal(at.Truncate(step)) {
		return nil, fmt.Sprintf("holds %d digits of a second", digits)
	}
	return ws.Bind(value.OfTime(at), f), ""
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}
