package endtoend

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// documentServers returns the document servers for the tests. One supports the same features as MongoDB, with an
// evaluator in JavaScript. The other supports fewer features.
func documentServers(t *testing.T) map[string]func() mongodb.Options {
	return map[string]func() mongodb.Options{
		"Mingo":    func() mongodb.Options { return mongodb.Options{URL: services.Mingo(t), Full: true} },
		"FerretDB": func() mongodb.Options { return mongodb.Options{URL: services.FerretDB(t)} },
	}
}

// hostileReads returns conditions, stages and names that have been used to attack document databases or JavaScript
// programs.
func hostileReads() map[string][]string {
	return map[string][]string{
		"query_class": {`{"$where": "this.score > 0"}`, `{"$where": "process.exit(1)"}`, `{"title": {"$where": "1"}}`, `{"$nor": [{"$where": "sleep(9e9)"}]}`,

			`{"__proto__": {"$exists": true}}`, `{"custom.__proto__": {"$exists": true}}`, `{"custom.constructor.name": "Object"}`, `{"constructor.prototype": 1}`, `{"custom.toString": {"$ne": null}}`,
			`{"custom": {"__proto__": {"polluted": 1}}}`, `{"custom": {"$elemMatch": {"__proto__": 1}}}`, `{"title.length": 1}`, `{"title.constructor.name": "String"}`,
			`{"custom.$x": 1}`, `{"$custom": 1}`, `{"custom.": 1}`, `{".custom": 1}`, `{"": 1}`, `{"custom..a": 1}`,
			`{"title": {"$regex": "^(a+)+$"}}`, `{"title": {"$regex": "^(a|a)*$", "$options": "i"}}`, `{"title": {"$regex": "(?=a)a"}}`, `{"title": {"$regex": "(a)\\1"}}`, `{"title": {"$regex": "a", "$options": "e"}}`,
			`{"$jsonSchema": {"required": ["score"]}}`, `{"$comment": "x"}`, `{"$text": {"$search": "x"}}`, `{"$sampleRate": 0.5}`, `{"score": {"$gt": 0}}`, `{"internal_note": {"$exists": true}}`,
			`{"vault_id": {"$inQuery": {"className": "vaults", "where": {"code": "a"}}}}`, `{"title": {"$ne": {"__proto__": null}}}`, `{"custom": {"$eq": {"$gt": ""}}}`},
		"aggregate": {`{"$group": {"_id": null, "x": {"$accumulator": {"init": "function() {}", "accumulate": "function() {}", "merge": "function() {}", "lang": "js"}}}}`,
			`{"$match": {"$expr": {"$function": {"body": "function() { return true }", "args": [], "lang": "js"}}}}`, `{"$match": {"$expr": {"$eq": ["$$ROOT.score", 3]}}}`, `{"$match": {"$expr": {"$gt": ["$$ROOT", null]}}}`,
			`{"$project": {"all": "$$ROOT"}}`, `{"$project": {"all": {"$objectToArray": "$$ROOT"}}}`, `{"$group": {"_id": null, "all": {"$push": "$$ROOT"}}}`, `{"$replaceRoot": {"newRoot": "$$ROOT"}}`,
			`{"$project": {"x": "$$CURRENT.internal_note"}}`, `{"$project": {"x": {"$getField": "internal_note"}}}`, `{"$project": {"x": {"$setField": {"field": "score", "input": "$$ROOT", "value": 1}}}}`, `{"$redact": "$$KEEP"}`,
			`{"$project": {"x": {"$let": {"vars": {"CURRENT": "$$ROOT"}, "in": "$$CURRENT.score"}}}}`, `{"$project": {"x": {"$map": {"input": "$watcher_ids", "as": "__proto__", "in": "$$__proto__"}}}}`, `{"$project": {"x": {"$meta": "textScore"}}}`,
			`{"$project": {"x": "$custom.__proto__.polluted", "y": "$custom.constructor.name", "z": "$custom.toString", "w": "$title.length"}}`, `{"$addFields": {"constructor": "$title"}}`,
			`{"$group": {"_id": "$custom.__proto__", "n": {"$sum": 1}}}`, `{"$group": {"_id": {"__proto__": "$title"}, "n": {"$sum": 1}}}`, `{"$sort": {"__proto__": 1}}`,
			`{"$project": {"x": {"$regexMatch": {"input": "$title", "regex": "(a*)*b"}}}}`, `{"$project": {"x": {"$arrayToObject": [[["__proto__", 1], ["constructor", 2]]]}}}`,
			`{"$project": {"x": {"$mergeObjects": ["$custom", {"__proto__": {"score": 1}}]}}}`, `{"$project": {"x": {"$literal": {"$expr": "$score"}}}}`, `{"$project": {"x": {"$concat": [{"$literal": "$internal_note"}, "!"]}}}`, `{"$addFields": {"x": {"$literal": "$$ROOT"}}}`,
			`{"$match": {"$expr": {"$ne": ["$title", {"$literal": "$internal_note"}]}}}`, `{"$group": {"_id": {"$literal": "$score"}, "n": {"$sum": 1}}}`,
			`{"$lookup": {"from": "vaults", "localField": "vault_id", "foreignField": "id", "as": "v"}}`, `{"$lookup": {"from": "vaults", "let": {"v": "$vault_id"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$id", "$$v"]}}}], "as": "v"}}`,
			`{"$lookup": {"from": "system.users", "localField": "title", "foreignField": "user", "as": "v"}}`, `{"$lookup": {"from": {"db": "admin", "coll": "system.users"}, "localField": "id", "foreignField": "id", "as": "v"}}`,
			`{"$lookup": {"from": "users", "localField": "score", "foreignField": "rank", "as": "v"}}`, `{"$lookup": {"from": "users", "localField": "assignee_id", "foreignField": "id", "as": "__proto__"}}`,
			`{"$lookup": {"from": "users", "localField": "assignee_id", "foreignField": "id", "as": "v", "pipeline": [{"$out": "x"}]}}`, `{"$unionWith": "vaults"}`, `{"$unionWith": {"coll": "vaults", "pipeline": [{"$project": {"code": 1}}]}}`, `{"$unionWith": {"coll": "users", "pipeline": [{"$merge": "x"}]}}`,
			`{"$graphLookup": {"from": "vaults", "startWith": "$vault_id", "connectFromField": "id", "connectToField": "id", "as": "v"}}`, `{"$facet": {"a": [{"$out": "x"}], "__proto__": [{"$count": "n"}]}}`, `{"$out": "issues"}`, `{"$out": {"db": "admin", "coll": "x"}}`,
			`{"$merge": {"into": "issues"}}`, `{"$collStats": {"count": {}}}`, `{"$currentOp": {"allUsers": true}}`, `{"$indexStats": {}}`, `{"$listSessions": {}}`, `{"$documents": [{"a": 1}]}`, `{"$planCacheStats": {}}`, `{"$changeStream": {}}`},
		"query_sql":  {`"SELECT code FROM vaults"`, `"SELECT __proto__ FROM issues"`, `"SELECT constructor FROM issues"`, `"SELECT score FROM issues"`, `"SELECT '$internal_note' AS x FROM issues"`, `"SELECT title || '$score' AS x FROM issues WHERE title <> '$internal_note'"`, `"SELECT title FROM issues i JOIN vaults v ON v.id = i.vault_id"`},
		"get_object": {`"__proto__"`, `"{\"$gt\": \"\"}"`, `"constructor"`, `"[object Object]"`},
		"distinct":   {`"internal_note"`, `"__proto__"`},
	}
}

