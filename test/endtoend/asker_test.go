package endtoend

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An asker makes calls of every tool like a curious agent. It uses visible, hidden and missing names. Its conditions
// would reveal hidden rows if there were a leak.
type asker struct {
	*rand.Rand
	asked string   // the class of the current call
	views []string // classes for most calls. Nil means the classes of every world
}

// fieldsOf contains the fields that calls use most, so that most calls succeed.
var fieldsOf = map[string][]string{
	"users":    {"id", "org_id", "name", "role", "age", "boss_id", "vault_id", "phone", "about", "alias"},
	"issues":   {"id", "title", "status", "estimate", "points", "due", "urgent", "custom", "custom.a", "custom.a.b", "custom.tags", "custom.tags.0", "assignee_id", "vault_id", "deleted_at", "extra", "_id", "watcher_ids", "watcher_ids.name"},
	"comments": {"id", "issue_id", "author_id", "body"},
	"shifts":   {"org_id", "day", "slot", "who"},
	"events":   {"kind", "n", "n", "kind", "hint"},
	"labels":   {"id", "name"},
	"readings": {"made", "made", "meta", "meta.a", "meta.tags", "price", "price", "addr", "waited", "at", "cost", "note", "user_ids", "user_ids.name", "label_ids", "label_ids.name", "net", "lexemes"},
	"orgs":     {"id", "name"},
	"shares":   {"id", "title", "orgs", "orgs", "orgs.0", "owner_id"},
	"parts":    {"id", "share_id", "note"},

	// views that only some worlds have
	"open_issues":  {"id", "org_id", "title", "shout", "points", "extra", "remark", "hot", "score"},
	"dials":        {"id", "org_id", "name", "role", "age", "dial", "called", "tale", "born", "level", "mail"},
	"loud_dials":   {"org_id", "role", "last_dial", "n", "top"},
	"voices":       {"org_id", "said", "n", "more"},
	"names":        {"org_id", "name"},
	"first_labels": {"id", "name"},
	"label_ranks":  {"name", "n"},
}

func (a *asker) class() string {
	if a.views != nil && a.IntN(4) > 0 {
		return pick(a.Rand, a.views...)
	}
	if a.IntN(8) > 0 {
		return pick(a.Rand, "users", "users", "issues", "issues", "issues", "issues", "comments", "comments", "shifts", "events", "labels", "orgs", "readings", "readings", "readings", "shares", "parts")
	}
	return pick(a.Rand, "users", "issues", "issues", "issues", "comments", "shifts", "events", "labels", "orgs", "vaults", "isues", "app.issues", "app.vaults", "user", "isue", "nothing")
}

// behind contains paths through pointers to visible, hidden, masked and missing fields.
var behind = map[string][]string{
	"users": {"boss_id.name", "boss_id.boss_id.role", "boss_id.email", "boss_id.phone", "boss_id.about", "boss_id.alias", "org_id.name", "vault_id.code"},
	"issues": {"assignee_id.name", "assignee_id.alias", "assignee_id.age", "assignee_id.boss_id.name", "assignee_id.rank", "assignee_id.born", "vault_id.code", "assignee_id.absent",
		"watcher_ids.name", "watcher_ids.boss_id.name", "watcher_ids.email", "watcher_ids.phone"},
	"readings": {"user_ids.boss_id.name", "user_ids.rank", "label_ids.name", "user_ids.absent"},
	"comments": {"issue_id.title", "issue_id.assignee_id.name", "author_id.role", "issue_id.score", "issue_id.extra", "issue_id.custom.a"},
	"shifts":   {"who.name", "who.boss_id.age"},
	"shares":   {"owner_id.name", "owner_id.rank"},
	"parts":    {"share_id.title", "share_id.orgs", "share_id.owner_id.name", "share_id.draft"},
}

func (a *asker) field() string {
	if own := behind[a.asked]; own != nil && a.IntN(20) == 0 {
		return pick(a.Rand, own...)
	}
	if own := fieldsOf[a.asked]; own != nil && a.IntN(16) > 0 {
		return pick(a.Rand, own...)
	}
	return pick(a.Rand, "id", "org_id", "name", "role", "age", "boss_id", "vault_id", "title", "status", "estimate", "points", "due", "urgent",
		"custom", "custom.a", "custom.a.b", "custom.tags", "assignee_id", "deleted_at", "issue_id", "author_id", "body", "day", "slot", "who", "kind", "n",
		"email", "password_hash", "rank", "score", "scor", "internal_note", "private", "pay", "trace", "absent", "vault_id.code", "phone", "born", "about", "alias", "extra.a", "hint",
		"made", "price", "addr", "user_ids", "seen", "origin", "spent", "whispers")
}

