package selects

// constants contains constants of each kind.
var constants = map[Kind][]string{
	Integer: {"0", "1", "2", "3", "7", "10", "100", "310", "(-1)", "NULL::integer"},
	Double:  {"0.5", "2.25", "7.0", "-20.25", "100.5", "1e6", "NULL::double precision"},
	Text:    {"'Oslo'", "'Rome'", "'paid'", "'a'", "''", "'eva'", "'home'", "'O''Neil'", "'%'", "NULL::text"},
	Boolean: {"true", "false", "NULL::boolean"},
	Day:     {"date '2026-01-20'", "date '2024-02-29'", "date '2026-03-31'", "current_date", "NULL::date"},
	Instant: {"timestamptz '2026-01-20 10:15:30Z'", "timestamptz '2024-02-29 23:59:59Z'", "timestamptz '2026-03-31 00:00:00Z'", "now()", "NULL::timestamptz"},
	JSON:    {"NULL::jsonb"},
	list:    {"ARRAY[1, 2, NULL]", "ARRAY[3]", "ARRAY[7, 1, 7]"},
}

// forms contains expressions of each kind. Writer.form fills them in.
var forms = map[Kind][]string{
	Integer: {
		"({i} {+|-|*|/|%} {i})", "({i} {+|-|*|/|%} {i})", "({i} & {i})", "({i} | {i})", "({i} # {i})", "(~ {i})", "(- {i})", "{abs|abs|sign|floor|ceil}({i})::bigint", "mod({i}, {i})",
		"{length|char_length|character_length}({t})", "position({'a'|'o'|'Os'|''|'%'} in {t})", "strpos({t}, {t})", "({t})::integer", "trunc({d})::integer", "({b})::integer",
		"extract({year|month|day|hour|quarter|dow|doy|week|isodow|isoyear|minute|second} FROM {s})::integer", "date_part('{year|month|day|hour|dow|isodow}', {s})::integer",
		"extract({year|month|day|hour|dow} FROM (({s}) AT TIME ZONE '{Europe/Oslo|America/New_York|Asia/Kolkata|UTC}'))::integer",
		"extract({epoch|day|hour|minute|second} FROM ({s} - {s}))::bigint", "extract({year|month} FROM age({s}, {s}))::integer", "extract(epoch FROM {s})::bigint", "({y} - {y})",
		"cardinality({l})", "array_length({l}, 1)", "(({l})[{1|2|9}])::integer", "jsonb_array_length({j})", "({j}->>'age')::integer", "width_bucket({d}, {0, 100|-10, 100|100, 0}, {5|7})", "(({l})[{1|2|9}] / {i})", "CAST({t} AS {integer|bigint|smallint})",
		"num_nulls({i}, {t})", "num_nonnulls({t}, {s})", "array_upper({l}, 1)", "cardinality(string_to_array({t}, '{a|o}'))",
		"({d})::{integer|bigint}", "(extract({hour|month|day|second} FROM {s}) / {2|4})::bigint", "(date_part('{hour|month|day|second}', {s}) / {2|4})::bigint", "({i} {/ 2.0|/ 4.0|* 0.5|* 2.5})::bigint", "({d} {/ 2|* 2.5|/ 4.0})::bigint",
	},
	Double: {
		"({d} {+|-|*} {d})", "({d} {+|-|*|/} {i})", "(- {d})", "{abs|floor|ceil|ceiling|trunc}({d})", "{i}::double precision", "({t})::double precision", "sqrt(abs({d}))",
		"round((ln(abs({d}) + 1))::numeric, 6)::double precision", "round((log(abs({d}) + 1))::numeric, 6)::double precision", "exp(({i} % 5)::double precision)", "power({d}, {2|3|0})", "({d} ^ {2|3})",
		"round({d}::numeric, {0|1|2})::double precision", "trunc({d}::numeric, {0|1})::double precision", "{i}::numeric({10|10,2|4,1})::double precision", "sign({d})::double precision",
		"extract(epoch FROM {s})::double precision", "(extract({hour|month|day|second} FROM {s}) / {2|4|8})::double precision", "extract(second FROM {s})::double precision", "div({i}, {i})::double precision",
		"({abs|floor|ceil|sign|round|trunc}({i}) / {2|4|8})::double precision", "(power({i} % 9, 2) / {2|4})::double precision", "({i}::{bigint|integer|numeric|double precision} / {2|4|8})::double precision", "({coalesce|greatest|nullif}({i}, {2.5|7}) / {2|4})::double precision",
	},
	Text: {
		"{upper|lower|trim|ltrim|rtrim}({t})", "{btrim|ltrim|rtrim}({t}, '{a|O|ae}')", "({t} || {t})", "substring({t} FROM {1|2|3} FOR {0|1|2|3})", "{substr|substring}({t}, {1|2}, {i})", "{left|right}({t}, {0|1|3|(-1)})",
		"replace({t}, {'a'|'o'|'Os'|'%'}, {'a'|''|'%'})", "concat({t}, {t})", "concat({b}, {t}, {c})", "concat_ws('{-|, }', {t}, {t}, {i}, {b})", "format('{%s-%s|%2$s%%|x%1$s, %1$s}', {t}, {i})", "split_part({t}, '{a|o|-}', {1|2|(-1)})",
		"{lpad|rpad}({t}, {0|3|7}, '{0|ab|}')", "{lpad|rpad}({t}, {5|(-1)})", "repeat({t}, {0|1|3})", "repeat({'a'|'o'|''}, ({i} % 90)::integer)",
		"to_char({s}, '{YYYY-MM|YYYY-MM-DD|HH24:MI|FMMonth YYYY|Dy, DD Mon|FMDay|HH12:MI:SS am|DDD|IYYY-IW|Q|YYYY-MM-DD HH24:MI:SS|FMDD.FMMM|ID D}')", "to_char({y}, '{YYYY-MM-DD|FMMonth|IW}')",
		"CAST({i} AS {text|varchar})", "{i}::text", "{y}::text", "({b})::text", "{reverse|initcap}({t})", "array_to_string({l}, '{,|; }'{|, '?'})",
		"regexp_replace({t}, '{[^a-z]|[aeiou]+|\\s+|^[A-Z]|[a-z]+$|a|an|O[a-z]?|[0-9][0-9]?|[A-Z]|-|%}', '{|_|x}'{|, 'g'|, 'gi'})",
		"overlay({t} PLACING '{X|ab|}' FROM {1|2|3}{| FOR 0| FOR 2})", "translate({t}, 'aeo', '{xy|xyz|}')", "to_char({s}, 'MM/DD/{YY|yy}')", "(string_to_array({t}, 'o'))[{1|2}]",
		"array_to_string({string_to_array|regexp_split_to_array}({t}, '{a|o|-}'), '|')", "array_to_string((string_to_array({t}, 'o'))[1:{1|2}], '+')",
		"({j}->>'{age|none}')", "({j}->'tags'->>{0|1})", "({j}#>>'{{deep,x,1,y}}')", "jsonb_extract_path_text({j}, 'age')", "json_extract_path_text(({j})::json, 'age')",
	},
	Boolean: {"({c})", "({c})", "starts_with({t}, {t})", "({t})::boolean", "({i})::boolean"},
	Instant: {
		"date_trunc('{year|quarter|month|week|day|hour|minute}', {s})", "date_trunc('{day|month}', {s}, '{Europe/Oslo|Asia/Kolkata}')", "({s} {+|-} interval '{1 day|2 hours|1 month|3 weeks|90 minutes|1 year 2 days|1.5 months|2.5 years}')",
		"({s} + ({i} % 99) * interval '{1 day|1 hour}')", "to_timestamp({i})", "to_timestamp(round({d}::numeric, 2)::double precision)", "({s} + ({s} - {s}))",
	},
	Day: {
		"make_date(({i} % 90 + 2000)::integer, {1|2|12}, {1|28})", "({s})::date", "(({s}) AT TIME ZONE '{Europe/Oslo|America/New_York|Asia/Kolkata|UTC}')::date", "({y} {+|-} {1|30|(-7)})", "({y} + ({i} % 99)::integer)", "date_trunc('{month|year|week}', {y})::date",
		"({y} {+|-} interval '{1 month|1 year|7 days}')::date", "to_date('{2026-01-31|2024-02-29}', 'YYYY-MM-DD')",
	},
	JSON: {"jsonb_path_query_first({j}, '$.deep')", "({j}->'{tags|age|deep|none}')", "({j}->'tags'->{0|1})", "({j}#>'{{deep,x}}')", "jsonb_extract_path({j}, 'deep')", "{json_extract|jsonb_extract}({j}, '$.{deep|tags}')", "(json_extract_path(({j})::json, 'tags'))::jsonb",
		"jsonb_build_object('none', {i}, 'age', {t})", "jsonb_build_array({i}, {t}, {b})", "(json_build_object('age', {i}))::jsonb", "(json_build_array({t}))::jsonb", "{json_object('tags', |json_array(}{i})"},
	list: {"ARRAY[{i}, {i}]", "ARRAY[{i}]", "array_append({l}, {i})", "array_prepend({i}, {l})", "array_cat(ARRAY[{i}], ARRAY[3])", "({l})[1:{1|2}]"},
}

