package endtoend

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/source/parse"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// shutRules contains two canonical filters. Nobody can switch off the one on issues. Callers can switch off the one
// on comments.
const shutRules = `sources: {app: {url: "sqlite:app.db"}}
classes:
  issues: {canonical: {filter: {region: eu}, open: false}}
  comments: {canonical: {id: {$lt: 14}}}
  vaults: {hidden: true}
`

// TestShutCanonical checks a canonical filter that can't be switched off. No kind of read may return a record that it
// excludes, and the refusal must say why. The excluded records have the ids 2, 4 and 5.
func TestShutCanonical(t *testing.T) {
	const refused = "permission_denied: the canonical filter of issues can't be switched off"
	sets := shutSets(t, shutRules)
	p := identity.Principal{ID: "token:1", Owner: "ann", Scopes: []identity.Scope{identity.Read, identity.Explain}}
	for _, tt := range []struct{ tool, args, want string }{
		{"query_class", `{"class_name": "issues"}`, "1 3"},
		{"query_class", `{"class_name": "issues", "apply_canonical_filter": true}`, "1 3"},
		{"query_class", `{"class_name": "issues", "apply_canonical_filter": false}`, refused},
		{"query_class", `{"class_name": "issues", "where": {"id": 2}}`, ""},
		{"query_class", `{"class_name": "comments", "include": ["issue_id"], "keys": ["issue_id"], "where": {"id": 12}}`, "12"},
		{"query_class", `{"class_name": "comments", "apply_canonical_filter": false, "keys": ["id", "issue_id.region"]}`, "11 1 12 13 3 14 15 16"},
		{"query_class", `{"class_name": "comments", "where": {"issue_id": {"$inQuery": {"className": "issues", "where": {"region": "us"}}}}}`, ""},
		{"query_class", `{"class_name": "comments", "apply_canonical_filter": false, "where": {"issue_id": {"$inQuery": {"className": "issues", "where": {"region": "us"}}}}}`, refused},
		{"get_object", `{"class_name": "issues", "object_id": "1"}`, "1"},
		{"get_object", `{"class_name": "issues", "object_id": "2"}`, `not_found: issues has no record "2"`},
		{"get_object", `{"class_name": "issues", "object_id": "99"}`, `not_found: issues has no record "99"`},
		{"get_objects", `{"class_name": "issues", "object_ids": ["1", "2", "5"]}`, "1"},
		{"get_sample_objects", `{"class_name": "issues", "limit": 20}`, "3 1"},
		{"export_data", `{"class_name": "issues", "format": "jsonl"}`, ""},
		{"aggregate", `{"class_name": "issues", "pipeline": [{"$project": {"id": 1}}]}`, "1 3"},
		{"aggregate", `{"class_name": "issues", "apply_canonical_filter": false, "pipeline": [{"$project": {"id": 1}}]}`, refused},
		{"aggregate", `{"class_name": "comments", "apply_canonical_filter": false, "pipeline": [{"$lookup": {"from": "issues", "localField": "issue_id", "foreignField": "id", "as": "i"}}, {"$project": {"id": 1}}]}`, refused},
		{"aggregate", `{"class_name": "comments", "pipeline": [{"$lookup": {"from": "issues", "localField": "issue_id", "foreignField": "id", "as": "i"}}, {"$unwind": "$i"}, {"$project": {"id": "$i.id", "_id": 0}}]}`, "1 3"},
		{"query_sql", `{"sql": "SELECT id FROM issues ORDER BY id"}`, "1 3"},
		{"query_sql", `{"sql": "SELECT i.id FROM comments c JOIN issues i ON i.id = c.issue_id ORDER BY 1"}`, "1 3"},
		{"query_sql", `{"sql": "SELECT (SELECT max(id) FROM issues) AS id FROM comments LIMIT 1"}`, "3"},
		{"count_objects", `{"class_name": "issues", "apply_canonical_filter": false}`, refused},
	} {
		for name, over := range sets {
			want, refusal := tt.want, strings.Contains(tt.want, ": ")
			if refusal {
				want = over.adapt(want)
			}
			got := over.answer(t, p, tt.tool, tt.args)
			if !refusal && got != sorted(want) || refusal && !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s %s:\n got %s\nwant %s", name, tt.tool, tt.args, got, want)
			}
		}
	}
}