func (a *asker) literal() string {
	if a.asked == "readings" && a.IntN(2) == 0 {
		return pick(a.Rand, `1769853600000`, `"2026-02-01T00:00:00Z"`, `"12.50"`, `12.5`, `"10.0.0.1"`, `"10.0.0.7/8"`, `"PT1H"`, `"13:05:00"`, `1`, `0.5`, `"a"`, `null`)
	}
	return pick(a.Rand, `null`, `1`, `3`, `-2.25`, `0.5`, `""`, `"a"`, `"A"`, `"crash"`, `"1"`, `"101"`, `"acme"`, `"globex"`, `"Todo"`, `true`, `false`,
		`"2026-02-01"`, `"2026-01-31T10:00:00Z"`, `9007199254740993`, `1e30`, `{}`, `{"a": 1}`, `[]`, `["x"]`, `"`+uuid(1)+`"`, `"`+uuid(101)+`"`,
		`{"__type": "Pointer", "className": "users", "objectId": "1"}`, `{"__type": "Pointer", "className": "vaults", "objectId": "1"}`, `2147483648`, `1e400`,
		`"todo"`, `{"$date": "2026-01-31T10:00:00Z"}`, `{"$relativeTime": "2 years ago"}`, `{"objectId": "1"}`, `1`, `"a"`, `"Todo"`, `null`)
}