// foreign contains expressions in the syntax of other databases, and expressions with a different meaning in
// PostgreSQL. In PostgreSQL, a null within JSON is not null, and lists have spaces in their text form. A double with
// the fraction .5 is rounded to the even number.
var foreign = map[Kind][]string{
	Integer: {
		"{year|month|day|dayofmonth|hour|minute|second|quarter|week|weekofyear|dayofyear|dayofweek}({s})", "datediff({s}, {s})", "{datediff|date_diff}({day|month|year}, {s}, {s})", "timestampdiff({DAY|MONTH|YEAR|HOUR}, {s}, {s})",
		"{unix_timestamp|unixepoch}({s})", "instr({t}, {t})", "{locate|charindex}({t}, {t})", "len({t})", "json_array_length({j})", "div({i}, {i})", "{ifnull|nvl|max|min}({i}, {i})",
		"{nvl2|if}({i}, {i}, {i})", "isnull({i}, {i})", "{zeroifnull|nullifzero}({i})", "decode({i}, 1, {i}, 7, 3, {i})", "{timestamp_diff|datetime_diff}({s}, {s}, {DAY|HOUR})", "date_diff({s}, {s}, {DAY|MONTH})", "{toyear|tomonth|tohour}({s})",
		"{iif|if}({c}, {i}, {i})", "datepart('{year|month}', {s})", "weekday({s})", "field({t}, 'Oslo', {t})", "{elt|choose}({i}, {i}, 7)", "({i} {DIV|MOD} {i})", "CAST({t} AS {signed|unsigned|int})", "round({d})::integer", "({d})::integer",
	},
	Double: {"julianday({s})", "round({cbrt|log2|degrees|radians}(abs({d}) + 1), 6)", "round(log(2, abs({d}) + 1), 6)", "pi()", "safe_divide({i}, {i})", "round((log10(abs({d}) + 1)), 6)", "pow({d}, 2)", "truncate({d}, {0|1})", "round({d}, {0|1|2})", "CAST({i} AS {real|float|decimal})"},
	Text: {
		"{lcase|ucase}({t})", "substring_index({t}, '{a|o}', {1|2|(-1)|(-2)})", "insert({t}, {1|3}, {0|2}, 'x')", "time({s})", "space({0|3})", "mid({t}, {1|2}, {1|3})", "strftime('{%Y-%m|%Y-%m-%d|%H:%M|%w|%j|%s|%e %p}', {s})", "strftime('%Y-%m', {s}, '-7 days', 'start of month')",
		"{format_date|format_timestamp|format_datetime}('{%Y-%m|%H:%M}', {s})", "{json_extract_scalar|json_extract_string}({j}, '$.age')", "json_unquote(json_extract({j}, '$.age'))",
		"date_format({s}, '{%Y-%m-%d|%M %Y|%a %e %b|%h:%i %p|%c}')", "{monthname|dayname}({s})", "replicate({t}, {0|2})", "({j}->>'{deep|tags}')", "json_value({j}, '$.age')", "{json_type|json_typeof|jsonb_typeof}({j})",
	},
	Boolean: {"({i})", "{ends_with|endswith|startswith}({t}, '{a|}')", "({t} GLOB '{*a*|O?l*}')", "({i} <=> {i})", "iif({c}, {b}, {b})", "{regexp_like|regexp_contains}({t}, r'{^[A-C]|o}')", "regexp_like({t}, 'O', '{i|c}')", "isnull({i})", "({j} IS {NULL|NOT NULL})"},
	Instant: {
		"{date_add|date_sub|adddate}({s}, INTERVAL {7 DAY|1 MONTH|2 HOUR})", "{dateadd|timestampadd}({day|hour|month}, {i} % 99, {s})", "datetime({s}, '{-7 days|start of month|+1 month}')", "timestamp({s})",
		"{date_trunc|timestamp_trunc|datetime_trunc}({s}, {MONTH|DAY|ISOWEEK})", "{timestamp_add|timestamp_sub|datetime_add|datetime_sub}({s}, INTERVAL 3 DAY)", "{tostartofmonth|tostartofweek|tostartofday|tostartofhour}({s})",
		"{getdate|sysdate|statement_timestamp|transaction_timestamp|clock_timestamp}()", "datetrunc({month|day}, {s})", "from_unixtime({i})", "timezone('Europe/Oslo', {s})", "convert_tz({s}, 'UTC', 'Europe/Oslo')", "{utc_timestamp|sysdatetime|getutcdate}()",
	},
	Day: {"date({s}, '{start of month|-1 day|start of year}')", "last_day({s})", "todate({s})", "convert({date, |date,}{s})", "{curdate|today|utc_date}()", "eomonth({s})"},
}

