package plan

import "slices"

// Weight returns the number of expressions in e, counted up to most. An expression that occurs twice counts twice,
// because it is written twice.
func Weight(e Expr, most int) int {
	if e == nil {
		return 0
	}
	parts, err := operands(e)
	if err != nil {
		return most
	}
	n := 1
	for _, p := range parts {
		if n >= most {
			break
		}
		n += Weight(p, most-n)
	}
	return n
}

// Reads reports whether e reads, or may read, a column for which long returns true.
func Reads(e Expr, long func(Ref) bool) bool {
	if ref, ok := e.(Ref); ok {
		return long(ref)
	}
	parts, err := operands(e)
	return err != nil || slices.ContainsFunc(parts, func(p Expr) bool { return p != nil && Reads(p, long) })
}