func (a *asker) list() string {
	parts := make([]string, a.IntN(4))
	for i := range parts {
		parts[i] = a.literal()
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func (a *asker) condition() string {
	if a.IntN(3) == 0 {
		return fmt.Sprintf(`{%q: %s}`, pick(a.Rand, "$ne", "$nin", "$exists"), pick(a.Rand, `[1]`, `true`, `"x"`, `1`))
	}
	switch a.IntN(12) {
	case 0, 1, 2:
		return a.literal()
	case 3:
		return fmt.Sprintf(`{%q: %s}`, pick(a.Rand, "$in", "$nin", "$all"), a.list())
	case 4:
		return fmt.Sprintf(`{"$exists": %t}`, a.IntN(2) == 0)
	case 5:
		return fmt.Sprintf(`{"$regex": %q, "$options": %q}`, pick(a.Rand, "^a", "crash", "[^a]", `\bx`, "é", ".*", "(a|b)+", "/a/i"), pick(a.Rand, "", "i", "m"))
	case 6:
		return fmt.Sprintf(`{%q: %q}`, pick(a.Rand, "$startsWith", "$startsWith", "$contains", "$like", "$icontains"), pick(a.Rand, "", "a", "cr", "é", "00000000"))
	case 10:
		return pick(a.Rand, `{"$geoWithin": {"$box": [[0, 0], [90, 90]]}}`, `{"$geoWithin": {"$centerSphere": [[1, 1], 0.5]}}`,
			`{"$nearSphere": [1, 1]}`, `{"$nearSphere": [2, 2], "$maxDistance": 0.5}`, `{"$near": {"$geometry": {"type": "Point", "coordinates": [1, 2]}, "$minDistance": 1000}}`)
	case 7:
		return fmt.Sprintf(`{"$size": %d}`, a.IntN(3))
	case 8:
		return fmt.Sprintf(`{"$elemMatch": %s}`, pick(a.Rand, `{"$gt": 1}`, `{"b": 1}`, `{"$in": ["x", 2]}`, `{"a": {"$exists": true}}`))
	case 9:
		return fmt.Sprintf(`{"$not": {%q: %s}}`, pick(a.Rand, "$gt", "$eq", "$lte"), a.scalar())
	}
	return fmt.Sprintf(`{%q: %s}`, pick(a.Rand, "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$foo"), a.scalar())
}

func (a *asker) scalar() string {
	for {
		if s := a.literal(); s[0] != '{' && s[0] != '[' {
			return s
		}
	}
}

func (a *asker) where(depth int) string {
	if depth > 0 && a.IntN(3) == 0 {
		parts := make([]string, 1+a.IntN(3))
		for i := range parts {
			parts[i] = a.where(depth - 1)
		}
		return fmt.Sprintf(`{%q: [%s]}`, pick(a.Rand, "$and", "$or", "$nor"), strings.Join(parts, ","))
	}
	if depth > 0 && a.IntN(8) == 0 {
		return a.elsewhere(depth - 1)
	}
	return fmt.Sprintf(`{%q: %s}`, a.field(), a.condition())
}

// elsewhere returns a condition on another class.
func (a *asker) elsewhere(depth int) string {
	outer, field := a.asked, a.pointer()
	a.asked = pick(a.Rand, "users", "users", "issues", "orgs", "vaults", "isues")
	inner, key := a.where(depth), a.field()
	class := a.asked
	a.asked = outer
	if a.IntN(2) == 0 {
		return fmt.Sprintf(`{%q: {%q: {"className": %q, "where": %s}}}`, field, pick(a.Rand, "$inQuery", "$notInQuery"), class, inner)
	}
	return fmt.Sprintf(`{%q: {%q: {"query": {"className": %q, "where": %s}, "key": %q}}}`, field, pick(a.Rand, "$select", "$dontSelect"), class, inner, key)
}

func (a *asker) fields(n int) string {
	parts := make([]string, 1+a.IntN(n))
	for i := range parts {
		parts[i] = fmt.Sprintf("%q", a.field())
		if a.IntN(5) > 0 {
			continue
		}
		parts[i] = fmt.Sprintf("%q", pick(a.Rand, "assignee_id.name", "assignee_id.boss_id.name", "issue_id.title", "author_id.role", "assignee_id.email", "assignee_id.phone", "author_id.born", "watcher_ids.name", "watcher_ids.email", "user_ids.name", "label_ids.name", "user_ids.phone"))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func (a *asker) pointer() string {
	own := map[string][]string{"users": {"boss_id", "org_id", "boss_id.boss_id"}, "issues": {"assignee_id", "assignee_id", "assignee_id.boss_id", "watcher_ids", "watcher_ids.boss_id"},
		"comments": {"issue_id", "author_id", "issue_id.assignee_id"}, "shifts": {"who"}, "readings": {"user_ids", "label_ids", "user_ids.boss_id"}}[a.asked]
	if own != nil && a.IntN(10) > 0 {
		return pick(a.Rand, own...)
	}
	return pick(a.Rand, "vault_id", "title", "email", "absent", "assignee_id")
}

func (a *asker) id() string {
	switch {
	case a.asked == "issues" && a.IntN(4) > 0:
		return uuid(pick(a.Rand, 1, 2, 3, 101, 102))
	case a.asked == "orgs":
		return pick(a.Rand, "acme", "globex")
	}
	return pick(a.Rand, "1", "2", "101", "102", "999", "01", "acme", "globex", uuid(1), uuid(2), uuid(101), uuid(999), `["0","1"]`, `["10","1"]`, `[0, 2]`, "x")
}

// call returns a random call with a few of the tool's arguments.
func (a *asker) call() tool.Request {
	only := os.Getenv("BAILIWICK_TOOL")
	if only == "" && a.IntN(8) == 0 {
		return a.beyond()
	}
	name := pick(a.Rand, "query_class", "query_class", "query_class", "query_class", "query_class", "query_class", "query_class", "query_class", "count_objects", "count_objects", "get_object", "get_objects",
		"get_sample_objects", "get_schema", "get_all_schemas", "list_tools", "aggregate", "aggregate", "aggregate", "aggregate", "aggregate", "aggregate",
		"group_by", "group_by", "group_by_date", "distinct", "export_data", "explain_query", "text_search", "text_search", "query_sql", "query_sql", "find_values",
		"query_metrics", "query_metrics", "run_query", "run_query", "people", "peoples")
	name = cmp.Or(only, name) // set for long runs of one tool
	a.asked = a.class()
	args := []string{fmt.Sprintf(`"class_name": %q`, a.asked)}
	maybe := func(format string, v any) {
		if a.IntN(3) == 0 {
			args = append(args, fmt.Sprintf(format, v))
		}
	}
	rarely := func(format string, v any) {
		if a.IntN(12) == 0 {
			args = append(args, fmt.Sprintf(format, v))
		}
	}
	switch name {
	case "query_class":
		rarely(`"cursor": %q`, pick(a.Rand, "x", "WzFd"))
		if a.IntN(5) < 2 {
			args = append(args, `"where": `+a.where(2))
		}
		maybe(`"keys": %s`, a.fields(4))
		maybe(`"include": [%q]`, a.pointer())
		maybe(`"order": %q`, pick(a.Rand, "", "-")+a.field())
		maybe(`"limit": %s`, pick(a.Rand, `1`, `1`, `1`, `1`, `1`, `"1"`, `2`, `"2"`, `3`, `5000`))
		maybe(`"skip": %d`, a.IntN(4))
		maybe(`"format": %q`, pick(a.Rand, "csv", "markdown", "table", "json"))
		maybe(`"apply_canonical_filter": %t`, a.IntN(2) == 0)
	case "get_schema":
		maybe(`"class_names": [%q]`, a.class())
		maybe(`"format": %q`, pick(a.Rand, "full", "compact"))
	case "count_objects":
		maybe(`"where": %s`, a.where(2))
		maybe(`"apply_canonical_filter": %t`, a.IntN(2) == 0)
	case "get_object":
		args = append(args, fmt.Sprintf(`"object_id": %q`, a.id()))
		if a.IntN(6) == 0 {
			args = append(args, fmt.Sprintf(`"part": {"field": %q, "offset": %d, "length": 3}`, a.field(), a.IntN(3)))
			break
		}
		rarely(`"keys": %s`, a.fields(3))
		maybe(`"include": [%q]`, a.pointer())
	case "get_objects":
		args = append(args, fmt.Sprintf(`"ids": [%q, %q, %q]`, a.id(), a.id(), a.id()))
		maybe(`"keys": %s`, a.fields(3))
		rarely(`"include": [%q]`, a.pointer())
	case "export_data":
		if args = append(args, a.analysis(name)...); a.IntN(4) == 0 {
			args = a.exportedQuery()
		}
	case "aggregate", "group_by", "group_by_date", "distinct", "explain_query":
		args = append(args, a.analysis(name)...)
	case "text_search":
		if a.IntN(8) > 0 {
			a.asked = pick(a.Rand, "users", "users", "issues", "comments", "readings")
			args[0] = fmt.Sprintf(`"class_name": %q`, a.asked)
		}
		words := pick(a.Rand, "a", "a", "A", "crash", "crash", "slow", "é", `"a"`, "1", "101", "2", "dev", "dev", "ops", "boss", "done", "O'Neil x", `"O'Neil x"`,
			"ab", "b", "0x", "* ( a", "the crash", "NOT a OR", "!")
		words += pick(a.Rand, "", "", "", "", "", "", " -a", " -1", ` -"crash"`, " -the", " a", " slow", " boss")
		args = append(args, fmt.Sprintf(`"query": %q`, words))
		rarely(`"where": %s`, a.where(1))
		rarely(`"keys": %s`, a.fields(2))
		maybe(`"fields": [%q]`, pick(a.Rand, "name", "role", "title", "status", "body", "note", a.field()))
		maybe(`"limit": %d`, 1+a.IntN(4))
	case "find_values":
		args = []string{fmt.Sprintf(`"text": %q`, pick(a.Rand, "a", "crash", "CRASH", "1", "101", "dev", "Dev", "é", "e", "boss", "done", "acme", "globex", uuid(1), uuid(101), "secret", "x y"))}
		maybe(`"class_names": [%q]`, a.class())
	case "query_metrics":
		args = a.metrics()
	case "get_sample_objects":
		maybe(`"limit": %d`, 1+a.IntN(4))
	case "get_all_schemas":
		args = nil
		maybe(`"names": [%q, "vaults"]`, a.class())
		maybe(`"prefix": %q`, pick(a.Rand, "i", "u", "v", ""))
		rarely(`"source": %q`, pick(a.Rand, "app", "vaults"))
	case "query_sql":
		args = []string{fmt.Sprintf(`"sql": %q`, a.sql())}
		maybe(`"limit": %d`, 1+a.IntN(4))
		maybe(`"format": %q`, pick(a.Rand, "csv", "markdown", "json"))
		rarely(`"params": [%s]`, a.literal())
		rarely(`"cursor": %q`, "x")
		rarely(`"source": %q`, pick(a.Rand, "app", "vaults"))
		rarely(`"dry_run": %t`, true)
	case "run_query", "people", "peoples":
		args = a.declaredCall(name)
	case "list_tools":
		args = nil
		maybe(`"category": %q`, pick(a.Rand, "discovery", "query", "vaults"))
	}
	text := "{" + strings.Join(args, ",") + "}"
	doc, err := value.Read([]byte(text), 0)
	switch {
	case err == nil:
		return tool.Request{Name: name, Arguments: doc}
	case json.Valid([]byte(text)):
		return a.call() // one in a million pipelines exceeds the nesting that a transport accepts
	}
	panic(err)
}
