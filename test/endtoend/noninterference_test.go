package endtoend

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/prompt"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/jackc/pgx/v5"
)

// pairs returns the number of compared calls for each source. In short mode it is a fifth. BAILIWICK_SOAK overrides
// it.
func pairs(t testing.TB, most int) int {
	if s := os.Getenv("BAILIWICK_SOAK"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if testing.Short() {
		return most / 5 // as rapid does in short mode
	}
	return most
}

// firstSeed returns the seed of the random draws. Without BAILIWICK_SEED it is always the same, so that a failure is
// caused by the current change. Long runs consist of parts with different seeds.
func firstSeed(t testing.TB) uint64 {
	s := os.Getenv("BAILIWICK_SEED")
	if s == "" {
		return 0
	}
	seed, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal("BAILIWICK_SEED: ", err)
	}
	return seed
}

// A side is one database with the complete stack.
type side struct {
	twin    bool
	exec    func(statements []string) error
	fill    func(world) error // replaces exec for a source without SQL
	source  source.Source
	schema  string // the rule for everybody's schema, or "" for a source with one schema
	set     *tool.Set
	prompts *prompt.Set
}

// TestNonInterferenceSQLite tests non-interference as a property. Changing data outside the view must not change
// anything that the principal receives.
func TestNonInterferenceSQLite(t *testing.T) {
	t.Parallel()
	interfere(t, func(name string, twin bool) side { return sqliteSide(t, name, twin) })
}

func sqliteSide(t *testing.T, name string, twin bool) side {
	path := filepath.Join(t.TempDir(), name+".db")
	db, err := sql.Open("sqlite", path+"?_pragma=synchronous(0)&_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	words, again := sqliteWords(twin)
	exec := func(statements []string) error {
		_, err := db.ExecContext(t.Context(), "BEGIN;"+strings.Join(append(statements, again...), ";")+";COMMIT")
		return err
	}
	if _, err := db.ExecContext(t.Context(), ddl(map[string]string{"%json": "JSON", "%time": "TIMESTAMP", "%uuid": "UUID", "%double": "DOUBLE",
		"%inet": "TEXT", "%cidr": "TEXT", "%interval": "TEXT", "%clock": "TEXT", "%money": "DECIMAL(19, 2)", "%lexemes": "TEXT"}, twin)+words); err != nil {
		t.Fatal(err)
	}
	src, err := sqlite.Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return side{twin: twin, exec: exec, source: src}
}

func TestNonInterferencePostgres(t *testing.T) {
	t.Parallel()
	interfere(t, func(_ string, twin bool) side { return postgresSide(t, twin) })
}

// unreadable replaces instants of the worlds, in visible and in hidden records, by values that expressions read as
// null.
var unreadable = strings.NewReplacer("'1969-12-31 23:59:59'", "'infinity'", "'0001-01-01 00:00:00'", "'-infinity'")

func postgresSide(t *testing.T, twin bool) side {
	url := services.Postgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	exec := func(statements []string) error {
		_, err := conn.PgConn().Exec(t.Context(), sourcetest.Transliterate(unreadable.Replace(strings.Join(statements, ";")))).ReadAll()
		return err
	}
	// Foreign keys are declared so that there are pointers. They are not enforced, so that some pointers dangle.
	if err := exec([]string{ddl(map[string]string{"%json": "jsonb", "%time": "timestamptz", "%uuid": "uuid", "%double": "double precision",
		"%inet": "inet", "%cidr": "cidr", "%interval": "interval", "%clock": "time", "%money": "money", "%lexemes": "tsvector"}, twin) + postgresWords(twin),
		"SET session_replication_role = replica"}); err != nil {
		t.Fatal(err)
	}
	src, err := postgres.Open(t.Context(), "app", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return side{twin: twin, exec: exec, source: src}
}

// TestNonInterferenceSchemas tests the same property in the schema of one tenant. The sides also differ in the
// contents, the number and the names of other tenants' schemas.
func TestNonInterferenceSchemas(t *testing.T) {
	t.Parallel()
	interfereUpTo(t, pairs(t, 5_000), func(name string, twin bool) side {
		url := services.Postgres(t)
		text := ddl(map[string]string{"%json": "jsonb", "%time": "timestamptz", "%uuid": "uuid", "%double": "double precision",
			"%inet": "inet", "%cidr": "cidr", "%interval": "interval", "%clock": "time", "%money": "money", "%lexemes": "tsvector"}, twin) + postgresWords(twin)
		var conn *pgx.Conn
		schemas := []string{"template", tenantSchema}
		if name == "other" {
			schemas = []string{"template", "odd", "tenant_b", "app", "Ten'ant", tenantSchema}
		}
		for _, schema := range schemas {
			var err error
			if conn, err = pgx.Connect(t.Context(), within(t, url, schema)); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close(context.Background()) })
			all := text
			if schema == "odd" {
				all = strings.Replace(text, "title text", "title varchar(7)", 1)
			}
			if schema != tenantSchema && name == "other" {
				all += "; INSERT INTO orgs VALUES ('acme', 'of another schema'), ('zen', NULL); INSERT INTO labels VALUES (1, 'of another schema'), (900, NULL)"
			}
			for _, s := range []string{`CREATE SCHEMA "` + strings.ReplaceAll(schema, `"`, `""`) + `"`, all, "SET session_replication_role = replica"} {
				if _, err := conn.PgConn().Exec(t.Context(), s).ReadAll(); err != nil {
					t.Fatal(err)
				}
			}
		}
		src, err := postgres.Open(t.Context(), "app", url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { src.Close() })
		src.Divide("template")
		exec := func(statements []string) error {
			_, err := conn.PgConn().Exec(t.Context(), strings.Join(statements, ";")).ReadAll()
			return err
		}
		return side{twin: twin, exec: exec, source: src, schema: tenantRule}
	})
}

