package hint

const (
	object  = "json_build_object('id', id, 'name', name) makes an object of values"
	sample  = "LIMIT without ORDER BY shows some records, in the order of their keys"
	moment  = "write timestamp '2026-01-31 10:00', or x::timestamp for texts such as 2026-01-31 10:00:00"
	date    = "write date '2026-01-31', or x::date for texts such as 2026-01-31"
	most    = "number the records of each group with row_number() OVER (PARTITION BY … ORDER BY …) AS n in a query in FROM, and keep n = 1"
	members = "name the members: meta->>'a'. A member that is a list is records with FROM t, jsonb_array_elements(t.meta->'a') AS element"
	between = "split_part(x, '@', 2) takes what is between separators, regexp_replace(x, '[^0-9]+', '', 'g') leaves out what isn't wanted, and x ~ '…' tests a regular expression"
	reads   = "leave it out: a statement only reads, and a call of its own gives one answer"
	server  = "leave it out: what is behind the tables isn't told. information_schema.tables lists the tables"
	letters = "texts are compared letter by letter: x = 'a', x < 'b', lower(x) = 'a', x LIKE 'a%'"
	angles  = "there are no functions of angles. Compute with the numbers that are found"
	code    = "there are no codes of characters. Compare the texts: x >= 'a' AND x < 'b'"
	digits  = "round(x, 2) rounds a number, CAST(x AS text) shows it, lpad(CAST(x AS text), 5, '0') fills it. Show separators and units in your answer"
	hash    = "hashes aren't there. Compare the values themselves"
	clock   = "x - y is a length of time in seconds. to_char(x, 'HH24:MI:SS') is the time of day"
	lists   = "'a' = ANY(list) tests an element, list || ARRAY['a'] adds one. Elements are records with FROM t, unnest(t.list) AS element"
	pairs   = "(avg(x * y) - avg(x) * avg(y)) is the covariance where neither is null. Divide it by var_pop(x) for the slope, by stddev_pop(x) * stddev_pop(y) for the correlation"
)