// inheritedReads returns queries that create members which every JavaScript object already has. Mingo confuses them
// with the inherited members, so only the other server is tested.
func inheritedReads() map[string][]string {
	return map[string][]string{"aggregate": {`{"$project": {"__proto__": "$title"}}`, `{"$group": {"_id": "$title", "__proto__": {"$sum": 1}}}`, `{"$unwind": "$custom.__proto__"}`},
		"query_sql": {`"SELECT title AS \"__proto__\" FROM issues"`}, "distinct": {`"custom.__proto__"`, `"custom.constructor"`}}
}

// requestsOf returns calls that run these reads on issues.
func requestsOf(t *testing.T, reads map[string][]string) (out []tool.Request) {
	form := map[string]string{"query_class": `{"class_name": "issues", "order": "id", "where": %s}`, "aggregate": `{"class_name": "issues", "pipeline": [{"$sort": {"id": 1}}, %s]}`,
		"query_sql": `{"sql": %s}`, "get_object": `{"class_name": "issues", "object_id": %s}`, "distinct": `{"class_name": "issues", "field": %s}`}
	for name, all := range reads {
		for _, text := range all {
			args, err := value.Read(fmt.Appendf(nil, form[name], text), 0)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			out = append(out, tool.Request{Name: name, Arguments: args})
		}
	}
	return out
}

// foreign lists words that come only from the servers, their languages or hidden data. No answer may contain them.
// The test first removes the names that the agent itself sent.
var foreign = []string{"mingo", "Mongo", "TypeError", "ReferenceError", "node:", "[native code]", "[object", "ferretdb", "handler.", "(Location", "hidden-from-all", "polluted"}

