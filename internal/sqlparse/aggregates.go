package sqlparse

// Aggregates are the names of the functions over the records of a group.
var Aggregates = map[string]bool{"count": true, "sum": true, "avg": true, "min": true, "max": true, "total": true, "string_agg": true, "group_concat": true,
	"listagg": true, "array_agg": true, "json_agg": true, "jsonb_agg": true, "json_group_array": true, "bool_and": true, "bool_or": true, "every": true,
	"stddev": true, "stddev_samp": true, "stddev_pop": true, "std": true, "variance": true, "var_samp": true, "var_pop": true,
	"percentile_cont": true, "percentile_disc": true, "median": true, "mode": true, "max_by": true, "min_by": true}

// AggregateIn returns the first aggregate in x that is not a window function, or nil if there is none.
func AggregateIn(x any) *Call {
	var found *Call
	Walk(x, func(e Expr) bool {
		c, ok := e.(*Call)
		if ok && found == nil && c.Over == nil && Aggregates[c.Name] {
			if (c.Name == "min" || c.Name == "max") && len(c.Args) > 1 { // SQLite's scalar min and max
				return true
			}
			found = c
		}
		return found == nil
	})
	return found
}