func TestNonInterferenceMariaDB(t *testing.T) {
	t.Parallel()
	interfereUpTo(t, pairs(t, mariadbPairs), func(_ string, twin bool) side { return mariadbSide(t, twin) })
}

func mariadbSide(t *testing.T, twin bool) side {
	u := services.MariaDB(t)
	parsed, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := parsed.User.Password()
	db, err := sql.Open("mysql", parsed.User.Username()+":"+password+"@tcp("+parsed.Host+")"+parsed.Path+"?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	exec := func(statements []string) error {
		text := strings.ReplaceAll(strings.Join(statements, ";"), "'1969-12-31 23:59:59'", "'0000-00-00 00:00:00'") // expressions can't read this value
		_, err := db.ExecContext(t.Context(), "BEGIN;"+text+";COMMIT")
		return err
	}
	// Foreign keys are declared so that there are pointers. They are not enforced, so that some pointers dangle.
	if err := exec([]string{"SET foreign_key_checks = 0, sql_mode = 'NO_BACKSLASH_ESCAPES'",
		ddl(map[string]string{" text": " varchar(190)", "%json": "json", "%time": "datetime", "%uuid": "uuid", "%double": "double",
			"%inet": "varchar(50)", "%cidr": "varchar(50)", "%interval": "varchar(50)", "%clock": "time", "%money": "decimal(19, 2)", "%lexemes": "varchar(190)"}, twin) + "SELECT 1"}); err != nil {
		t.Fatal(err)
	}
	src, err := mariadb.Open(t.Context(), "app", u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return side{twin: twin, exec: exec, source: src}
}

// toolsOver opens the complete stack for a source. It returns an error if the rules are invalid.
func toolsOver(t *testing.T, src source.Source, r policy.Rules, metrics ...metric.Declaration) (*tool.Set, *prompt.Set, error) {
	clock := func() time.Time { return time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC) }
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": src}, Rules: r, Metrics: metrics, Queries: queriesFor(t, src, r, metrics), Audit: forgetful{},
		Secret: make([]byte, 32), Budget: 2_000, Now: clock, Limits: limit.Options{PerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		return nil, nil, err
	}
	tools, err := tool.NewSet(g, append(tool.Data(tool.Options{}), tool.QueryTools(g.AllQueries())...)...)
	if err != nil {
		return nil, nil, err
	}
	prompts, err := prompt.NewSet(g, tools, prompt.Builtin()...)
	return tools, prompts, err
}

// puts applies rules. It returns an error if they are invalid.
func (s *side) puts(t *testing.T, r policy.Rules) (err error) {
	if s.fill != nil { // a source with its own types
		c := r.Classes["readings"]
		c.Types = nil
		delete(c.Pointers, "user_ids")
		r.Classes["readings"] = c
	}
	if s.schema != "" {
		r.Schemas = map[string]string{"app": s.schema}
	}
	s.set, s.prompts, err = toolsOver(t, s.source, r, metricsOf(s.twin)...)
	if _, of := errors.AsType[*metric.DeclarationFault](err); of { // rules under which agents lack its fields
		s.set, s.prompts, err = toolsOver(t, s.source, r)
	}
	return err
}

// loads replaces the content of the database by a world.
func (s *side) loads(w world) error {
	if s.fill != nil {
		return s.fill(w)
	}
	return s.exec(w.load(s.twin))
}

// mariadbPairs is the number of compared calls on MariaDB. Each takes twice as long as on PostgreSQL.
const mariadbPairs = 8_000

// A forgetful is an audit log that discards its records.
type forgetful struct{}

func (forgetful) Append(context.Context, *audit.Record) error { return nil }

func interfere(t *testing.T, open func(name string, twin bool) side) {
	interfereUpTo(t, pairs(t, 20_000), open)
}