// conditions contains conditions other than comparisons of two expressions.
var conditions = []string{
	"{t} {LIKE|NOT LIKE|ILIKE|NOT ILIKE} '{%a%|E%|_va|%|%\\%|}'", "{t} {~|!~|~*|!~*} '{^[A-C]|o|a$|.|^[OR]}'", "{t} {SIMILAR TO|NOT SIMILAR TO} '{%a%|_%|[A-E]%|Oslo}'", "{t} LIKE '%!%%' ESCAPE '!'",
	"{i} {=|<>} {ANY|ALL} (ARRAY[{i}, {i}, 3])", "{i} = ANY ({l})", "{t} = ANY (ARRAY['Oslo', {t}])", "({i}, {t}) {IN|NOT IN} ((1, 'Ada'), ({i}, {t}))", "({i}, {t}) {=|<>} ({i}, {t})", "{i} IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)",
	"{t} IN ('Oslo', 'Rome', 'paid', 'open', 'home')", "({s} - {s}) {>|<=} interval '{1 day|36 hours}'",
}

// aggregates contains aggregates of each kind on the records of a group.
var aggregates = map[Kind][]string{
	Integer: {"count(*)", "count({i})", "count({t})", "count(DISTINCT {i})", "count(DISTINCT {s})", "count(DISTINCT {t})", "count(DISTINCT ({i}, {t}))", "sum({i})::bigint", "sum({i})::bigint", "{min|max}({i})", "mode() WITHIN GROUP (ORDER BY {i})",
		"percentile_disc({0|0.25|0.5|0.9|1}) WITHIN GROUP (ORDER BY {i})", "({sum|avg}({i}) {/ 2|* 0.5})::bigint", "avg({d})::bigint"},
	Double: {"({sum|count|min|max}({i}) / {2|4|8})::double precision", "({sum|count|max}({i}::integer) / {2|4|8})::double precision", "{sum|avg|sum|avg|min|max}({d})", "avg({i})::double precision", "percentile_cont({0|0.1|0.25|0.5|0.9|1}) WITHIN GROUP (ORDER BY {d})", "percentile_disc({0|0.5|1}) WITHIN GROUP (ORDER BY {d})",
		"round({stddev|stddev_pop|stddev_samp|variance|var_pop|var_samp}(({i}) % 100)::numeric, 3)::double precision"},
	Text:    {"{min|max}({t})", "{min|max}({t})", "mode() WITHIN GROUP (ORDER BY {t})", "percentile_disc({0|0.5|1}) WITHIN GROUP (ORDER BY {t})"},
	Boolean: {"{bool_and|bool_or|every}({b})"},
	Instant: {"{min|max}({s})", "percentile_disc({0|0.5}) WITHIN GROUP (ORDER BY {s})"},
	Day:     {"{min|max}({y})", "mode() WITHIN GROUP (ORDER BY {y})"},
}

