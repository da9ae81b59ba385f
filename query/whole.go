package query

// Whole returns a filter for a rule. In it, a condition that lets a record in compares the whole value at its path. So
// a list isn't equal to one of its elements, and a path doesn't go through the elements of a list. Callers' filters
// find lists by their elements. A rule about the owner of a record must not, because otherwise the writer of the list
// would decide who else reads the record.
//
// A condition that keeps a record out doesn't change, so {"labels": {"$ne": "secret"}} still excludes a list with
// secret. Size and ElemMatch are about lists anyway. Inside an ElemMatch, the whole element is compared.
func Whole(f Filter) Filter { return comparesWhole(f, true) }

// comparesWhole is Whole for a part of a filter. in reports whether a true part lets the record in. It is false below a
// Not.
func comparesWhole(f Filter, in bool) Filter {
	switch f := f.(type) {
	case And:
		return And(eachWhole(f, in))
	case Or:
		return Or(eachWhole(f, in))
	case Not:
		return Not{Part: comparesWhole(f.Part, !in)}
	case Condition:
		return f.whole(in)
	}
	return f
}

func eachWhole(parts []Filter, in bool) []Filter {
	out := make([]Filter, len(parts))
	for i, p := range parts {
		out[i] = comparesWhole(p, in)
	}
	return out
}
