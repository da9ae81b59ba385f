package expression

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/value"
)

// follow returns the value at path below p, or null if there is none.
func follow(p *identity.Principal, path []string) value.Value {
	switch path[0] {
	case "id":
		return value.OfString(p.Origin())
	case "name":
		return value.OfString(p.Name)
	case "author":
		return value.OfString(p.Author())
	case "kind":
		return value.OfString(string(p.Kind))
	case "owner":
		return value.OfString(p.Owner)
	case "tenant":
		return value.OfString(p.Tenant)
	case "scopes":
		return value.OfStrings(p.Scopes)
	case claimsField:
		v := p.Claims
		for _, name := range path[1:] {
			v, _ = v.Get(name)
		}
		return v
	case "token_id":
		return value.OfString(p.TokenID)
	case "parent":
		return value.OfString(p.Parent)
	case "depth":
		return value.OfInt(int64(p.Depth))
	}
	return value.Value{}
}

// claimsOf returns the claims of p that e reads.
func (e *Expression) claimsOf(p *identity.Principal) (ref.Val, error) {
	if e.all {
		if p.Claims.IsNull() {
			return types.NewStringInterfaceMap(types.DefaultTypeAdapter, nil), nil
		}
		return toCEL(p.Claims)
	}
	read := make(map[string]any, len(e.claims))
	for _, name := range e.claims {
		v, ok := p.Claims.Get(name)
		if !ok {
			continue
		}
		out, err := toCEL(v)
		if err != nil {
			return nil, err
		}
		read[name] = out
	}
	return types.NewStringInterfaceMap(types.DefaultTypeAdapter, read), nil
}

// toCEL converts v to CEL. It returns errInexact for a number that CEL can't represent exactly.
func toCEL(v value.Value) (ref.Val, error) {
	switch v.Kind() {
	case value.Null:
		return types.NullValue, nil
	case value.Bool:
		return types.Bool(v.Bool()), nil
	case value.Int:
		return types.Int(v.Int()), nil
	case value.Float:
		return types.Double(v.Float()), nil
	case value.Decimal:
		return number(v)
	case value.Array:
		list := make([]ref.Val, len(v.List()))
		for i, item := range v.List() {
			out, err := toCEL(item)
			if err != nil {
				return nil, err
			}
			list[i] = out
		}
		return types.NewRefValList(types.DefaultTypeAdapter, list), nil
	case value.Object:
		members := make(map[string]any, len(v.Members()))
		for _, m := range v.Members() {
			out, err := toCEL(m.Value)
			if err != nil {
				return nil, err
			}
			members[m.Name] = out
		}
		return types.NewStringInterfaceMap(types.DefaultTypeAdapter, members), nil
	case value.Bytes:
		return types.Bytes(v.Text()), nil
	}
	return types.String(v.String()), nil
}

// lazily is like toCEL, but a number without an exact representation fails only when it is read.
func lazily(v value.Value) ref.Val {
	switch v.Kind() {
	case value.Array:
		list := make([]ref.Val, len(v.List()))
		for i, item := range v.List() {
			list[i] = lazily(item)
		}
		return types.NewRefValList(types.DefaultTypeAdapter, list)
	case value.Object:
		members := make(map[string]any, len(v.Members()))
		for _, m := range v.Members() {
			members[m.Name] = lazily(m.Value)
		}
		return types.NewStringInterfaceMap(types.DefaultTypeAdapter, members)
	case value.Date:
		return types.Timestamp{Time: time.UnixMicro(v.Micros()).UTC()}
	}
	out, err := toCEL(v)
	if err != nil {
		return types.WrapErr(err)
	}
	return out
}

// number converts a decimal to an integer, or to a double with the same decimal text.
func number(v value.Value) (ref.Val, error) {
	if n, ok := v.AsInt(); ok {
		return types.Int(n), nil
	}
	if n, err := strconv.ParseUint(v.Text(), 10, 64); err == nil {
		return types.Uint(n), nil
	}
	f, _ := v.AsFloat()
	if math.IsInf(f, 0) || !value.Equal(v, value.OfDecimal(strconv.FormatFloat(f, 'g', -1, 64))) {
		return nil, errInexact
	}
	return types.Double(f), nil
}

// fromCEL converts v to an exact Value. It returns errKind for a type that rules can't compare with.
func fromCEL(v ref.Val) (value.Value, error) {
	switch v := v.(type) {
	case types.Null:
		return value.Value{}, nil
	case types.Bool:
		return value.OfBool(bool(v)), nil
	case types.Int:
		return value.OfInt(int64(v)), nil
	case types.Uint:
		if v > math.MaxInt64 {
			return value.OfDecimal(strconv.FormatUint(uint64(v), 10)), nil
		}
		return value.OfInt(int64(v)), nil
	case types.Double:
		if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return value.OfFloat(f), nil
		}
	case types.String:
		if s := string(v); utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
			return value.OfString(s), nil
		}
	case types.Timestamp:
		return value.OfString(value.OfTime(v.Time).String()), nil
	case traits.Lister:
		return fromList(v)
	case traits.Mapper:
		return fromMap(v)
	case *types.Err:
		return value.Value{}, failure(v)
	}
	return value.Value{}, errKind
}

// fromMap converts a map to an Object, sorted by name.
func fromMap(v traits.Mapper) (value.Value, error) {
	var members []value.Member
	for it := v.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, _ := fromCEL(key) // null if the conversion fails
		if name.Kind() != value.String {
			return value.Value{}, errKind
		}
		item, err := fromCEL(v.Get(key))
		if err != nil {
			return value.Value{}, err
		}
		members = append(members, value.Member{Name: name.Text(), Value: item})
	}
	slices.SortFunc(members, func(a, b value.Member) int { return strings.Compare(a.Name, b.Name) })
	return value.OfObject(members), nil
}

// fromList converts a CEL list to a Value. It fails if an element has no JSON form.
func fromList(v traits.Lister) (value.Value, error) {
	list := []value.Value{}
	for it := v.Iterator(); it.HasNext() == types.True; {
		item, err := fromCEL(it.Next())
		if err != nil {
			return value.Value{}, err
		}
		list = append(list, item)
	}
	return value.OfArray(list), nil
}
