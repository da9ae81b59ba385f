package sqlite

// The functions that this package adds to connections, because the functions of SQLite are not exact or fail for some
// values. Only fnDoubt can fail. A function returns null if it has no result and, unless noted otherwise, if an
// argument is null. JSON arguments are texts that fnJSON or another function returned. Dates are milliseconds since
// 1970.
const (
	fnPoints  = "bailiwick_points"  // a collation: texts by their code points, for any encoding of the file
	fnInstant = "bailiwick_instant" // (stored) the instant in a date column, in the years 1 to 9999
	fnDay     = "bailiwick_day"     // (stored) the same, or null unless it is a midnight
	fnUUID    = "bailiwick_uuid"    // (stored) text that is a UUID, in lower case
	fnJSON    = "bailiwick_json"    // (stored) text that is JSON unchanged, other text and bytes in base64 quoted, and JSON's null as null

	// Arithmetic: two integers give an integer, and two reals a real, by the rules of package plan.
	fnAdd      = "bailiwick_add"
	fnSubtract = "bailiwick_subtract"
	fnMultiply = "bailiwick_multiply"
	fnDivide   = "bailiwick_divide"
	fnModulo   = "bailiwick_modulo"
	fnAbs      = "bailiwick_abs"
	fnCeil     = "bailiwick_ceil"
	fnFloor    = "bailiwick_floor"
	fnSqrt     = "bailiwick_sqrt"
	fnPow      = "bailiwick_pow"
	fnLn       = "bailiwick_ln"
	fnLog10    = "bailiwick_log10"
	fnExp      = "bailiwick_exp"
	fnTrunc    = "bailiwick_trunc" // (x, places)
	fnRound    = "bailiwick_round" // (x, places)
	// fnOfDecimals is a suffix for all of these except Divide and Modulo. Their numbers, of either kind, are decimals
	// with their shortest text. The result is an integer if possible.
	fnOfDecimals = "_decimal"

	fnCompare     = "bailiwick_compare"      // (x, y) -1, 0 or 1. null equals null and is the least value
	fnJSONCompare = "bailiwick_json_compare" // (x, y) the same for JSON, and 2 for two objects or lists that differ

	fnConcat    = "bailiwick_concat"    // (x, …)
	fnSubstring = "bailiwick_substring" // (x, from, length) in code points
	fnSplit     = "bailiwick_split"     // (x, separator) a JSON list
	fnReplace   = "bailiwick_replace"   // (x, find, replacement)
	fnReverse   = "bailiwick_reverse"   // (x)
	fnCapitals  = "bailiwick_capitals"  // (x) as plan.Capitalize
	fnRewrite   = "bailiwick_rewrite"   // (x, pattern, replacement, 0 or 1). 1 replaces all matches, 0 only the first
	fnFind      = "bailiwick_find"      // (x, pattern) as plan.FindMatch
	fnFindAll   = "bailiwick_find_all"  // (x, pattern) as plan.FindMatches
	fnQuote     = "bailiwick_quote"     // (text) as JSON, or a blob unchanged
	fnNumber    = "bailiwick_number"    // (number) as JSON
	fnBase64    = "bailiwick_base64"    // (bytes) as text
	fnDateText  = "bailiwick_date_text" // (date) in ISO 8601
	fnDayText   = "bailiwick_day_text"  // (day) in ISO 8601

	fnPart      = "bailiwick_part"       // (x, name, …) the value at a path in JSON
	fnSetPart   = "bailiwick_set_part"   // (x, new, name, …). New may be null
	fnSize      = "bailiwick_size"       // (list)
	fnElement   = "bailiwick_element"    // (list, place)
	fnInList    = "bailiwick_in_list"    // (x, list) 0 or 1, never null
	fnSlice     = "bailiwick_slice"      // (list, from, length)
	fnJoin      = "bailiwick_join"       // (list, …)
	fnCommon    = "bailiwick_common"     // (list, list)
	fnWithout   = "bailiwick_without"    // (list, list)
	fnPairs     = "bailiwick_pairs"      // (object)
	fnObjectOf  = "bailiwick_object_of"  // (list of pairs)
	fnJoinTexts = "bailiwick_join_texts" // (list, separator)
	fnSumList   = "bailiwick_sum_list"   // (list)
	fnAvgList   = "bailiwick_avg_list"   // (list)
	fnMinList   = "bailiwick_min_list"   // (list)
	fnMaxList   = "bailiwick_max_list"   // (list)
	fnTruth     = "bailiwick_truth"      // (x) 0 or 1, never null
	fnList      = "bailiwick_list"       // (x) x if it is a list
	fnItems     = "bailiwick_items"      // (list) the list of the JSON texts of its elements, for json_each
	fnItem      = "bailiwick_item"       // (list, place) the same, with at most the element at place
	fnUnwind    = "bailiwick_unwind"     // (x) as fnItems. A value that isn't a list counts as a list of itself
	fnBounded   = "bailiwick_bounded"    // (x) x if it has at most plan.MostBefore bytes
	fnJSONKey   = "bailiwick_json_key"   // (x) a text that is the same for equal JSON
	fnJSONOrder = "bailiwick_json_order" // (x) bytes that compare as value.Order does. All objects are equal, and all lists

	// The value of a JSON text, or null if it has another type.
	fnAsString  = "bailiwick_as_string"
	fnAsInteger = "bailiwick_as_integer"
	fnAsDouble  = "bailiwick_as_double"
	fnAsDecimal = "bailiwick_as_decimal"
	fnAsBoolean = "bailiwick_as_boolean"
	fnAsDate    = "bailiwick_as_date"
	fnAnyDouble = "bailiwick_any_double" // (stored) any number
	fnOfAny     = "bailiwick_of_any"     // (stored) any finite number, or text, as JSON
	fnAnyJSON   = "bailiwick_any_json"   // (stored) anything as JSON, bytes in base64

	// Conversions of a number or a text and, with the suffix fnOfJSON, of the value of a JSON text.
	fnToInteger = "bailiwick_to_integer"
	fnToDouble  = "bailiwick_to_double"
	fnToDecimal = "bailiwick_to_decimal"
	fnToString  = "bailiwick_to_string" // with the suffix fnOfDecimals, of a decimal
	fnToBoolean = "bailiwick_to_boolean"
	fnToDate    = "bailiwick_to_date"
	fnOfJSON    = "_json"

	// Dates. The zone "" is UTC.
	fnDatePart  = "bailiwick_date_part"  // (x, part, zone)
	fnDateTrunc = "bailiwick_date_trunc" // (x, unit, zone, week start)
	fnDateWrite = "bailiwick_date_write" // (x, format, zone)
	fnDateShift = "bailiwick_date_shift" // (x, amount, unit, zone)
	fnDateDiff  = "bailiwick_date_diff"  // (from, to, unit, zone, week start)

	// Aggregates.
	fnSum        = "bailiwick_sum"         // of reals. The suffix fnOfDecimals is allowed
	fnAvg        = "bailiwick_avg"         // of reals or decimals
	fnStdDevPop  = "bailiwick_stddev_pop"  // of reals
	fnStdDevSamp = "bailiwick_stddev_samp" // of reals
	fnJSONMin    = "bailiwick_json_min"
	fnJSONMax    = "bailiwick_json_max"
	fnGather     = "bailiwick_gather"   // (x, most) of JSON: the list, or null if it is larger (plan.ListBytes)
	fnDistinct   = "bailiwick_distinct" // (x, most) of JSON: the list of distinct values, or null if it is larger

	fnMatches   = "bailiwick_matches"    // (pattern, text) 0 or 1, never null: whether the text matches the RE2 expression
	fnDistance  = "bailiwick_distance"   // (x, area) an integer: the distance of x, JSON, from the center, or null
	fnOn        = "bailiwick_on"         // (x, area) 0 or 1, never null: whether x, JSON, is a point in an area
	fnJSONEqual = "bailiwick_json_equal" // (a, b) whether two JSON documents are equal by value

	fnDigest = "bailiwick_digest" // (seed, x, …) the MD5 in hex. Null counts as ""

	// fnDoubt ends the statement, unlike all other functions. It is for a statement that is tried first, and then
	// runs again without it.
	fnDoubt = "bailiwick_doubt" // (x)
)