// interfereUpTo compares at least this many pairs of answers.
func interfereUpTo(t *testing.T, least int, open func(name string, twin bool) side) {
	sides := []side{open("one", false), open("other", false), open("twin", true)}
	for i := range sides {
		if err := sides[i].puts(t, rules(sides[i].twin)); err != nil {
			t.Fatal(err)
		}
	}
	callsPerWorld := 60
	if os.Getenv("BAILIWICK_TOOL") != "" {
		callsPerWorld = 500 // filling PostgreSQL and MariaDB takes most of the time
	}
	differ, got := 0, tally{}
	for seed := firstSeed(t); got.pairs < least && differ < 3; seed++ {
		r := rand.New(rand.NewPCG(seed, 2))
		m := &maker{r, profiles()[r.IntN(3)]}
		seen := m.visible()
		for i, s := range sides[:3] {
			w := seen
			if i < 2 {
				w = m.whole(seen)
			}
			if err := s.loads(w); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if m.noTwin {
			sides = sides[:2:3]
		} else {
			sides = sides[:3]
		}
		for _, other := range sides[1:] {
			if one, other := sides[0].set.Schema(m.who), other.set.Schema(m.who); one != other {
				t.Errorf("seed %d: the instructions differ:\n%s\n%s", seed, one, other)
				differ++
			}
		}
		a := &asker{Rand: r}
		for range callsPerWorld {
			if wrong := compare(sides, m.who, a.call(), &got); wrong != "" {
				t.Errorf("seed %d: %s", seed, wrong)
				differ++
			}
		}
	}
	t.Logf("%+v", got)
	// The test would prove nothing if all calls were refused or empty.
	answered, records, pages := got.calls/3, got.calls/10, got.calls/100
	if testing.Short() { // in a hundred calls, the number of answers varies by a third
		answered, records, pages = answered/2, records/2, got.calls/1000 // two of a hundred calls have a second page, but short runs may have none
	}
	if os.Getenv("BAILIWICK_TOOL") != "" { // a long run of one tool, which may have no pages
		answered, pages = got.calls/5, 0
	}
	if differ == 0 && (got.answered < answered || got.records < records || got.pages < pages) {
		t.Errorf("too little was compared: %+v", got)
	}
	for _, form := range formsAsked() {
		if form == "user_ids.name" && sides[0].fill != nil {
			continue // a type declares its list
		}
		if native := form == "directory" || form == "role_list"; native && (sides[0].fill != nil || sides[0].schema != "") {
			continue // queries in the database's own SQL, which it doesn't have
		}
		if differ == 0 && got.forms[form] == 0 && got.calls >= 100_000 && os.Getenv("BAILIWICK_TOOL") == "" {
			t.Errorf("no call with %s was answered", form)
		}
	}
}

// A tally counts what was compared. forms counts the answered calls by the content of their arguments.
type tally struct {
	calls, pairs, answered, records, pages int
	unread                                 int // answers that report values which their groups omit
	forms                                  map[string]int
}

// formsAsked returns parts of arguments that occur in some answered calls of a long run.
func formsAsked() []string {
	return []string{"made", "meta", "price", "addr", "waited", "cost", "lexemes", "user_ids", "label_ids", "watcher_ids", "$setUnion", "$setIntersection", "$setDifference", "$pow", "$sqrt", "$ln",
		"$log10", "$exp", "$objectToArray", "$arrayToObject", "$arrayElemAt", "watcher_ids.name", "user_ids.name", "label_ids.name", "$setWindowFields", "$percentile", "$lookup", "measured", "directory", "role_list"}
}

// asks counts the forms of an answered call.
func (y *tally) asks(c tool.Request) {
	text := c.Arguments.String()
	for _, form := range formsAsked() {
		if strings.Contains(text, `"`+form+`"`) || strings.Contains(text, `"$`+form+`"`) {
			if y.forms == nil {
				y.forms = map[string]int{}
			}
			y.forms[form]++
		}
	}
}

func (y *tally) add(answer string, page int) {
	y.calls++
	if page > 0 {
		y.pages++
	}
	if strings.HasPrefix(answer, `{"Code"`) {
		return
	}
	y.answered++
	if strings.Contains(answer, "as null in") || strings.Contains(answer, "is null for a group with such") {
		y.unread++
	}
	if strings.Contains(answer, `"org_id":`) || strings.Contains(answer, `"results":[{`) || strings.Contains(answer, `"object":{`) {
		y.records++
	}
}

// compare makes one call on every side and follows its pages. It returns a difference, or "".
func compare(sides []side, p identity.Principal, c tool.Request, got *tally) string {
	answers := make([]string, len(sides))
	for page := range 3 {
		next, took := answerAll(sides, p, c, answers)
		for range 2 { // the machine may have been busy or suspended. A delay that depends on the data would occur again
			if !slices.ContainsFunc(answers, late) && (took < shortest || !differ(answers)) {
				break
			}
			next, took = answerAll(sides, p, c, answers)
		}
		want := answers[0]
		if strings.HasPrefix(want, "FAILED") {
			return fmt.Sprintf("%s asks %s %s: %s", p.ID, c.Name, c.Arguments, want)
		}
		got.add(want, page)
		if !strings.HasPrefix(want, `{"Code"`) {
			got.asks(c)
		}
		got.pairs += len(sides) - 1
		for i, other := range answers[1:] {
			if other != want {
				return fmt.Sprintf("%s asks %s %s\nof side 0: %s\nof side %d: %s", p.ID, c.Name, c.Arguments, want, i+1, other)
			}
		}
		if next.IsNull() {
			return ""
		}
		c.Arguments = next
	}
	return ""
}

// shortest is below every time limit for a part of an answer. Such parts are the notes, the samples of a schema, and
// the search of a class in find_values. A faster answer contains all its parts. Differences between slow answers
// count only if they occur again.
const shortest = time.Second

// differ reports whether the answers are not all the same.
func differ(answers []string) bool {
	return slices.ContainsFunc(answers, func(other string) bool { return other != answers[0] })
}

// late reports whether a call ran into a timeout.
func late(answer string) bool { return strings.HasPrefix(answer, `{"Code":"timeout"`) }

// answerAll makes the call on every side concurrently, because most of the time is spent in the databases. It returns
// the arguments of the first side's next page and the time for all sides.
func answerAll(sides []side, p identity.Principal, c tool.Request, answers []string) (next value.Value, took time.Duration) {
	start := time.Now()
	var others sync.WaitGroup
	for i := range sides[1:] {
		others.Go(func() { answers[i+1], _ = sides[i+1].answer(p, c) })
	}
	answers[0], next = sides[0].answer(p, c)
	others.Wait()
	return next, time.Since(start)
}

// answer returns everything that the principal receives: the result, or the parts of the error that a transport
// sends.
func answer(set *tool.Set, p identity.Principal, c tool.Request) (string, value.Value) {
	res, err := set.Call(context.Background(), p, c)
	if err != nil {
		return refusedAs(err), value.Value{}
	}
	doc, err := value.Read(res.Structured, 0)
	if err != nil {
		return fmt.Sprintf("FAILED %v", err), value.Value{}
	}
	next, _ := doc.Get("next_call")
	args, _ := next.Get("arguments")
	return string(res.Structured) + "\n" + res.Text + "\n" + res.Class, args
}

// TestNonInterferenceCanFail checks that the comparison detects leaks. Each row breaks one rule.
func TestNonInterferenceCanFail(t *testing.T) {
	for name, spoil := range map[string]func(policy.Rules){
		"a class without its tenant": func(r policy.Rules) { r.Classes["users"] = policy.ClassRule{Visible: []string{"id", "name"}} },
		"a hidden field shown": func(r policy.Rules) {
			c := r.Classes["issues"]
			c.Visible = append(slices.Clone(c.Visible), "score")
			r.Classes["issues"] = c
		},
		"a child without its parent": func(r policy.Rules) { r.Classes["comments"] = policy.ClassRule{} },
		"a class without its list of tenants": func(r policy.Rules) {
			r.Classes["shares"] = policy.ClassRule{Visible: []string{"id", "title", "orgs", "owner_id"}}
			r.Classes["parts"] = policy.ClassRule{Visible: []string{"id", "share_id", "note"}}
		},
		"a partial mask taken off": unmasked("users"),
		"a pattern mask taken off": unmask("users", "about"),
		"a pseudonym taken off":    unmask("users", "alias"),
		"a null mask taken off":    unmasked("issues"),
		"without a key":            unmasked("events"),
		"a hidden class shown":     func(r policy.Rules) { r.Classes["vaults"] = policy.ClassRule{} },
	} {
		t.Run(name, func(t *testing.T) {
			spoiled := rules(false)
			spoil(spoiled)
			sides := []side{sqliteSide(t, "one", false), sqliteSide(t, "other", false)}
			for i := range sides {
				if err := sides[i].puts(t, spoiled); err != nil {
					t.Fatal(err)
				}
			}
			for seed := range uint64(40) {
				r := rand.New(rand.NewPCG(seed, 2))
				m := &maker{r, profiles()[0]}
				seen := m.visible()
				for _, s := range sides {
					if err := s.exec(m.whole(seen).load(false)); err != nil {
						t.Fatal(err)
					}
				}
				a := &asker{Rand: r}
				for range 50 {
					if compare(sides, m.who, a.call(), &tally{}) != "" {
						return
					}
				}
			}
			t.Error("2,000 calls, and no difference was found")
		})
	}
}
