package parse_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/query"
)

// shopRows are queries on the shop, and the answer for each posture. "-" means a class that the posture can't see.
var shopRows = []struct {
	question string
	ask      func(t *testing.T) query.Query
	answers  map[string]string
}{
	{"how many orders", func(*testing.T) query.Query { return &query.Count{Class: "Order"} },
		map[string]string{"public": "-", "session alice": "14", "user bob": "13", "role support": "40", "role admin": "40", "master": "40"}},
	{"how many notes", func(*testing.T) query.Query { return &query.Count{Class: "Note"} },
		map[string]string{"public": "-", "session alice": "-", "user sam": "5", "session ada": "5", "role support": "5", "role admin": "5", "master": "5"}},
	{"messages, which their recipients see", func(*testing.T) query.Query { return &query.Count{Class: "Message"} },
		map[string]string{"public": "-", "session alice": "2", "user bob": "1", "session carol": "0", "role support": "-", "master": "3"}},
	{"a protected field", func(t *testing.T) query.Query {
		return &query.Find{Class: "Product", Where: where(t, `{"cost":{"$lte":3}}`), Keys: []query.Path{{"name"}}, Limit: 5, Order: []query.Sort{{Path: query.Path{"name"}}}}
	}, map[string]string{"public": "unknown field", "session alice": "unknown field", "role support": "unknown field", "session ada": `"Hammer" | "Saw"`, "role admin": `"Hammer" | "Saw"`, "master": `"Hammer" | "Saw"`}},
	{"another one", func(t *testing.T) query.Query {
		return &query.Count{Class: "Order", Where: where(t, `{"margin":{"$lt":3}}`)}
	},
		map[string]string{"session alice": "unknown field", "user sam": "3", "role support": "3", "role admin": "3"}},
	{"behind a pointer", func(t *testing.T) query.Query {
		return &query.Find{Class: "Product", Where: where(t, `{"category.name":"Tools","name":{"$regex":"^[DS]"}}`), Keys: []query.Path{{"name"}}, Limit: 5, Order: []query.Sort{{Path: query.Path{"price"}, Desc: true}}}
	}, map[string]string{"public": `"Drill" | "Saw"`, "session alice": `"Drill" | "Saw"`, "master": `"Drill" | "Saw"`}},
	{"the newest", func(*testing.T) query.Query {
		return &query.Find{Class: "Order", Keys: []query.Path{{"placed"}}, Limit: 1, Order: []query.Sort{{Path: query.Path{"placed"}, Desc: true}}}
	}, map[string]string{"session alice": `"2026-10-22T00:00:00Z" | "2026-10-10T00:00:00Z"`, "role support": `"2026-12-24T00:00:00Z" | "2026-12-12T00:00:00Z"`}},
	{"a group", func(t *testing.T) query.Query {
		return pipeline(t, "Order", `[{"$match":{"total":{"$gt":10}}},{"$group":{"_id":"$status","n":{"$sum":1},"sum":{"$sum":"$total"}}}]`)
	}, map[string]string{"session alice": `"paid" 3 165 | "returned" 4 200 | "shipped" 3 180`,
		"role support": `"open" 6 120 | "paid" 10 330 | "returned" 10 860 | "shipped" 10 570`}},
	{"a join through the views", func(t *testing.T) query.Query {
		return pipeline(t, "Note", `[{"$lookup":{"from":"Order","localField":"about","foreignField":"objectId","as":"o"}},{"$unwind":"$o"},{"$group":{"_id":null,"sum":{"$sum":"$o.total"}}}]`)
	}, map[string]string{"session alice": "-", "role support": "null 115"}},
	{"users", func(*testing.T) query.Query {
		return &query.Find{Class: "_User", Keys: []query.Path{{"username"}}, Limit: 9}
	},
		map[string]string{"public": "", "session alice": `"alice"`, "role support": ""}},
}

// TestShop runs the queries in every posture, over REST and from the shop's database.
func TestShop(t *testing.T) {
	s := start(t)
	for _, direct := range []string{"", s.Database} {
		askers := map[string]*asker{}
		for _, tt := range shopRows {
			for posture, want := range tt.answers {
				if askers[posture] == nil {
					askers[posture] = s.open(posture, direct, nil)
				}
				a := askers[posture]
				plan, rows, err := a.read(tt.ask(t))
				for i := range rows {
					if plan.Unique && !plan.Count && plan.Program == nil {
						rows[i] = rows[i][1:len(plan.Columns)] // without the key and the order
					}
				}
				got := strings.TrimSuffix(strings.ReplaceAll(shown(rows, err), "\n", " | "), " | ")
				switch {
				case err != nil && strings.Contains(got, "there is no class"):
					got = "-"
				case err != nil && strings.Contains(got, "unknown field"):
					got = "unknown field"
				}
				if got != want {
					t.Errorf("%s, %s, direct %v: %s; want %s", tt.question, posture, direct != "", got, want)
				}
			}
		}
	}
}
