package query

// Whole returns a filter of a rule in which a condition that lets a record in compares the whole value at its path. A
// list isn't equal to one of its elements then, and a path doesn't go through the elements of a list. Filters of
// callers find lists by their elements. A rule that decides who owns a record must not. Otherwise the writer of the
// list would decide who else reads the record.
//
// A condition that keeps a record out stays as it is, so {"labels": {"$ne": "secret"}} still keeps out a list that
// holds secret. Size and ElemMatch are about lists by their meaning. Within an ElemMatch a whole element is compared.
func Whole(f Filter) Filter { return comparesWhole(f, true) }

// comparesWhole is Whole for a part of a filter. in tells whether the record is let in where the part holds. It is false below a Not.
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
