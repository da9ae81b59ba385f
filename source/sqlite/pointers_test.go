package sqlite_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestPointers reads classes whose tenant is three pointers away: all pages in both directions, and records by key and by
// pointer. One tenant has nearly all records, one has three that are far apart, one has a run at the end, and one has none.
// A page tests the next records first, and a list of the visible ones only if it isn't full.
func TestPointers(t *testing.T) {
	const all, issues = 6000, 60
	owner := func(comment int) string {
		switch issue := comment % issues; {
		case issue == 7 && (comment == 7 || comment == 3007 || comment == 5947):
			return "few"
		case comment > all-150:
			return "late"
		}
		return "most"
	}
	statements := []string{`CREATE TABLE orgs (id TEXT PRIMARY KEY, name TEXT)`, `CREATE TABLE projects (id INTEGER PRIMARY KEY, org TEXT REFERENCES orgs)`,
		`CREATE TABLE issues (id INTEGER PRIMARY KEY, project INTEGER REFERENCES projects)`,
		`CREATE TABLE comments (id INTEGER PRIMARY KEY, issue INTEGER REFERENCES issues, body TEXT)`,
		`CREATE TABLE notes (id TEXT PRIMARY KEY, issue INTEGER REFERENCES issues, body TEXT)`, `CREATE INDEX of_issue ON comments (issue)`}
	places := map[string]int{"most": 1, "few": 2, "late": 3, "none": 4}
	for name, n := range places {
		statements = append(statements, fmt.Sprintf("INSERT INTO orgs VALUES ('%s', '%s')", name, name), fmt.Sprintf("INSERT INTO projects VALUES (%d, '%s')", n, name))
		for i := range issues {
			statements = append(statements, fmt.Sprintf("INSERT INTO issues VALUES (%d, %d)", n*1000+i, n))
		}
	}
	owned := map[string][]int{}
	var comments, notes []string
	for i := range all {
		at := owner(i)
		owned[at] = append(owned[at], i)
		issue := places[at]*1000 + i%issues
		comments = append(comments, fmt.Sprintf("(%d, %d, '%s')", i, issue, strings.Repeat("x", i%3*4000)))
		notes = append(notes, fmt.Sprintf("('n%05d', %d, 'y')", i, issue))
	}
	statements = append(statements, "INSERT INTO comments VALUES "+strings.Join(comments, ","), "INSERT INTO notes VALUES "+strings.Join(notes, ","))
	src := suite.OpenWith(t, statements...)
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	through := func(field string) policy.ClassRule {
		return policy.ClassRule{Tenant: &policy.TenantRule{Through: field}}
	}
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"orgs": {Tenant: &policy.TenantRule{Field: "id"}},
		"projects": through("org"), "issues": through("project"), "comments": through("issue"), "notes": through("issue")}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	read := func(tenant string, q *query.Find, after []value.Value) []value.Row {
		t.Helper()
		permit, err := p.Read(identity.Principal{ID: "a", Tenant: tenant, Scopes: []identity.Scope{identity.Read}}, q)
		if err == nil && after != nil {
			permit, err = permit.From(policy.Position{After: after})
		}
		if err != nil {
			t.Fatal(err)
		}
		rows, err := sourcetest.Collect(t.Context(), src, permit)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	number := map[string]func(value.Value) int{"comments": func(v value.Value) int { return int(v.Int()) }, "notes": func(v value.Value) (n int) {
		fmt.Sscanf(v.Text(), "n%d", &n)
		return n
	}}
	for tenant := range places {
		for class, of := range number {
			for _, desc := range []bool{false, true} {
				for _, limit := range []int{50, 200, 500} {
					q := &query.Find{Class: class, Limit: limit, Order: []query.Sort{{Path: query.Path{"id"}, Desc: desc}}}
					var got []int
					var after []value.Value
					for {
						rows := read(tenant, q, after)
						for _, row := range rows[:min(len(rows), limit)] {
							got = append(got, of(row[0]))
							after = row[len(row)-1:]
						}
						if len(rows) <= limit {
							break
						}
					}
					want := slices.Clone(owned[tenant])
					if desc {
						slices.Reverse(want)
					}
					if !slices.Equal(got, want) {
						t.Errorf("%s, %s, descending %t, pages of %d: %d records, want %d", tenant, class, desc, limit, len(got), len(want))
					}
				}
			}
		}
		for _, i := range []int{7, 8, 3007, 5999} {
			want := 0
			if owner(i) == tenant {
				want = 1
			}
			if got := read(tenant, &query.Find{Class: "comments", IDs: []string{fmt.Sprint(i)}, Limit: 1}, nil); len(got) != want {
				t.Errorf("%s: comment %d: %d records, want %d", tenant, i, len(got), want)
			}
		}
		for at, n := range places { // the comments of issue 7 of each tenant
			want := 0
			for _, i := range owned[at] {
				if i%issues == 7 && at == tenant {
					want++
				}
			}
			if got := read(tenant, &query.Find{Class: "comments", Where: query.Compare{Path: query.Path{"issue"}, Op: query.Eq, Value: value.OfInt(int64(n*1000 + 7))}, Limit: 1000}, nil); len(got) != want {
				t.Errorf("%s: comments of an issue of %s: %d, want %d", tenant, at, len(got), want)
			}
		}
	}
}
