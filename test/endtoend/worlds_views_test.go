package endtoend

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// viewsOf returns statements that create views on the tables of the worlds. They use other views, UNION, groups,
// ORDER and LIMIT, and expressions on denied and masked columns. The views of a twin lack the columns that depend on
// missing columns. Conditions and limits use only data that every principal sees, because a view shows what its owner
// selects.
func viewsOf(twin bool) []string {
	unless := func(text string) string {
		if twin {
			return ""
		}
		return text
	}
	return []string{
		"CREATE VIEW open_issues AS SELECT id, org_id, title, upper(status) AS shout, points, extra" +
			unless(", coalesce(internal_note, title) AS remark, CASE WHEN score > 2 THEN title ELSE status END AS hot, score") + " FROM issues WHERE deleted_at IS NULL",
		"CREATE VIEW dials AS SELECT id, org_id, name, role, age, lower(phone) AS dial, coalesce(alias, name) AS called, upper(about) AS tale, born" +
			unless(", CASE WHEN rank > 1 THEN 'high' ELSE 'low' END AS level, upper(email) AS mail") + " FROM users",
		"CREATE VIEW loud_dials AS SELECT org_id, role, max(dial) AS last_dial, count(*) AS n" + unless(", max(mail) AS top") + " FROM dials GROUP BY org_id, role",
		"CREATE VIEW voices AS SELECT org_id, title AS said, points AS n" + unless(", remark AS more") + " FROM open_issues UNION ALL SELECT org_id, name, age" + unless(", mail") + " FROM dials",
		"CREATE VIEW names AS SELECT org_id, name FROM dials UNION SELECT org_id, title FROM issues",
		"CREATE VIEW first_labels AS SELECT id, name FROM labels ORDER BY id LIMIT 3",
		"CREATE VIEW label_ranks AS SELECT name, count(*) AS n FROM first_labels GROUP BY name UNION SELECT 'none', 0",
	}
}

// viewRules returns the rules of the worlds with additional rules for the views.
func viewRules(twin bool) policy.Rules {
	r := rules(twin)
	for _, name := range []string{"open_issues", "dials", "loud_dials", "voices", "names"} {
		r.Classes[name] = policy.ClassRule{Tenant: &policy.TenantRule{Field: "org_id"}}
	}
	r.Classes["first_labels"], r.Classes["label_ranks"] = policy.ClassRule{}, policy.ClassRule{}
	return r
}

// viewProfile returns a profile whose filters have the same effect on views as on tables. It excludes views that have
// no column to filter by.
func viewProfile(p profile) profile {
	if p.who.Filters == nil {
		return p
	}
	p.who.Filters = map[string]query.Filter{"issues": p.who.Filters["issues"], "users": p.who.Filters["users"], "dials": p.who.Filters["users"], "loud_dials": p.who.Filters["users"],
		"open_issues": query.Compare{Path: query.Path{"score"}, Op: query.Ne, Value: value.OfInt(3)}}
	p.who.Classes = identity.List{Except: []string{"voices", "names"}}
	return p
}

// TestNonInterferenceViews tests non-interference for database views. Denied or masked data of a table and records of
// other tenants must not change anything that a principal receives through a view.
func TestNonInterferenceViews(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T, name string, twin bool) side{
		"SQLite":     sqliteSide,
		"PostgreSQL": func(t *testing.T, _ string, twin bool) side { return postgresSide(t, twin) },
		"MariaDB":    func(t *testing.T, _ string, twin bool) side { return mariadbSide(t, twin) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sides := []side{open(t, "one", false), open(t, "other", false), open(t, "twin", true)}
			for i := range sides {
				if err := sides[i].exec(viewsOf(sides[i].twin)); err != nil {
					t.Fatal(err)
				}
				if err := sides[i].puts(t, viewRules(sides[i].twin)); err != nil {
					t.Fatal(err)
				}
			}
			differ, got := 0, tally{}
			for seed := firstSeed(t); got.pairs < pairs(t, 4_000) && differ < 3; seed++ {
				differ += viewWorld(t, seed, sides, &got)
			}
			t.Logf("%+v", got)
			if differ == 0 && (got.answered < got.calls/3 || got.records < got.calls/20) {
				t.Errorf("too little was compared: %+v", got)
			}
		})
	}
}

// viewWorld compares calls in one world and returns the number of different answers.
func viewWorld(t *testing.T, seed uint64, sides []side, got *tally) (differ int) {
	r := rand.New(rand.NewPCG(seed, 38))
	m := &maker{r, viewProfile(profiles()[r.IntN(3)])}
	seen := m.visible()
	if m.noTwin {
		sides = sides[:2:2]
	}
	for i, s := range sides {
		w := seen
		if i < 2 {
			w = m.whole(seen)
		}
		if err := s.loads(w); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	a := &asker{Rand: r, views: []string{"open_issues", "dials", "loud_dials", "voices", "names", "first_labels", "label_ranks"}}
	for range 60 {
		if wrong := compare(sides, m.who, a.call(), got); wrong != "" {
			t.Errorf("seed %d: %s", seed, wrong)
			differ++
		}
	}
	return differ
}

// TestNonInterferenceViewsCanFail checks that the comparison detects leaks through views.
func TestNonInterferenceViewsCanFail(t *testing.T) {
	for name, spoil := range map[string]func(policy.Rules){
		"a view without its tenant": func(r policy.Rules) { r.Classes["voices"] = policy.ClassRule{} },
		"a denied field through a union": func(r policy.Rules) {
			r.Classes["voices"] = policy.ClassRule{Tenant: r.Classes["voices"].Tenant, Visible: []string{"org_id", "more"}, Lift: []string{"more"}}
		},
		"a masked field in an expression": func(r policy.Rules) {
			r.Classes["dials"] = policy.ClassRule{Tenant: r.Classes["dials"].Tenant, Visible: []string{"org_id", "dial"}, Lift: []string{"dial"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			spoiled := viewRules(false)
			spoil(spoiled)
			sides := []side{sqliteSide(t, "one", false), sqliteSide(t, "other", false)}
			for i := range sides {
				if err := sides[i].exec(viewsOf(false)); err != nil {
					t.Fatal(err)
				}
				if err := sides[i].puts(t, spoiled); err != nil {
					t.Fatal(err)
				}
			}
			for seed := range uint64(60) {
				r := rand.New(rand.NewPCG(seed, 2))
				m := &maker{r, profiles()[0]}
				seen := m.visible()
				for _, s := range sides {
					if err := s.loads(m.whole(seen)); err != nil {
						t.Fatal(err)
					}
				}
				a := &asker{Rand: r, views: []string{"voices", "dials"}}
				for range 50 {
					if wrong := compare(sides, m.who, a.call(), &tally{}); wrong != "" && !strings.Contains(wrong, "FAILED") {
						return
					}
				}
			}
			t.Error("3,000 calls, and no difference was found")
		})
	}
}
