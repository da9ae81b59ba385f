package config_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/oidc"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// env is the environment of the tests.
func env(name string) (string, bool) {
	v, ok := map[string]string{
		"PG_PASSWORD": "hunter2", "DATABASE_URL": "postgres://db.internal/app", "SCHEME": "hunter2://x", "EMPTY": "", "LEVEL": "warn", "BINARY": "a\x00b",
		"ODD": "p@:/?#% [", "HOST": "db.example:5432", "FOLDER": "a b/c", "URL": "postgres://u:p%40@h/db",
	}[name]
	return v, ok
}

// full returns a configuration that uses every key at least once.
func full(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/every-key.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func where(t *testing.T, s string) query.Filter {
	t.Helper()
	v, err := value.Read([]byte(s), 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := query.ParseRule(v, "")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// object parses JSON.
func object(t *testing.T, s string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(s), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// condition compiles a CEL expression over changes.
func condition(t *testing.T, s string) *expression.Condition {
	t.Helper()
	c, err := expression.NewCompiler().CompileChange(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// same compares configurations by their contents. It compares filters as where objects, without their positions in
// the file.
var same = cmp.Options{
	cmpopts.IgnoreUnexported(config.Config{}, calls.ReadBack{}),
	cmp.Comparer(func(a, b query.Filter) bool {
		return a == nil && b == nil || a != nil && b != nil && query.Print(a).String() == query.Print(b).String()
	}),
	cmp.Comparer(func(a, b *expression.Condition) bool {
		return a == b || a != nil && b != nil && a.String() == b.String()
	}),
	cmp.Comparer(func(a, b value.Value) bool { return a.Kind() == b.Kind() && a.String() == b.String() }),
}

// sequence returns 32 bytes that count up from first.
func sequence(first byte) []byte {
	out := make([]byte, 32)
	for i := range out {
		out[i] = first + byte(i)
	}
	return out
}

func TestParse(t *testing.T) {
	want := &config.Config{
		Listen: "0.0.0.0:9000",
		Store:  "sqlite:/var/lib/bailiwick/memory.db",
		Sources: []config.Source{
			{Name: "tracker", URL: "postgres://app:hunter2@db/tracker", WriteURL: "postgres://writer:hunter2@db/tracker", Description: "Where work is planned", Schemas: []string{"public", "crm"},
				Tables: identity.List{Only: []string{"issues", "comments"}, Except: []string{"drafts"}}, Rename: map[string]string{"crm.deals": "sales"}, SSH: &config.SSH{Host: "bastion.example:2222", User: "gate", Key: "/etc/bailiwick/id_ed25519", KnownHosts: "/etc/bailiwick/known_hosts"}},
			{Name: "desks", URL: "postgres://app:hunter2@db/desks", Schema: "'desk_' + principal.tenant", Template: "desk_model"},
			{Name: "local", URL: "sqlite:/etc/bailiwick/app.db"},
			{Name: "docs", URL: "mongodb://reader:hunter2@a.example:27017,b.example:27017/shop?replicaSet=r0", LocalRows: 500,
				Collections: map[string]config.Collection{"orders": {Fields: map[string]string{"coupon": "string", "total": "decimal"}, Index: "default", Search: []string{"title", "body"}}}},
			{Name: "shop", URL: "parse+https://parse.example/parse", Parse: &config.ParseServer{AppID: "a", MasterKey: "hunter2", RESTKey: "r", As: "session",
				Session: "principal.claims.parse_session", Direct: "postgres://reader@db/parse", System: []string{"_Session"}}},
			{Name: "shop-user", URL: "parse+http://127.0.0.1:1337/parse", Parse: &config.ParseServer{AppID: "a", MasterKey: "m", As: "user", User: "principal.claims.sub"}},
			{Name: "shop-role", URL: "parse+https://parse.example/parse", Parse: &config.ParseServer{AppID: "a", MasterKey: "m", As: "role", Role: "support"}},
			{Name: "org", Metadata: &config.Metadata{Roots: []string{"/etc/bailiwick/workspaces", "/srv/provar"}, Connection: "MyOrg", Environment: "UAT",
				Objects: identity.List{Only: []string{"Account", "Secret__c"}, Except: []string{"Secret__c"}}}},
			{Name: "flow", OpenAPI: &config.APISource{Document: "https://flow.example/openapi.json", BaseURL: "https://flow.example/v2", Timeout: 20 * time.Second,
				Packs: []config.APIPack{{Name: "flowfuse"}}, Site: "https://flow.example/app", Underscore: true, PlainHTTP: true,
				Credential: &config.APICredential{Each: &config.EachCredential{By: "claim", Claim: "login", Of: map[string]config.APICredential{
					"ann": {Bearer: "plain hunter2"}, "bob": {Bearer: "b"}, "cid": {Header: &config.NamedCredential{Name: "X-Api-Key", Value: "c"}}, "dee": {Basic: &config.BasicCredential{User: "dee", Password: "d"}},
					"eve": {Query: &config.NamedCredential{Name: "key", Value: "e"}}, "gil": {Cookie: &config.NamedCredential{Name: "sid", Value: "g"}},
					"fay": {OAuth: &config.OAuthClient{TokenURL: "https://login.example/token", ID: "f", Secret: "s", Scopes: []string{"read"}, Params: map[string]string{"audience": "flow"}}}}}}}},
			{Name: "mail", OpenAPI: &config.APISource{Document: "https://mail.example/openapi.json", BaseURL: "https://mail.example/v1", Credential: &config.APICredential{Person: &config.PersonAccount{
				AuthorizeURL: "https://login.example/authorize", TokenURL: "https://login.example/token", RevokeURL: "https://login.example/revoke", Issuer: "https://login.example", ID: "gate", Secret: "s", InBody: true,
				Scopes: []string{"mail.read", "offline_access"}, Params: map[string]string{"access_type": "offline"},
				Exchange: &config.OAuthClient{TokenURL: "https://sts.example/token", ID: "g", Secret: "t", Scopes: []string{"mail.read"}, Params: map[string]string{"audience": "mail", "resource": "https://mail.example"}}}}}},
			{Name: "box", Description: "Boxes", ReadOnly: true, OpenAPI: &config.APISource{Document: "https://box.example/openapi.json", BaseURL: "http://10.0.0.1:8080"}},
			{Name: "metrics", OpenAPI: &config.APISource{Document: "https://metrics.example/openapi.json", BaseURL: "https://metrics.example/api",
				Credentials: []config.SchemeCredential{{Scheme: "apiKey", Credential: config.APICredential{Header: &config.NamedCredential{Name: "X-Api-Key", Value: "c"}}}, {Scheme: "sso", Credential: config.APICredential{Bearer: "b"}}},
				Headers:     []config.FixedHeader{{Name: "X-Org", Value: "acme"}, {Name: "X-App-Key", Value: "hunter2", Secret: true}},
				TLS:         &config.APITLS{Certificate: "/etc/bailiwick/client.pem", Key: "/etc/bailiwick/client.key", Authorities: "/etc/ssl/metrics.pem"},
				Downloads:   []string{"files.metrics.example", "*.s3.amazonaws.com"},
				Servers:     []config.APIServer{{URL: "https://files.metrics.example/v1", Credential: &config.APICredential{Bearer: "f"}}, {URL: "https://logs.metrics.example", Credentials: []config.SchemeCredential{{Scheme: "sso", Credential: config.APICredential{Bearer: "l"}}}}}}},
		},
		Rules: policy.Rules{
			Review: []change.Rule{{Name: "review[0]", When: condition(t, `change.op == "delete"`), Approvals: 2, Risk: change.High, Mode: write.Review,
				Reviewers: []change.Reviewer{{Name: "team:billing", People: []string{"ana@example.com"}, Claims: map[string][]string{"groups": {"billing"}}}, {Name: "ben@example.com"}}}},
			APIs: map[string]calls.Rules{
				"flow": {Description: "Where flows run", Access: spec.ClassOptions{RPCNames: true, Rules: []spec.ClassRule{
					{Operations: []string{"POST /check"}, Class: spec.ClassRead}, {Tags: []string{"admin"}, Class: spec.ClassExcluded},
					{Operations: []string{"mint"}, Tags: []string{"keys"}, Class: spec.ClassForbidden, Reason: "it mints", Instead: "in the settings"}}},
					Shown: []string{"* /teams*"}, Hidden: []calls.Hidden{{Operations: []string{"spy"}, Tags: []string{"x"}, Schemas: []string{"Key*"},
						Fields: []string{"User.email", "password"}, When: `!("operator" in principal.scopes)`}},
					Parameters: []calls.Parameter{{Name: "teamId", Is: "principal.claims.team", Operations: []string{"a", "b"}}},
					Write:      map[spec.Class]write.Mode{spec.ClassWrite: write.Allow, spec.ClassDestructive: write.Deny}, OpenBodies: true, OpenFormats: true, OpenParameters: []calls.Opened{{Names: []string{"sort", "filter[state]"}, Operations: []string{"GET /teams*"}}}, Partial: []string{"PUT /teams/*"}, Lists: calls.Indices, Signed: true,
					ReadBack: []calls.ReadBack{{Operations: []string{"makeTeam"}, By: "listTeams", Path: map[string]string{"org": "path.org"}, Query: map[string]string{"name": "body.name"}, Match: map[string]string{"name": "body.name"}}},
					Synonyms: map[string][]string{"machine": {"instance", "device"}},
					Base:     "https://flow.example/v2", Sends: []calls.Place{{In: "cookie", Name: "sid"}, {In: "header", Name: "X-Api-Key"}, {In: "query", Name: "key"}}},
				"metrics": {Signed: true, Base: "https://metrics.example/api", Sends: []calls.Place{{In: "header", Name: "X-Api-Key"}, {In: "header", Name: "X-App-Key"}, {In: "header", Name: "X-Org"}},
					Servers: map[string]calls.Signing{"https://files.metrics.example/v1": {}, "https://logs.metrics.example": {}}},
				"mail": {Signed: true, Base: "https://mail.example/v1"},
				"box":  {Description: "Boxes", Base: "http://10.0.0.1:8080", Write: map[spec.Class]write.Mode{spec.ClassWrite: write.Deny, spec.ClassDestructive: write.Deny}},
			},
			Unlisted: true, RefuseScans: true, Bounds: policy.Bounds{Joins: 12, Windows: 30, Sets: 10, Queries: 15}, AgentBounds: []policy.AgentBound{{When: `principal.id.startsWith("intern-")`, Bounds: policy.Bounds{Joins: 2, Windows: 5, Sets: 1, Queries: 3}, Time: 5 * time.Second}},
			Disclose: true, Pointers: true, Schemas: map[string]string{"desks": "'desk_' + principal.tenant"}, Gates: policy.Gates{Writes: policy.Review, RawWrites: policy.Off, SchemaWrites: policy.Off},
			Classes: map[string]policy.ClassRule{
				"tracker.issues": {
					Description: "Work to do", Visible: []string{"id", "org_id", "title", "body", "about", "token"}, Denied: []string{"note"},
					Lift: []string{"token"}, Large: []string{"body"}, Join: []string{"id", "title"}, Label: "title", Code: "{org_id.name}-{number}", Link: "https://app.example.com/projects/{id}", Pointers: map[string]policy.Pointer{"org_id": {Class: "orgs"}, "number": {Class: "tracker.numbers", Key: "code"}}, Mask: map[string]policy.Mask{"title": policy.Partial, "org_id": policy.Hash, "body": policy.Null, "about": policy.Inside}, MaskInside: map[string][]policy.Pattern{"about": {"email", "iban"}}, MaskTexts: []policy.Pattern{"phone"}, MaskNot: []string{"url"}, Types: map[string]schema.Form{"opened": schema.EpochMillis, "meta": schema.JSONText},
					MaskBut:   map[string]identity.Scope{"title": identity.Operator},
					Tenant:    &policy.TenantRule{Field: "org_id", Is: `"org-" + principal.tenant`, Contains: true, Bypass: `"operator" in principal.scopes`},
					Canonical: where(t, `{"deleted_at": null, "region": {"$in": {"$cel": "principal.claims.regions"}}, "number": {"$lte": 9007199254740993}, "rate": 1.50}`), CanonicalShut: true,
					Fields: map[string]policy.FieldRule{"status": {Description: "Where it stands",
						Values: []policy.FieldValue{{Value: "open", Meaning: "to do"}, {Value: "3", Meaning: "closed"}}}},
					Write:     map[write.Op]write.Mode{write.OpCreate: write.Allow, write.OpUpdate: write.Review, write.OpDelete: write.Deny},
					Permitted: []string{"title", "token"}, Version: "id",
					Examples: []policy.Example{{Question: "How many issues are open?", SQL: "SELECT count(*) FROM tracker.issues WHERE status = 'open'"},
						{Question: "Which one is next?", Tool: "query_class", Arguments: object(t, `{"class_name": "tracker.issues", "limit": 1}`)}},
				},
				"comments":   {Tenant: &policy.TenantRule{Through: "issue_id"}, AllowScan: true},
				"local.keys": {Hidden: true, HiddenBut: identity.Operator},
			},
		},
		Tools:   config.Tools{Profile: "lean", List: identity.List{Only: []string{"get_object", "query_class"}, Except: []string{"get_object"}}},
		Results: config.Results{Default: config.Text, Clients: map[string]config.Form{"claude-code": config.Structured}},
		Prompts: []config.Prompt{{Name: "team-health", Title: "Team", Description: "How a team does", Template: "Report on {{.team}}.\n",
			Arguments: []config.PromptArgument{{Name: "team", Description: "its name", Required: true}, {Name: "since"}}}},
		Budget: 65536,
		Limits: config.Limits{Rate: config.Rate{Calls: 600, Per: time.Minute}, Burst: 50, Concurrency: 4, QueryRows: 20, SampleRows: 3,
			Timeouts:   map[string]time.Duration{"query_class": 90 * time.Second},
			Statement:  20 * time.Second,
			Daily:      config.Daily{Calls: 1000, Rows: 20_000, Bytes: 1 << 30, Tokens: 500_000, Cost: 2_500_000},
			TokenDaily: config.Daily{Calls: 100, Rows: 2000, Bytes: 100_000_000, Tokens: 50_000, Cost: 1_000_000}, Price: 3_000_000, Pending: 20, Proposals: 30},
		Auth: config.Auth{TokenLife: 720 * time.Hour,
			Anonymous: &identity.Principal{ID: "anonymous", Name: "anonymous", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}},
			Resource:  "https://agents.example/mcp",
			Agents:    config.Agents{Off: true, Access: 30 * time.Minute, Idle: 7 * 24 * time.Hour, Life: 14 * 24 * time.Hour},
			Fresh:     5 * time.Minute,
			SignIn: &oidc.SignInOptions{ClientID: "gate", Secret: "s", Name: "Example", Scopes: []string{"groups"}, Levels: []string{"mfa"},
				Claims: oidc.Mapping{Owner: "upn", Keep: []string{"groups"}, Scopes: "groups", ScopeOf: map[string][]identity.Scope{"reviewers": {identity.Review}}}},
			OIDC: &oidc.Options{Issuer: "https://login.example/realms/a", Audience: []string{"agents"}, JWKS: "https://login.example/keys", Algorithms: []string{"ES256"},
				Claims: oidc.Mapping{ID: "client_id", Name: "name", Owner: "email", Tenant: "/org/id", Kind: "typ", Kinds: map[string]identity.Kind{"user": identity.Human},
					Scopes: "/realm_access/roles", ScopeOf: map[string][]identity.Scope{"viewer": {identity.Read, identity.Explain}},
					Tools: "tools", Actions: "actions", Classes: "classes", Keep: []string{"region"}, Filters: map[string]query.Filter{"issues": where(t, `{"archived": false}`)}}}},
		Stdio: identity.Principal{ID: "stdio", Name: "desk", Kind: identity.Agent, Owner: "ada@example.org", Tenant: "acme",
			Scopes: []identity.Scope{identity.Read, identity.Schema}, Claims: value.OfObject([]value.Member{{Name: "region", Value: value.OfString("north")}}),
			Tools: identity.List{Only: []string{"query_class", "get_schema"}, Except: []string{"get_schema"}}, Actions: identity.List{Only: []string{"issues.close"}, Except: []string{"refund"}}, Classes: identity.List{Only: []string{"issues"}, Except: []string{"comments"}},
			Filters: map[string]query.Filter{"default": where(t, `{"archived": false, "owner": {"$cel": "principal.owner"}}`)}},
		Server: config.Server{URL: "https://gate.example", Origins: []string{"https://app.example"}, Hosts: []string{"agents.example"}, MaxBody: 2_000_000, Concurrency: 32,
			Queue: -1, Streams: 3000, Heartbeat: 5 * time.Second, Drain: 10 * time.Second, Connections: config.Connections{Max: 500, Each: 100}, Sessions: config.Sessions{Idle: 10 * time.Minute, Max: 50, Each: 5},
			Metrics: config.Metrics{Listen: "127.0.0.1:9464"}},
		Log:      config.Log{Level: slog.LevelWarn, Text: true, Quiet: true},
		Accounts: config.Accounts{Key: sequence(0), Previous: sequence(255)},
		Audit: config.Audit{Key: []byte("swordfish swordfish swordfish 32"), Every: 50 * time.Millisecond,
			Archive: config.Archive{Folder: "/etc/bailiwick/old", After: 90 * 24 * time.Hour}},
		Telemetry: config.Telemetry{Traces: true, Sample: 0.25, Environment: true,
			OTLP: config.OTLP{Endpoint: "https://collector.example:4318", Headers: map[string]string{"authorization": "Bearer hunter2"}}},
		Notifications: config.Notifications{URL: "https://gate.example", Hooks: []webhook.Hook{{Name: "ops", URL: "https://hooks.example/bailiwick",
			Secret: func() []byte { b, _ := webhook.Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"); return b }(),
			Events: []change.EventKind{change.EventCreated, change.EventApplied}, Form: webhook.Webhook, Attempts: 5,
			When: condition(t, `change.op == "delete"`), Tenant: "acme", As: webhook.Person{Owner: "ben", Tenant: "acme"}, People: map[string]webhook.Person{"U1": {Owner: "ben", Tenant: "acme"}},
			Quiet: &webhook.Quiet{From: 22 * 60, To: 7 * 60, Zone: "Europe/Berlin"}}, {Name: "ana", Form: webhook.Email, To: "ana@example.com", Digest: time.Hour}},
			Mail: webhook.MailServer{Host: "mail.example", Port: 587, User: "u", Password: "p", From: "Gate <gate@example.com>"}},
		Queries: []declared.Declaration{
			{Name: "issues_of", Title: "Issues of one organisation", Description: "Open issues of one organisation, newest first", SQL: "SELECT id, title FROM issues WHERE org_id = :org", Source: "tracker",
				Input: object(t, `{"required":["org"],"properties":{"org":{"type":"string"}}}`), Limit: 50, Tool: true, When: `"read" in principal.scopes`, Example: object(t, `{"org":"acme"}`)},
			{Name: "found", Find: object(t, `{"class":"issues","where":{"title":{"$input":"text"}}}`), Input: object(t, `{"properties":{"text":{"type":"string"}}}`)},
			{Name: "counted", Pipeline: object(t, `{"class":"issues","stages":[{"$count":"n"}]}`)},
			{Name: "own", Source: "tracker", Native: "SELECT count(*) AS n, max(title) AS title FROM issues WHERE org_id = :tenant",
				Returns:    []policy.ReturnedColumn{{Name: "n", Type: schema.Integer}, {Name: "title", Type: schema.String, Mask: policy.Partial}},
				Parameters: object(t, `{"tenant":{"$cel":"principal.tenant"}}`)},
		},
		Actions: []action.Declaration{
			{Name: "close", On: "tracker.issues", Title: "Close it", Description: "Closes an issue", Do: action.Update,
				Input:     object(t, `{"required": ["issue"], "properties": {"issue": {"type": "string"}, "size": {"type": "number", "default": 1.50}}}`),
				Record:    object(t, `{"$cel": "input.issue"}`),
				Set:       object(t, `{"status": "closed", "meta": {"by": {"$cel": "principal.id"}}}`),
				Permitted: []string{"title"}, Permission: identity.Delete, DryRun: true, Review: write.Review, Tool: true,
				Transitions: map[string]map[string][]string{"status": {"open": {"closed"}, "closed": {}}},
				Lookup:      map[string]action.Lookup{"parent": {Class: "issues", ID: object(t, `{"$cel": "record.parent"}`)}},
				Require:     []action.Requirement{{That: "parent == null", Message: "it has a parent", Field: "issue"}},
				Summary:     object(t, `{"$cel": "\"Close \" + record.title"}`)},
			{Name: "recount", On: "tracker.issues", Do: action.SQL, Statement: "UPDATE issues SET n = 1", CheckAgainst: writes.Declaration{Class: "local.keys"}},
			{Name: "repay", On: "comments", Do: action.Cloud, Function: "refund"},
			{Name: "refund", On: "comments", Do: action.HTTP, API: "billing", Operation: "refund",
				CheckAgainst: writes.Declaration{Class: "issues", Fields: map[string]string{"why": "body", "who": "owner"}, Record: writes.CheckNew}},
		},
		Metrics: []metric.Declaration{
			{Name: "points", On: "issues", Measure: "sum(estimate)", Where: query.Compare{Path: query.Path{"status"}, Op: query.Eq, Value: value.OfString("done"), At: "/metrics/points/where/status"}, Time: "created_at", Unit: "points",
				Description: "Work that is done.", Dimensions: []string{"status", "assignee_id.name"}, When: `principal.tenant == "acme"`},
			{Name: "done", On: "issues", Measure: "count()"},
			{Name: "size", Ratio: []string{"points", "done"}},
		},
		Review: config.Review{Single: true, Edit: true, Life: 12 * time.Hour},
	}
	got, err := config.Parse("/etc/bailiwick/bailiwick.yaml", []byte(full(t)), env)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Rules.Version) != 32 || got.Rules.Version == config.Digest(want.Rules) {
		t.Error("the version doesn't tell of actions and reviews:", got.Rules.Version)
	}
	want.Rules.Version = got.Rules.Version
	if d := cmp.Diff(want, got, same); d != "" {
		t.Error(d)
	}
}

// TestLeast parses a minimal file and checks that everything else is the zero value.
func TestLeast(t *testing.T) {
	want := &config.Config{Sources: []config.Source{{Name: "app", URL: "sqlite:app.db"}}}
	want.Rules.Version = config.Digest(policy.Rules{})
	for _, text := range []string{
		"sources: {app: {url: sqlite:app.db}}",
		"\ufeff# a comment\r\nsources:\r\n  app:\r\n    url: 'sqlite:app.db'\r\n",
		"---\nsources:\n  \"app\":\n    url: >-\n      sqlite:app.db\n...\n",
		`{"sources": {"app": {"url": "sqlite:app.db"}}}`,
	} {
		got, err := config.Parse("bailiwick.yaml", []byte(text), env)
		if err != nil {
			t.Errorf("%s\n%v", text, err)
		} else if d := cmp.Diff(want, got, same); d != "" {
			t.Errorf("%s\n%s", text, d)
		}
	}
}

// TestExpressionsDocument reads the example in docs/expressions.md.
func TestExpressionsDocument(t *testing.T) {
	doc, err := os.ReadFile("../../docs/expressions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	c, err := config.Parse("bailiwick.yaml", []byte(example), env)
	if !ok || err != nil || c.Rules.Classes["issues"].Tenant.Bypass == "" || c.Stdio.Filters["issues"] == nil {
		t.Errorf("%v\n%s", err, example)
	}
}

func TestDemo(t *testing.T) {
	c, err := config.Parse("bailiwick.yaml", []byte(demo.Config), env)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Rules.Classes) != 8 || c.Rules.Unlisted {
		t.Errorf("%d classes have rules, unlisted %t; want all 8 and hidden", len(c.Rules.Classes), c.Rules.Unlisted)
	}
}

// TestSecrets checks expanded values. The right side is the resulting Store.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	for name, contents := range map[string]string{"where": "sqlite:/secret.db\n", "part": "part\r\n", "odd": "p@:/?#% [\n", "binary": "\x00", "huge": strings.Repeat("x", 70_000)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(contents), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for store, want := range map[string]string{
		"sqlite:/${LEVEL}.db":        "sqlite:/warn.db",
		"sqlite:/$${LEVEL}.db":       "sqlite:/${LEVEL}.db",
		"sqlite:/$LEVEL$.db":         "sqlite:/$LEVEL$.db",
		"sqlite:/a${EMPTY}b${LEVEL}": "sqlite:/abwarn",
		"file:where":                 "sqlite:/secret.db",
		"file:" + dir + "/where":     "sqlite:/secret.db",
		"${file:where}":              "sqlite:/secret.db",
		"sqlite:/${file:part}.db":    "sqlite:/part.db",
		"sqlite:rel.db":              "sqlite:" + dir + "/rel.db",
		"sqlite:///abs.db":           "sqlite:/abs.db",
		"sqlite::memory:":            "sqlite::memory:",
		"sqlite:/${NONE}":            "the environment variable NONE is not set",
		"sqlite:/${NONE:-x}":         "${NONE:-x} does not name an environment variable or a file. Write $${ for a plain ${",
		"sqlite:/${":                 "${ is not closed. Write $${ for a plain ${",
		"sqlite:/${BINARY}":          "the environment variable BINARY does not hold plain text",
		"file:none":                  "the file none can't be read: no such file or directory",
		"${file:none}":               "the file none can't be read: no such file or directory",
		"file:.":                     "the file . can't be read: it is not an ordinary file",
		"file:binary":                "the file binary does not hold plain text. If it is an SQLite database, write sqlite: and its path",
		"file:huge":                  "the file huge can't be read: it is larger than 65536 bytes",
		"file:":                      "file: needs a path",
		"${SCHEME}":                  "must be sqlite:path or postgres://user:password@host/database",
		"postgresql://u:p@h/db":      "postgresql://u:p@h/db",

		// In a URL, a value is percent-encoded, so that it can't change the other parts.
		"postgres://u:${ODD}@h/db":                       "postgres://u:p%40%3A%2F%3F%23%25%20%5B@h/db",
		"postgres://${ODD}:${file:odd}@h/db":             "postgres://p%40%3A%2F%3F%23%25%20%5B:p%40%3A%2F%3F%23%25%20%5B@h/db",
		"postgres://u:p@${HOST}/db":                      "postgres://u:p@db.example:5432/db",
		"postgres://u:p@${ODD}/db":                       "the value stands for the host of a URL, and no host contains /, ?, #, @ or a space",
		"postgres://u:p@h/${FOLDER}":                     "postgres://u:p@h/a%20b/c",
		"postgres://u:p@h/db?application_name=${FOLDER}": "postgres://u:p@h/db?application_name=a%20b%2Fc",
		"${URL}":                    "postgres://u:p%40@h/db",
		"postgres://u:secret@h%/db": "is not a URL such as postgres://user:password@host/database. Write reserved characters in a password as %XX",
	} {
		text := "store: '" + store + "'\nsources: {app: {url: 'sqlite:/app.db'}}\n"
		c, err := config.Parse(filepath.Join(dir, "bailiwick.yaml"), []byte(text), env)
		got := ""
		if faults, ok := errors.AsType[*config.Error](err); ok && len(faults.Faults) == 1 {
			got = faults.Faults[0].Message
		} else if err == nil {
			got = c.Store
		}
		if got != want {
			t.Errorf("%s: got %s, want %s (%v)", store, got, want, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error tells a secret: %v", store, err)
		}
	}
}

// TestDigest changes each field of the rules in turn and checks that the digest changes each time.
func TestDigest(t *testing.T) {
	seen := map[string]string{config.Digest(policy.Rules{}): "nothing"}
	note := func(what string, r policy.Rules) {
		d := config.Digest(r)
		if other, ok := seen[d]; ok {
			t.Errorf("%s has the digest of %s", what, other)
		}
		seen[d] = what
	}
	note("Unlisted", policy.Rules{Unlisted: true})
	note("RefuseScans", policy.Rules{RefuseScans: true})
	note("Bounds", policy.Rules{Bounds: policy.Bounds{Joins: 3}})
	note("AgentBounds", policy.Rules{AgentBounds: []policy.AgentBound{{When: "true", Bounds: policy.Bounds{Joins: 3}}}})
	note("AgentBounds of others", policy.Rules{AgentBounds: []policy.AgentBound{{When: "false", Bounds: policy.Bounds{Joins: 3}}}})
	note("Disclose", policy.Rules{Disclose: true})
	note("Schemas", policy.Rules{Schemas: map[string]string{"app": "principal.tenant"}})
	note("Pointers", policy.Rules{Pointers: true})
	for _, g := range []policy.Gates{{Writes: policy.Off}, {Writes: policy.On}, {RawWrites: policy.Review}, {SchemaWrites: policy.Review}} {
		note(fmt.Sprint(g), policy.Rules{Gates: g})
	}
	if config.Digest(policy.Rules{Gates: policy.Gates{}.WithDefaults()}) != config.Digest(policy.Rules{}) {
		t.Error("gates that are written out as they are anyway make another digest")
	}
	note("an empty rule", policy.Rules{Classes: map[string]policy.ClassRule{"a": {}}})
	kind := reflect.TypeFor[policy.ClassRule]()
	for i := range kind.NumField() {
		var rule policy.ClassRule
		switch f := reflect.ValueOf(&rule).Elem().Field(i); f.Interface().(type) {
		case bool:
			f.SetBool(true)
		case string, identity.Scope:
			f.SetString("x")
		case []string:
			f.Set(reflect.ValueOf([]string{"x"}))
		case *policy.TenantRule:
			f.Set(reflect.ValueOf(&policy.TenantRule{Field: "x"}))
		case map[string]policy.FieldRule:
			f.Set(reflect.ValueOf(map[string]policy.FieldRule{"x": {}}))
		case map[string]identity.Scope:
			f.Set(reflect.ValueOf(map[string]identity.Scope{"x": identity.Operator}))
		case map[write.Op]write.Mode:
			f.Set(reflect.ValueOf(map[write.Op]write.Mode{write.OpCreate: write.Allow}))
		case map[string]schema.Form:
			f.Set(reflect.ValueOf(map[string]schema.Form{"x": schema.JSONText}))
		case map[string]policy.Pointer:
			f.Set(reflect.ValueOf(map[string]policy.Pointer{"x": {Class: "y"}}))
		case map[string][]policy.Pattern:
			f.Set(reflect.ValueOf(map[string][]policy.Pattern{"x": {"email"}}))
		case []policy.Example:
			f.Set(reflect.ValueOf([]policy.Example{{Question: "x"}}))
		case []policy.Pattern:
			f.Set(reflect.ValueOf([]policy.Pattern{"email"}))
		case map[string]policy.Mask:
			f.Set(reflect.ValueOf(map[string]policy.Mask{"x": policy.Hash}))
		default:
			if kind.Field(i).Name != "Canonical" {
				t.Fatalf("ClassRule.%s: this test doesn't know how to set a %s", kind.Field(i).Name, kind.Field(i).Type)
			}
			rule.Canonical = where(t, `{"a": 1}`)
		}
		note(kind.Field(i).Name, policy.Rules{Classes: map[string]policy.ClassRule{"a": rule}})
	}
	note("another canonical filter", policy.Rules{Classes: map[string]policy.ClassRule{"a": {Canonical: where(t, `{"a": 9007199254740993}`)}}})
	for _, text := range []string{`{"a": {"$cel": "principal.id"}}`, `{"a": {"$cel": "principal.owner"}}`, `{"a": {"$ne": {"$cel": "principal.id"}}}`} {
		note(text, policy.Rules{Classes: map[string]policy.ClassRule{"a": {Canonical: where(t, text)}}})
	}
	for _, e := range []policy.Example{{SQL: "SELECT 1"}, {Tool: "a"}, {Tool: "a", Arguments: object(t, `{"b": 1}`)}, {Tool: "a", Arguments: object(t, `{"b": 2}`)}} {
		note(fmt.Sprint("example ", e), policy.Rules{Classes: map[string]policy.ClassRule{"a": {Examples: []policy.Example{e}}}})
	}
	for _, rule := range []policy.TenantRule{{Field: "x", Is: "principal.id"}, {Field: "x", Is: "principal.owner"}, {Field: "x", Bypass: "true"}, {Field: "x", Bypass: "false"}} {
		note(fmt.Sprint("tenant ", rule), policy.Rules{Classes: map[string]policy.ClassRule{"a": {Tenant: &rule}}})
	}
	note("one next to it", policy.Rules{Classes: map[string]policy.ClassRule{"a": {Canonical: where(t, `{"a": 9007199254740992}`)}}})

	if config.Digest(policy.Rules{Version: "x"}) != config.Digest(policy.Rules{}) {
		t.Error("the version takes part in the digest")
	}
	a := "sources: {s: {url: sqlite:x}}\nclasses: {s.a: {denied: [x], canonical: {a: 1}}, s.b: {}}\n"
	b := "# other\nclasses:\n  s.b: {}\n  s.a:\n    canonical: {\"a\": 1}\n    denied:\n    - x\nsources: {s: {url: 'sqlite:y'}}\n"
	var versions []string
	for _, text := range []string{a, b} {
		c, err := config.Parse("f.yaml", []byte(text), env)
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, c.Rules.Version)
	}
	if versions[0] != versions[1] || len(versions[0]) != 32 {
		t.Errorf("the same rules written otherwise: %q", versions)
	}
	// Actions and reviews are also part of the version.
	for _, more := range []string{"", "review: [{when: 'true'}]", "review: [{when: 'false'}]", "review: [{when: 'true', approvals: 2}]", "review: {single_operator: true}", "review: {life: 2h}",
		"actions: {x: {on: s.b, do: delete}}", "actions: {x: {on: s.a, do: delete}}", "actions: {y: {on: s.b, do: delete}}", "actions: {x: {on: s.b, do: update, set: {a: 1}}}",
		"actions: {x: {on: s.b, do: update, set: {a: 2}}}", "actions: {x: {on: s.b, do: delete, lookup: {p: {class: a, id: 1}}}}", "actions: {x: {on: s.b, do: delete, lookup: {p: {class: a, id: 2}}}}",
		"actions: {x: {on: s.b, do: delete, transitions: {a: {b: [c]}}}}", "actions: {x: {on: s.b, do: delete, require: [{that: 'true', message: m}]}}"} {
		c, err := config.Parse("f.yaml", []byte(a+more+"\n"), env)
		if err != nil {
			t.Fatal(more, err)
		}
		if other, ok := seen[c.Rules.Version]; ok {
			t.Errorf("%q has the version of %q", more, other)
		}
		seen[c.Rules.Version] = more
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bailiwick.yaml")
	if _, err := config.Load(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := config.Load(dir); err == nil {
		t.Error("a folder: no error")
	}
	t.Setenv("BAILIWICK_TEST_NAME", "app")
	for text, want := range map[string]string{
		"sources: {a: {url: 'sqlite:${BAILIWICK_TEST_NAME}.db'}}": "",
		"#" + strings.Repeat("x", 1<<20):                          path + ": the file is larger than 1048576 bytes",
		"\xff":                                                    path + ": the file is not UTF-8 text",
		"a: \x00":                                                 path + ": the file holds a NUL character",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(path)
		switch {
		case err == nil && want == "":
			if c.Sources[0].URL != "sqlite:"+dir+"/app.db" {
				t.Errorf("the source is at %s", c.Sources[0].URL)
			}
		case err == nil || err.Error() != want:
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// TestWrong checks faults reported after reading.
func TestWrong(t *testing.T) {
	c, err := config.Parse("bailiwick.yaml", []byte("sources: {s: {url: sqlite:x}}\nclasses:\n  s.a: {visible: [id, nme]}\n"), env)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		path []string
		want string
	}{
		{[]string{"classes", "s.a", "visible", "1"}, "bailiwick.yaml:3:23: classes.s.a.visible.1: no\n    3 |   s.a: {visible: [id, nme]}\n      |                       ^"},
		{[]string{"classes", "s.a", "denied", "0"}, "bailiwick.yaml:3:3: classes.s.a.denied.0: no\n    3 |   s.a: {visible: [id, nme]}\n      |   ^"},
		{[]string{"tools"}, "bailiwick.yaml:1:1: tools: no\n    1 | sources: {s: {url: sqlite:x}}\n      | ^"},
		{nil, "bailiwick.yaml:1:1: no\n    1 | sources: {s: {url: sqlite:x}}\n      | ^"},
	} {
		if got := c.Wrong("no", row.path...).String(); got != row.want {
			t.Errorf("%v: got\n%s\nwant\n%s", row.path, got, row.want)
		}
	}
	if got := new(config.Config).Wrong("no", "classes").String(); got != ": classes: no" {
		t.Errorf("of a configuration without a file: %q", got)
	}
}

// TestWritableByOthers checks that notes name files that every user can write: the configuration, included files, and
// secrets.
func TestWritableByOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("LEFT OUT: Windows has no such bit")
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, contents := range map[string]string{"bailiwick.yaml": "include: [more.yaml]\nstore: 'file:store'\nsources: {app: {url: 'sqlite:/${file:name}.db'}}\n", "more.yaml": "classes: {app.x: {}}\n", "store": "sqlite:/s.db", "name": "app"} {
		if err := os.WriteFile(path(name), []byte(contents), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, writable := range [][]string{nil, {"store"}, {"name"}, {"bailiwick.yaml"}, {"more.yaml"}, {"store", "name"}} {
		var want []string
		for _, name := range writable {
			if err := os.Chmod(path(name), 0o662); err != nil {
				t.Fatal(err)
			}
			want = append(want, "every user of this machine can write "+path(name)+": chmod o-w "+path(name))
		}
		c, err := config.Load(path("bailiwick.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(c.Notes, want) {
			t.Errorf("%q: got %q", writable, c.Notes)
		}
		for _, name := range writable {
			if err := os.Chmod(path(name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