// runsOrWrites matches queries that run code in the database or write.
var runsOrWrites = regexp.MustCompile(`"\$(where|function|accumulator|out|merge)":`)

// TestHostileReads makes calls that try to run code in the database, to reach hidden data indirectly, or to confuse
// programs by names. The worlds differ in the hidden data, and one doesn't have it. The agent must receive the same
// answers, whichever server is used.
func TestHostileReads(t *testing.T) {
	answers := map[string]map[string]string{}
	for name, options := range documentServers(t) {
		t.Run(name, func(t *testing.T) {
			answers[name] = map[string]string{}
			sides := []side{documentSide(t, options(), false), documentSide(t, options(), false), documentSide(t, options(), true)}
			m := &maker{rand.New(rand.NewPCG(1, 2)), profiles()[0]}
			seen := m.visible()
			for i, custom := range []string{`{"__proto__": {"b": 1}, "constructor": {"name": "x"}}`, `{"a": 1}`, `{"a": {"b": 2}}`} {
				seen["issues"] = append(seen["issues"], record{"id": uuid(50 + i), "org_id": "acme", "title": strings.Repeat("a", 40) + "!", "custom": custom})
			}
			for i := range sides {
				if err := sides[i].puts(t, rules(sides[i].twin)); err != nil {
					t.Fatal(err)
				}
				w := seen
				if !sides[i].twin {
					w = m.whole(seen)
					w["vaults"] = append(w["vaults"], record{"id": 50 + i, "code": "hidden-from-all"})
					w["issues"][0]["internal_note"] = "hidden-from-all"
				}
				if err := sides[i].loads(w); err != nil {
					t.Fatal(err)
				}
			}
			var got tally
			all := requestsOf(t, hostileReads())
			if name != "Mingo" {
				all = append(all, requestsOf(t, inheritedReads())...)
			}
			for _, c := range all {
				if wrong := compare(sides, m.who, c, &got); wrong != "" {
					t.Error(wrong)
				}
				text, _ := sides[0].answer(m.who, c)
				asked := c.Name + " " + c.Arguments.String()
				answers[name][asked] = text
				if runsOrWrites.MatchString(asked) && !strings.HasPrefix(text, `{"Code":"security_blocked"`) {
					t.Errorf("%s: %s", asked, text)
				}
				for _, word := range foreign {
					if strings.Contains(text, word) && !strings.Contains(asked, word) {
						t.Errorf("%s: %s is in %s", asked, word, text)
					}
				}
			}
			if got.answered < 15 || got.records < 8 {
				t.Errorf("too little was compared: %+v", got)
			}
		})
	}
	for asked, text := range answers["Mingo"] {
		if other := answers["FerretDB"][asked]; other != text {
			t.Errorf("%s\nis answered by one server\n%s\nand by the other\n%s", asked, text, other)
		}
	}
}

// hostileWrites returns writes with operators, and with names of internal storage and hidden data. If inherited is
// set, they also contain the members of inheritedReads.
func hostileWrites(inherited bool) []string {
	update := `{"op": "update", "class": "issues", "id": "1", "data": %s}`
	out := []string{`{"op": "update", "class": "issues", "id": "__proto__", "data": {"n": 1}}`, `{"op": "update", "class": "issues", "id": "{\"$gt\": 0}", "data": {"n": 1}}`, `{"op": "delete", "class": "issues", "id": "constructor"}`,
		`{"op": "create", "class": "vault", "data": {"code": "x"}}`, `{"op": "create", "class": "__proto__", "data": {"code": "x"}}`, `{"op": "create", "class": "system.users", "data": {"user": "x"}}`, `{"op": "delete", "class": "bailiwick_applied", "id": "1"}`,
		`{"op": "create", "class": "comments", "data": {"issue_id": {"$gt": 0}, "body": "x"}}`, `{"op": "create", "class": "comments", "data": {"_id": {"$oid": "000000000000000000000001"}, "issue_id": 1, "body": "x"}}`}
	for _, data := range []string{`{"__proto__": {"org": "globex"}}`, `{"constructor": {"prototype": {"org": "globex"}}}`, `{"$set": {"org": "globex"}}`, `{"title": {"$concat": ["$secret_note", "x"]}}`, `{"title": "$secret_note"}`, `{"title": "$$ROOT"}`,
		`{"title": {"__op": "Delete"}}`, `{"title.x": "y"}`, `{"meta.x": 1}`, `{"$where": "1"}`, `{"": 1}`, `{"secret_note": "x"}`, `{"secret_nota": "x"}`,
		`{"meta": {"$set": {"org": "globex"}}}`, `{"meta": {"$function": {"body": "function() {}", "args": [], "lang": "js"}}}`, `{"meta": {"a.b": 1}}`, `{"meta": {"": 1}}`, `{"meta": ["$secret_note", {"x": "$$ROOT"}]}`,
		`{"meta": {"$oid": "000000000000000000000001"}}`, `{"meta": {"$code": "1"}}`} {
		out = append(out, fmt.Sprintf(update, data))
	}
	if inherited { // see inheritedReads
		for _, meta := range []string{`{"__proto__": {"org": "globex"}}`, `{"constructor": {"prototype": {"x": 1}}}`, `{"toString": 1, "valueOf": null}`, `{"_bsontype": "Code", "code": "1"}`, `{"a": [{"__proto__": null}]}`} {
			out = append(out, fmt.Sprintf(update, `{"meta": `+meta+`}`))
		}
	}
	return out
}