// gathered lists the aggregates that join the values of a group. The generated queries use no FILTER with them.
var gathered = map[Kind][]string{
	Text: {"string_agg({t}, '{, |,|}' ORDER BY {=})", "string_agg(DISTINCT {t}, '{-|; }' ORDER BY {=})", "string_agg({i}::text, ',' ORDER BY {=}::text DESC)"},
	list: {"array_agg({i} ORDER BY {=} {NULLS FIRST|DESC NULLS LAST})", "array_agg(DISTINCT {i} ORDER BY {=} NULLS FIRST)"},
	JSON: {"percentile_cont(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY {d})", "{json_agg|jsonb_agg}({t} ORDER BY {=} NULLS FIRST)", "{json_agg|jsonb_agg}({i} ORDER BY {=} NULLS FIRST)"},
}

// foreignAggregates contains aggregates in the syntax of other databases.
var foreignAggregates = map[Kind][]string{
	Integer: {"count(DISTINCT {i}, {t})", "{countif|count_if}({c})", "{approx_count_distinct|approx_distinct|uniq|uniqexact}({i})", "sum({c})", "any_value({i})", "{max_by|min_by|arg_max|arg_min|argmax|argmin}({i}, {s})", "{max_by|min_by}({i}, {d})"},
	Double:  {"total({i})", "avg({c})", "median({d})", "round(std({i} % 100), 3)"},
	Text:    {"group_concat({t} ORDER BY {=} SEPARATOR '-')", "listagg({t}, ',') WITHIN GROUP (ORDER BY {=})"},
	list:    {"json_group_array({i} ORDER BY {=} NULLS FIRST)", "json_arrayagg({i} ORDER BY {=} NULLS FIRST)", "array_agg({i} ORDER BY {=} NULLS FIRST LIMIT {1|2})"},
}

