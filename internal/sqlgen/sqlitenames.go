package sqlgen

// The functions that package sqldriver/sqlfunc adds to SQLite's connections, because the database has none that are
// total and exact. None but SQLiteDoubt fails: each returns null if it has no result, and, unless it says otherwise, if an argument is
// null. JSON is text that SQLiteJSON or another of them returned; dates are milliseconds since 1970.
const (
	SQLitePoints  = "bailiwick_points"  // a collation: texts by their code points, whatever the encoding of the file
	SQLiteInstant = "bailiwick_instant" // (stored) the instant that a date column holds, in the years 1 to 9999
	SQLiteDay     = "bailiwick_day"     // (stored) the same if it is a midnight
	SQLiteUUID    = "bailiwick_uuid"    // (stored) text that is a UUID, in lower case
	SQLiteJSON    = "bailiwick_json"    // (stored) text that is JSON as it is, other text and bytes in base64 quoted; null for JSON's null

	// Arithmetic: two integers give an integer, two reals a real, by plan's rules for each.
	SQLiteAdd      = "bailiwick_add"
	SQLiteSubtract = "bailiwick_subtract"
	SQLiteMultiply = "bailiwick_multiply"
	SQLiteDivide   = "bailiwick_divide"
	SQLiteModulo   = "bailiwick_modulo"
	SQLiteAbs      = "bailiwick_abs"
	SQLiteCeil     = "bailiwick_ceil"
	SQLiteFloor    = "bailiwick_floor"
	SQLiteSqrt     = "bailiwick_sqrt"
	SQLitePow      = "bailiwick_pow"
	SQLiteLn       = "bailiwick_ln"
	SQLiteLog10    = "bailiwick_log10"
	SQLiteExp      = "bailiwick_exp"
	SQLiteTrunc    = "bailiwick_trunc" // (x, places)
	SQLiteRound    = "bailiwick_round" // (x, places)
	// SQLiteOfDecimals is a suffix for all of them but Divide and Modulo: their numbers, of either kind, are decimals as
	// written in the fewest digits. The result is an integer if possible.
	SQLiteOfDecimals = "_decimal"

	SQLiteCompare     = "bailiwick_compare"      // (x, y) -1, 0 or 1; null equals null and is least
	SQLiteJSONCompare = "bailiwick_json_compare" // (x, y) the same for JSON; 2 for two objects or lists that differ

	SQLiteConcat    = "bailiwick_concat"    // (x, …)
	SQLiteSubstring = "bailiwick_substring" // (x, from, length) in code points
	SQLiteSplit     = "bailiwick_split"     // (x, separator) a JSON list
	SQLiteReplace   = "bailiwick_replace"   // (x, find, replacement)
	SQLiteReverse   = "bailiwick_reverse"   // (x)
	SQLiteCapitals  = "bailiwick_capitals"  // (x) as plan.Capitalize
	SQLiteRewrite   = "bailiwick_rewrite"   // (x, pattern, replacement) and whether not only the first part is replaced, 0 or 1
	SQLiteFind      = "bailiwick_find"      // (x, pattern) as plan.FindMatch
	SQLiteFindAll   = "bailiwick_find_all"  // (x, pattern) as plan.FindMatches
	SQLiteQuote     = "bailiwick_quote"     // (text) as JSON; a blob as itself
	SQLiteNumber    = "bailiwick_number"    // (number) as JSON
	SQLiteBase64    = "bailiwick_base64"    // (bytes) as text
	SQLiteDateText  = "bailiwick_date_text" // (date) in ISO 8601
	SQLiteDayText   = "bailiwick_day_text"  // (day) in ISO 8601

	SQLitePart      = "bailiwick_part"       // (x, name, …) the value at a path in JSON
	SQLiteSetPart   = "bailiwick_set_part"   // (x, new, name, …); new may be null
	SQLiteSize      = "bailiwick_size"       // (list)
	SQLiteElement   = "bailiwick_element"    // (list, place)
	SQLiteInList    = "bailiwick_in_list"    // (x, list) 0 or 1, never null
	SQLiteSlice     = "bailiwick_slice"      // (list, from, length)
	SQLiteJoin      = "bailiwick_join"       // (list, …)
	SQLiteCommon    = "bailiwick_common"     // (list, list)
	SQLiteWithout   = "bailiwick_without"    // (list, list)
	SQLitePairs     = "bailiwick_pairs"      // (object)
	SQLiteObjectOf  = "bailiwick_object_of"  // (list of pairs)
	SQLiteJoinTexts = "bailiwick_join_texts" // (list, separator)
	SQLiteSumList   = "bailiwick_sum_list"   // (list)
	SQLiteAvgList   = "bailiwick_avg_list"   // (list)
	SQLiteMinList   = "bailiwick_min_list"   // (list)
	SQLiteMaxList   = "bailiwick_max_list"   // (list)
	SQLiteTruth     = "bailiwick_truth"      // (x) 0 or 1, never null
	SQLiteList      = "bailiwick_list"       // (x) x if it is a list
	SQLiteItems     = "bailiwick_items"      // (list) the list of the JSON texts of its elements, for json_each
	SQLiteItem      = "bailiwick_item"       // (list, place) the same of at most one element
	SQLiteUnwind    = "bailiwick_unwind"     // (x) as SQLiteItems; a value that isn't a list counts as a list of itself
	SQLiteBounded   = "bailiwick_bounded"    // (x) x if it has at most plan.MostBefore bytes
	SQLiteJSONKey   = "bailiwick_json_key"   // (x) a text that is the same for equal JSON
	SQLiteJSONOrder = "bailiwick_json_order" // (x) bytes that compare as value.Order does; all objects are equal, and all lists

	// The value that JSON holds, null if it isn't of the type.
	SQLiteAsString  = "bailiwick_as_string"
	SQLiteAsInteger = "bailiwick_as_integer"
	SQLiteAsDouble  = "bailiwick_as_double"
	SQLiteAsDecimal = "bailiwick_as_decimal"
	SQLiteAsBoolean = "bailiwick_as_boolean"
	SQLiteAsDate    = "bailiwick_as_date"
	SQLiteAnyDouble = "bailiwick_any_double" // (stored) any number
	SQLiteOfAny     = "bailiwick_of_any"     // (stored) any finite number, or text, as JSON
	SQLiteAnyJSON   = "bailiwick_any_json"   // (stored) anything as JSON, bytes in base64

	// Conversions of a number or a text, and, with the suffix SQLiteOfJSON, of the value that JSON holds.
	SQLiteToInteger = "bailiwick_to_integer"
	SQLiteToDouble  = "bailiwick_to_double"
	SQLiteToDecimal = "bailiwick_to_decimal"
	SQLiteToString  = "bailiwick_to_string" // with the suffix SQLiteOfDecimals, of a decimal
	SQLiteToBoolean = "bailiwick_to_boolean"
	SQLiteToDate    = "bailiwick_to_date"
	SQLiteOfJSON    = "_json"

	// Dates; zone is "" for UTC.
	SQLiteDatePart  = "bailiwick_date_part"  // (x, part, zone)
	SQLiteDateTrunc = "bailiwick_date_trunc" // (x, unit, zone, week start)
	SQLiteDateWrite = "bailiwick_date_write" // (x, format, zone)
	SQLiteDateShift = "bailiwick_date_shift" // (x, amount, unit, zone)
	SQLiteDateDiff  = "bailiwick_date_diff"  // (from, to, unit, zone, week start)

	// Aggregates.
	SQLiteSum        = "bailiwick_sum"         // of reals; the suffix SQLiteOfDecimals is allowed
	SQLiteAvg        = "bailiwick_avg"         // of reals or decimals
	SQLiteStdDevPop  = "bailiwick_stddev_pop"  // of reals
	SQLiteStdDevSamp = "bailiwick_stddev_samp" // of reals
	SQLiteJSONMin    = "bailiwick_json_min"
	SQLiteJSONMax    = "bailiwick_json_max"
	SQLiteGather     = "bailiwick_gather"   // (x, most) of JSON: the list, null if it is larger (plan.ListBytes)
	SQLiteDistinct   = "bailiwick_distinct" // (x, most) of JSON: the list of distinct values, null if it is larger

	SQLiteMatches   = "bailiwick_matches"    // (pattern, text) 0 or 1, never null: the text matches the RE2 expression
	SQLiteDistance  = "bailiwick_distance"   // (x, area) an integer: how far x, JSON, is from the center, or null
	SQLiteOn        = "bailiwick_on"         // (x, area) 0 or 1, never null: x, JSON, is a point on an area
	SQLiteJSONEqual = "bailiwick_json_equal" // (a, b) whether two JSON documents are equal by value

	SQLiteDigest = "bailiwick_digest" // (seed, x, …) the md5 in hex; null counts as ""

	// SQLiteDoubt ends the statement, unlike all others: one that is tried first, and runs again without it.
	SQLiteDoubt = "bailiwick_doubt" // (x)
)