// operators matches documents with names that databases interpret as operators or paths.
var operators = regexp.MustCompile(`"(meta|title|issue_id)": {"(\$|__op|"|a\.b)`)

// TestHostileWrites proposes hostile writes in two worlds that differ in the hidden data, and approves the changes.
// The agent must receive the same in both. The written data must equal the reviewed data, and nothing else may
// change.
func TestHostileWrites(t *testing.T) {
	for name, options := range documentServers(t) {
		t.Run(name, func(t *testing.T) {
			dbs := map[*office]*mongo.Database{}
			one, other := documentOffice(t, dbs, options(), nil), documentOffice(t, dbs, options(), nil)
			for class, hidden := range map[string]bson.D{"vault": {{Key: "code", Value: "hidden-from-all"}}, "issues": {{Key: "id", Value: int32(10)}, {Key: "org", Value: "globex"}, {Key: "title", Value: "hidden-from-all"}, {Key: "code", Value: "x"}}} {
				if _, err := dbs[other].Collection(class).InsertOne(t.Context(), hidden); err != nil {
					t.Fatal(err)
				}
			}
			filed := 0
			for _, w := range hostileWrites(name != "Mingo") {
				var told [2]string
				for i, o := range []*office{one, other} {
					var did bool
					if told[i], did = o.hostile(w); did {
						filed++
					}
				}
				if operators.MatchString(w) && !strings.HasPrefix(told[0], `{"Code":"invalid_argument"`) {
					t.Errorf("%s: %s", w, told[0])
				}
				if strings.HasPrefix(told[0], "Change pending") && !strings.HasSuffix(told[0], " applied") || told[0] != told[1] {
					t.Errorf("%s\nin one world:\n%s\nin the other:\n%s", w, told[0], told[1])
				}
				for _, word := range foreign {
					if strings.Contains(told[0], word) || strings.HasPrefix(told[0], "FAILED") {
						t.Errorf("%s: %s", w, told[0])
					}
				}
			}
			for o, all := range map[*office]int{one: 3, other: 4} {
				if got := o.untouched(dbs[o]); got != all {
					t.Errorf("%d issues, want %d", got, all)
				}
			}
			if filed < 6 {
				t.Error("too few were filed:", filed)
			}
		})
	}
}

// hostile proposes a write and approves it. It returns everything that the agent and the reviewer receive, and
// whether the change was filed.
func (o *office) hostile(w string) (told string, filed bool) {
	o.Helper()
	id, err := o.proposed(o.bot(), w)
	if err != nil {
		return refusedAs(err), false
	}
	ben := o.person("ben")
	s, err := ben.Sheet(o.Context(), id)
	if err != nil {
		o.Fatal(err)
	}
	told = fleeting.ReplaceAllString(review.Text(s), "…")
	done, err := ben.Approve(o.Context(), id, s.Digest, "fine")
	if err != nil {
		return told + refusedAs(err), true
	}
	return told + " " + string(done.State), true
}

// untouched returns the number of issues. It checks that another tenant's issue and the hidden field of the written
// issue are unchanged.
func (o *office) untouched(db *mongo.Database) int {
	o.Helper()
	cursor, err := db.Collection("issues").Find(o.Context(), bson.D{})
	var all []bson.M
	if err == nil {
		err = cursor.All(o.Context(), &all)
	}
	if err != nil {
		o.Fatal(err)
	}
	for _, r := range all {
		switch fmt.Sprint(r["id"]) {
		case "1":
			if r["org"] != "acme" || r["secret_note"] != "psst" {
				o.Errorf("%v", r)
			}
		case "9":
			if r["org"] != "globex" || r["title"] != "theirs" || r["code"] != "taken" || r["n"] != nil {
				o.Errorf("%v", r)
			}
		}
	}
	return len(all)
}