// ranked contains window computations that depend on the position of a record. total is an order without ties.
var (
	ranked = map[Kind][]string{
		Integer: {"{row_number()|rank()|dense_rank()|ntile(3)|ntile(1)} OVER ({total})", "{rank|dense_rank}() OVER ({ties})"},
		Double:  {"{percent_rank|cume_dist}() OVER ({ties})", "({sum|count|max}({i}) OVER ({ties}) / {2|4|8})::double precision", "avg({d}) OVER ({ties}{| RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW| RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING})"},
		Boolean: {"{bool_and|bool_or}({b}) OVER ({ties})"},
	}
	shifted = []string{"{first_value|last_value|min|max}(@) OVER ({total})", "{lag|lead}(@{|, 2|, 0}) OVER ({total})", "{lag|lead}(@, 1, #) OVER ({total})",
		"nth_value(@, {1|2|3}) OVER ({total}{| ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING})",
		"{first_value|last_value|min|max}(@) OVER ({total} ROWS BETWEEN {UNBOUNDED PRECEDING|2 PRECEDING|1 PRECEDING|CURRENT ROW} AND {CURRENT ROW|1 FOLLOWING|UNBOUNDED FOLLOWING})"}
	summed = []string{"{sum|count}(@) OVER ({total} ROWS BETWEEN {UNBOUNDED PRECEDING|2 PRECEDING} AND {CURRENT ROW|1 FOLLOWING})", "{sum|count|min|max}(@) OVER ({ties}{| RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW})",
		"{sum|count}(@) FILTER (WHERE {c}) OVER ({ties})"}
)
