package plan

// Weight returns how many expressions e consists of, counted up to most: an expression that occurs twice counts twice, as it
// is written twice.
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