// functions are the functions that models often write but that don't exist, with their replacements.
var functions = []struct{ instead, names string }{
	{sample, "random rand newid tablesample"},
	{search, "to_tsvector to_tsquery plainto_tsquery websearch_to_tsquery ts_rank match contains freetext similarity word_similarity levenshtein soundex difference metaphone dmetaphone"},
	{"it can be in FROM: FROM generate_series(1, 12) AS n", "generate_series"},
	{"put it in FROM: FROM t, unnest(t.list) AS element", "unnest"},
	{pairs, "corr covar_pop covar_samp regr_slope regr_intercept regr_r2 regr_count regr_avgx regr_avgy"},
	{between, "regexp_matches regexp_match regexp_substr regexp_extract regexp_extract_all regexp_split_to_array regexp_split_to_table"},
	{"length(x) - length(replace(x, 'a', '')) counts a character, and x ~ '…' tests a regular expression", "regexp_count"},
	{"strpos(x, 'a') is the place of a text, and x ~ '…' tests a regular expression", "regexp_instr regexp_position patindex"},
	{object, "row_to_json to_jsonb to_json json_object_agg jsonb_object_agg json_group_object json_objectagg object_agg object_construct row json_populate_record xmlelement"},
	{members, "jsonb_object_keys json_object_keys json_keys jsonb_each jsonb_each_text json_each json_tree jsonb_path_query jsonb_path_exists jsonb_path_match json_exists json_contains json_contains_path json_search json_query json_length"},
	{"a text can't be made JSON, and JSON isn't changed: meta->>'a' reads a member, " + object, "jsonb_set json_set json_insert json_replace json_remove jsonb_insert jsonb_strip_nulls json_strip_nulls jsonb_pretty json_pretty json_patch json_merge_patch json_merge json_valid json_quote json json_parse parse_json"},
	{most, "first last arbitrary first_agg last_agg keep"},
	{"string_agg(x, ', ') joins the texts of a group, json_agg(x) makes a list of them", "xmlagg wm_concat collect_list collect_set array_concat_agg grouparray"},
	{"bool_or(x & 1 = 1) tells whether a bit is set in some record, bool_and(…) whether in each", "bit_or bit_and bit_xor"},
	{"x & 1 tests a bit", "bit_count get_bit bit_get"},
	{"write date '2026-01-31'. A day of a year is make_date(2026, 1, 1) + 30", "makedate datefromparts date_from_parts"},
	{date + "; (substr(x, 7, 4) || '-' || substr(x, 4, 2) || '-' || substr(x, 1, 2))::date reads 31.12.2026", "str_to_date parse_date"},
	{moment, "parse_timestamp parse_datetime make_timestamp make_timestamptz datetimefromparts timestamp_from_parts"},
	{clock, "timediff addtime subtime sec_to_time time_to_sec maketime make_time timefromparts curtime time_format justify_hours justify_interval"},
	{"x - date '0001-01-01' counts days. x - y is the number of days between two days", "to_days from_days to_seconds dayofcentury"},
	{"to_char(x, 'IYYY-IW') is the year and the week. extract(isoyear FROM x) and extract(week FROM x) are its parts", "yearweek weeknum iso_week"},
	{"extract(year FROM age(x, y)) * 12 + extract(month FROM age(x, y)) counts months", "period_diff period_add months_between"},
	{"extract(second FROM x) has the parts of a second", "microsecond millisecond"},
	{"x IS NOT NULL. Infinite times and NaN are null here", "isfinite isnan is_nan is_inf"},
	{"x AT TIME ZONE 'Europe/Oslo' is what clocks show there", "convert_tz convert_timezone from_tz new_time"},
	{"date_trunc('hour', x) + floor(extract(minute FROM x) / 15) * interval '15 minutes' is the quarter of an hour", "date_bin time_bucket time_slice"},
	{"extract(epoch FROM x) / 86400 is the number of days", "justify_days"},
	{"round(x / 1048576.0, 1) is MiB", "pg_size_pretty formatreadablesize"},
	{"percentile_disc(0.25) WITHIN GROUP (ORDER BY x), one for each", "approx_quantiles quantile quantiles approx_percentile percentile"},
	{"CASE x WHEN 'a' THEN 1 WHEN 'b' THEN 2 ELSE 0 END", "decode"},
	{"CAST(x AS date)", "convert to_decimal to_integer to_varchar to_double todate toint"},
	{"x::numeric reads a number. replace(x, ',', '')::numeric reads one with separators", "to_number to_numeric val"},
	{"'a' = ANY(list)", "array_contains list_contains has array_has"},
	{"'a' = ANY(list) tells whether it is there", "array_position array_positions list_position indexof"},
	{lists, "array_remove array_replace array_sort array_ndims array_dims array_lower array_fill array_distinct trim_array list_sort flatten explode array_agg_distinct array_slice array_concat"},
	{"'b' = ANY(string_to_array(x, ',')) tests an element of a list in a text", "find_in_set"},
	{digits, "printf to_char_number format_number numfmt money"},
	{"concat(a, '-', b) joins texts, round(x, 2) rounds", "format"},
	{"overlay(x PLACING 'new' FROM 2 FOR 1) puts a text in the place of another", "stuff"},
	{"right(x, 3) = 'end' tests the end of a text", "ends_with endswith"},
	{"strpos(substr(x, 3), 'a') + 2 is the place from character 3 on", "locate charindex instr"},
	{code, "ascii ord unicode chr char nchar codepoint_at to_code_points"},
	{"length(x) counts characters", "octet_length bit_length lengthb datalength vsize"},
	{"leave it out: values never become text of a statement", "quote_literal quote_ident quote_nullable quote parse_ident"},
	{hash, "md5 sha1 sha sha2 sha224 sha256 sha384 sha512 digest crc32 hashtext farm_fingerprint checksum hmac crypt"},
	{"there are no encodings. A value is shown as it is stored", "encode hex unhex to_hex to_base64 from_base64 base64 bin oct conv compress to_ascii convert_from convert_to"},
	{letters, "strcmp collate unaccent normalize nlssort"},
	{angles, "sin cos tan cot asin acos atan atan2 atn2 sinh cosh tanh"},
	{"write the product or the divisor as a number", "factorial gcd lcm"},
	{"CASE WHEN x < 10 THEN 0 WHEN x < 50 THEN 1 ELSE 2 END numbers parts with bounds of their own", "width_bucket"},
	{"rank() OVER (ORDER BY x) gives each record its rank", "rank dense_rank percent_rank cume_dist row_number ntile lag lead first_value last_value nth_value"},
	{"count(*) OVER (PARTITION BY …) counts records. Different values are counted in a query with GROUP BY, and joined", "ratio_to_report"},
	{reads, "nextval currval setval lastval last_insert_id last_insert_rowid row_count found_rows changes total_changes pg_sleep sleep benchmark get_lock uuid gen_random_uuid uuid_generate_v4 set_config lo_import pg_notify pg_advisory_lock load_extension load_file query_to_xml dblink"},
	{server, "version sqlite_version current_database database current_schema schema current_setting user current_role session_user system_user pg_backend_pid inet_client_addr connection_id pg_table_size pg_relation_size pg_total_relation_size has_table_privilege"},
	{"information_schema.columns lists the types", "pg_typeof sys_typeof column_type"},
	{"sum(x) FILTER (WHERE status = 'paid') AS paid, and one such item for each other column", "crosstab pivot"},
	{"array_agg(x ORDER BY y LIMIT 3) gathers the first three, string_agg(x, ', ') joins texts", "topk array_first groupconcat"},
}