// TestAllShutCanonical checks rules in which no canonical filter can be switched off. Tools must not list
// apply_canonical_filter. The refusal of a call with this argument must say that the owner fixed the filter of a
// visible class. It must not mention a class that the caller doesn't see.
func TestAllShutCanonical(t *testing.T) {
	const rules = `sources: {app: {url: "sqlite:app.db"}}
classes:
  issues: {canonical: {filter: {region: eu}, open: false}}
  vaults: {canonical: {filter: {id: 1}, open: false}, hidden: true}
  comments: {}
`
	p := identity.Principal{ID: "token:1", Owner: "ann", Scopes: []identity.Scope{identity.Read}}
	c, err := config.Parse("bailiwick.yaml", []byte(rules), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range claimSources(t) {
		set := shutTools(t, src, c, tool.Options{Shut: true})
		for _, listed := range set.List(p, "") {
			if strings.Contains(string(listed.Input), "apply_canonical_filter") {
				t.Errorf("%s: %s lists it", name, listed.Name)
			}
		}
		for _, tt := range []struct{ tool, args, want string }{
			{"query_class", `{"class_name": "issues", "apply_canonical_filter": false}`, "permission_denied: the canonical filter of issues can't be switched off: the owner of the rules fixed it"},
			{"count_objects", `{"class_name": "issues", "apply_canonical_filter": false}`, "permission_denied: the canonical filter of issues can't be switched off: the owner of the rules fixed it"},
			{"aggregate", `{"class_name": "issues", "apply_canonical_filter": false, "pipeline": [{"$project": {"id": 1}}]}`, "permission_denied: the canonical filter of issues can't be switched off: the owner of the rules fixed it"},
			{"query_class", `{"class_name": "issues", "apply_canonical_filter": true}`, "1 3"},
			{"query_class", `{"class_name": "comments", "keys": ["id"], "apply_canonical_filter": false}`, "11 12 13 14 15 16"},
			{"query_class", `{"class_name": "vaults", "apply_canonical_filter": false}`, `not_found: there is no class "vaults"`},
			{"query_class", `{"class_name": "nothing", "apply_canonical_filter": false}`, `not_found: there is no class "nothing"`},
			{"query_class", `{"class_name": "issues", "apply_canonical_filters": 1}`, `invalid_argument: unknown argument "apply_canonical_filters"`},
		} {
			if got := claimed(t, set, p, tt.tool, tt.args); !strings.HasPrefix(got, tt.want) || !strings.Contains(tt.want, ": ") && got != tt.want {
				t.Errorf("%s: %s %s:\n got %s\nwant %s", name, tt.tool, tt.args, got, tt.want)
			}
		}
	}
}

// shutTools returns the data tools for a source with the rules of c.
func shutTools(t *testing.T, src source.Source, c *config.Config, o tool.Options) *tool.Set {
	t.Helper()
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": src}, Rules: c.Rules, Audit: forgetful{}, Limits: limit.Options{PerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(g, tool.Data(o)...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A shutSet contains the tools for a source. The questions are written for SQLite.
type shutSet struct {
	*tool.Set
	adapt func(string) string // converts a question or an answer to the form of this source
	id    *regexp.Regexp      // matches the numbers of records
}

// answer returns the sorted numbers of the records in the answer for p, or the refusal.
func (s shutSet) answer(t *testing.T, p identity.Principal, name, args string) string {
	res, err := s.Call(t.Context(), p, tool.Request{Name: name, Arguments: claimDocument(t, s.adapt(args))})
	if err != nil {
		return problem.Of(err).Error()
	}
	var ids []string
	for _, m := range s.id.FindAllStringSubmatch(string(res.Structured), -1) {
		ids = append(ids, m[1])
	}
	return sorted(strings.Join(ids, " "))
}

func sorted(ids string) string {
	words := strings.Fields(ids)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// shutSets returns the tools for the same data in each kind of source.
func shutSets(t *testing.T, rules string) map[string]shutSet {
	t.Helper()
	c, err := config.Parse("bailiwick.yaml", []byte(rules), nil)
	if err != nil {
		t.Fatal(err)
	}
	same := func(s string) string { return s }
	out := map[string]shutSet{}
	for name, src := range claimSources(t) {
		out[name] = shutSet{shutTools(t, src, c, tool.Options{}), same, shownID}
	}
	for name, src := range map[string]source.Source{"postgres": shutPostgres(t), "mariadb": shutMariaDB(t), "ferretdb": shutFerretDB(t)} {
		out[name] = shutSet{shutTools(t, src, c, tool.Options{}), same, shownID}
	}
	src, adapt := shutParse(t)
	if c, err = config.Parse("bailiwick.yaml", []byte(strings.Replace(rules, "{id: {$lt: 14}}", "{n: {$lt: 14}}", 1)), nil); err != nil {
		t.Fatal(err)
	}
	delete(c.Rules.Classes, "vaults")
	out["parse"] = shutSet{shutTools(t, src, c, tool.Options{}), adapt, regexp.MustCompile(`"n":(\d+)`)}
	return out
}

// shutTables creates the data of claimSources.
const shutTables = `CREATE TABLE issues (id INTEGER PRIMARY KEY, org TEXT, region TEXT, level INTEGER, secret TEXT);
	CREATE TABLE comments (id INTEGER PRIMARY KEY, issue_id INTEGER REFERENCES issues (id));
	CREATE TABLE vaults (id INTEGER PRIMARY KEY);
	INSERT INTO issues VALUES (1, 'acme', 'eu', 1, 's'), (2, 'acme', 'us', 2, 's'), (3, 'globex', 'eu', 3, 's'), (4, 'globex', 'us', 4, 's'), (5, 'acme', NULL, 5, 's');
	INSERT INTO comments VALUES (11, 1), (12, 2), (13, 3), (14, 4), (15, 5), (16, NULL)`

func shutLoad(t *testing.T, driver, at, tables string) {
	t.Helper()
	db, err := sql.Open(driver, at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), tables); err != nil {
		t.Fatal(err)
	}
}

func shutPostgres(t *testing.T) source.Source {
	at := services.Postgres(t)
	shutLoad(t, "pgx", at, shutTables)
	src, err := postgres.Open(t.Context(), "app", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

func shutMariaDB(t *testing.T) source.Source {
	at := services.MariaDB(t)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	tables := strings.Replace(strings.ReplaceAll(shutTables, " TEXT", " varchar(190)"), "issue_id INTEGER REFERENCES", "issue_id INTEGER, FOREIGN KEY (issue_id) REFERENCES", 1)
	shutLoad(t, "mysql", u.User.Username()+":"+password+"@tcp("+u.Host+")"+u.Path+"?multiStatements=true", tables)
	src, err := mariadb.Open(t.Context(), "app", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// shutIssues contains the tenants and regions of the issues. shutComments contains the issues of the comments. "" and
// 0 stand for null.
var (
	shutIssues   = [][2]string{{"acme", "eu"}, {"acme", "us"}, {"globex", "eu"}, {"globex", "us"}, {"acme", ""}}
	shutComments = []int{1, 2, 3, 4, 5, 0}
)

func shutFerretDB(t *testing.T) source.Source {
	at := services.FerretDB(t)
	client, err := mongo.Connect(options.Client().ApplyURI(at))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(t.Context())
	db := client.Database(at[strings.LastIndexByte(at, '/')+1:])
	var issues, comments []any
	for i, of := range shutIssues {
		doc := bson.D{{Key: "id", Value: int32(i + 1)}, {Key: "org", Value: of[0]}, {Key: "level", Value: int32(i + 1)}, {Key: "secret", Value: "s"}}
		if of[1] != "" {
			doc = append(doc, bson.E{Key: "region", Value: of[1]})
		}
		issues = append(issues, doc)
	}
	for i, of := range shutComments {
		doc := bson.D{{Key: "id", Value: int32(i + 11)}}
		if of > 0 {
			doc = append(doc, bson.E{Key: "issue_id", Value: int32(of)})
		}
		comments = append(comments, doc)
	}
	for name, docs := range map[string][]any{"issues": issues, "comments": comments} {
		if _, err := db.Collection(name).InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Collection(name).Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "id", Value: 1}}, Options: options.Index().SetUnique(true)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.CreateCollection(t.Context(), "vaults"); err != nil {
		t.Fatal(err)
	}
	whole := func(name string) schema.Field {
		return schema.Field{Name: name, Type: schema.Integer, Native: "int|long"}
	}
	text := func(name string) schema.Field { return schema.Field{Name: name, Type: schema.String, Native: "string"} }
	src, err := mongodb.Open(t.Context(), mongodb.Options{Name: "app", URL: at, Declared: map[string]schema.Class{
		"issues":   {Key: []string{"id"}, Fields: []schema.Field{whole("id"), text("org"), text("region"), whole("level"), text("secret")}},
		"comments": {Key: []string{"id"}, Fields: []schema.Field{whole("id"), whole("issue_id")}, Relations: []schema.Relation{{Fields: []string{"issue_id"}, Target: "issues", TargetFields: []string{"id"}}}},
		"vaults":   {Key: []string{"id"}, Fields: []schema.Field{whole("id")}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// shutParse returns the data in Parse Server and a function that adapts a question. There the field n contains the
// number of a record.
func shutParse(t *testing.T) (source.Source, func(string) string) {
	s := services.ParseAlone(t) // suites of other packages have classes of these names
	asMaster(t, s, "POST", "/schemas/issues", `{"className":"issues","fields":{"n":{"type":"Number"},"org":{"type":"String"},"region":{"type":"String"}}}`)
	asMaster(t, s, "POST", "/schemas/comments", `{"className":"comments","fields":{"n":{"type":"Number"},"issue_id":{"type":"Pointer","targetClass":"issues"}}}`)
	t.Cleanup(func() {
		for _, class := range []string{"comments", "issues"} {
			asMaster(t, s, "DELETE", "/purge/"+class, "")
			asMaster(t, s, "DELETE", "/schemas/"+class, "")
		}
	})
	create := func(class, body string) string {
		var made struct{ ObjectID string }
		if err := json.Unmarshal(asMaster(t, s, "POST", "/classes/"+class, body), &made); err != nil {
			t.Fatal(err)
		}
		return made.ObjectID
	}
	ids, pairs := []string{""}, []string{`"id": {"$lt"`, `"n": {"$lt"`, `"foreignField": "id"`, `"foreignField": "objectId"`, "i.id = c.issue_id", "i.objectId = c.issue_id", `"where": {"id": `, `"where": {"n": `,
		`"keys": ["id", "issue_id.region"]`, `"keys": ["n", "issue_id.region", "issue_id.n"]`, `"keys": ["id"`, `"keys": ["n"`, `"keys": ["issue_id"]`, `"keys": ["issue_id", "n"]`, `{"id": "$i.id", "_id": 0}`, `{"n": "$i.n"}`, `{"$project": {"id": 1}}`, `{"$project": {"n": 1}}`,
		"SELECT id", "SELECT n", "SELECT i.id", "SELECT i.n", "max(id)", "max(n)", "AS id", "AS n", "ORDER BY id", "ORDER BY n"}
	for i, of := range shutIssues {
		region := `,"region":"` + of[1] + `"`
		if of[1] == "" {
			region = ""
		}
		id := create("issues", fmt.Sprintf(`{"n":%d,"org":%q%s}`, i+1, of[0], region))
		ids = append(ids, id)
		pairs = append(pairs, fmt.Sprintf(`"%d"`, i+1), `"`+id+`"`)
	}
	for i, of := range shutComments {
		body := fmt.Sprintf(`{"n":%d}`, i+11)
		if of > 0 {
			body = fmt.Sprintf(`{"n":%d,"issue_id":{"__type":"Pointer","className":"issues","objectId":%q}}`, i+11, ids[of])
		}
		create("comments", body)
	}
	src, err := parse.Open(parse.Options{Name: "app", URL: s.URL(), AppID: s.AppID, MasterKey: s.MasterKey, As: parse.Master})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src, strings.NewReplacer(pairs...).Replace
}
