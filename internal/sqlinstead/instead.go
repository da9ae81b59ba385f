// Package sqlinstead has the words for functions and operators that SQL doesn't have here: how to do without them.
package sqlinstead

// search is how words are found.
const search = "the tool text_search finds words, x ILIKE '%a%' a part of a text"

// OfOperator returns how to do without an operator; "" where nothing says the same.
func OfOperator(op string) string {
	keys := "json->'a' IS NOT NULL tells whether an object has a member that isn't null; join such tests with OR or AND"
	return map[string]string{
		"@>": "list @> ARRAY['a'] and json @> '{\"a\": \"b\"}' are there for a column and constants; otherwise 'a' = ANY(list), json->>'a' = 'b'",
		"&&": "list && ARRAY['a', 'b'] is there for a column and constants; otherwise 'a' = ANY(list) OR 'b' = ANY(list)", "<@": "turn it around: list @> ARRAY['a']",
		"?":  "'a' = ANY(list) tells whether a list has an element, and json->'a' IS NOT NULL whether an object has a member that isn't null",
		"?|": keys, "?&": keys, "@?": "json #> '{a,b}' IS NOT NULL tells whether a path leads to a value", "@@": search, "<->": search,
	}[op]
}

// OfWord returns how to do without a word of another SQL where the parser meets it and expects something else; "" for none.
func OfWord(word string) string {
	return map[string]string{
		"pivot": "sum(x) FILTER (WHERE status = 'paid') AS paid, and one such item for each other column", "unpivot": "UNION ALL of one SELECT for each column",
		"connect": "WITH RECURSIVE goes from records to their children", "against": search, "match": search, "sounds": search,
		"sample": "get_sample_objects gives a sample", "overlaps": "a < d AND c < b tells whether the times from a to b and from c to d overlap",
	}[word]
}

// OfFunction returns how to do without a function that models write and that isn't there; "" for none.
func OfFunction(name string) string {
	object, sample := "json_build_object('id', id, 'name', name) makes an object of values", "get_sample_objects gives a sample"
	moment, date, most := "write timestamp '2026-01-31 10:00', or x::timestamp", "write date '2026-01-31', or x::date for texts such as 2026-01-31", "number the records of each group with row_number() OVER (PARTITION BY … ORDER BY …) AS n in a query in FROM, and keep n = 1"
	members := "name the members: meta->>'a'; a member that is a list is records with FROM t, jsonb_array_elements(t.meta->'a') AS element"
	between := "split_part(x, '@', 2) takes what is between separators, and x ~ '…' tests a regular expression"
	return map[string]string{
		"random": sample, "rand": sample, "version": "", "current_database": "", "translate": "replace(replace(x, '(', ''), ')', '') replaces texts, one after the other; regexp_replace(x, '[()]', '', 'g') leaves characters out",
		"to_tsvector": search, "match": search, "contains": search, "freetext": search, "similarity": search, "levenshtein": search, "soundex": search, "generate_series": "it can be in FROM", "unnest": "put it in FROM: FROM t, unnest(t.list) AS element",
		"corr": "(avg(x * y) - avg(x) * avg(y)) / (stddev_pop(x) * stddev_pop(y))", "regexp_matches": between, "regexp_match": between,
		"regexp_substr": between, "regexp_extract": between, "substring_index": between, "row_to_json": object, "to_jsonb": object, "to_json": object, "json_object_agg": object, "jsonb_object_agg": object,
		"object_agg": object, "jsonb_object_keys": members, "json_object_keys": members, "jsonb_each": members, "jsonb_each_text": members, "json_each": members, "jsonb_path_query": members, "jsonb_path_exists": members,
		"first": most, "last": most, "make_date": "write date '2026-01-31'; a day made of columns is (year || '-01-01')::date", "str_to_date": date,
		"parse_date": date, "parse_timestamp": moment, "date_bin": "date_trunc('hour', x) + floor(extract(minute FROM x) / 15) * interval '15 minutes' is the quarter of an hour",
		"pg_size_pretty": "round(x / 1048576.0, 1) is MiB", "approx_quantiles": "percentile_disc(0.25) WITHIN GROUP (ORDER BY x), one for each", "decode": "CASE x WHEN 'a' THEN 1 WHEN 'b' THEN 2 ELSE 0 END",
		"convert": "CAST(x AS date)", "array_contains": "'a' = ANY(list)", "list_contains": "'a' = ANY(list)", "array_position": "'a' = ANY(list) tells whether it is there",
		"justify_days": "extract(epoch FROM x) / 86400 is the number of days", "sha256": "md5 and hashes aren't there", "md5": "hashes aren't there", "encode": "", "format": "concat(a, '-', b) joins texts, round(x, 2) rounds", "crosstab": OfWord("pivot"),
	}[name]
}
