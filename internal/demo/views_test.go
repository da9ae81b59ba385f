package demo_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
)

// TestViews compiles Config for the tracker and lists the classes and fields that an agent of one tenant sees.
func TestViews(t *testing.T) {
	ctx := context.Background()
	path := create(t)
	c, err := config.Parse(filepath.Join(filepath.Dir(path), "bailiwick.yaml"), []byte(demo.Config), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	file, ok := c.Sources[0].SQLite()
	if !ok || file != path {
		t.Fatalf("the configuration's source is %q, want %q", file, path)
	}
	db, err := sqlite.Open(ctx, c.Sources[0].Name, file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	classes, warnings, err := db.Describe(ctx)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	p, err := policy.New(c.Rules, classes)
	if err != nil {
		t.Fatal(err)
	}
	principal := identity.Principal{ID: "test", Kind: identity.Agent, Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read}}
	var got []string
	for _, v := range p.Views(principal) {
		line := v.Name() + ":"
		for _, f := range v.Fields() {
			line += " " + f.Name + "/" + f.Type.String()
		}
		got = append(got, line)
	}
	const want = `comments: id/integer issue_id/uuid author_id/uuid body/string created_at/date agent/string
issue_labels: issue_id/uuid label_id/integer
issues: id/uuid org_id/string project_id/uuid number/integer type/string status/string priority/string title/string body/string assignee_id/uuid reporter_id/uuid parent_id/uuid estimate/double due_date/day custom/json legacy_id/integer created_at/date updated_at/date deleted_at/date agent/string
labels: id/integer org_id/string name/string colour/string
organisations: id/string name/string plan/string created_at/date
projects: id/uuid org_id/string key/string name/string description/string lead_id/uuid archived/boolean created_at/date
users: id/uuid org_id/string name/string role/string job_title/string time_zone/string active/boolean created_at/date`
	if got := strings.Join(got, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if views := p.Views(identity.Principal{ID: "stranger", Scopes: []identity.Scope{identity.Read}}); len(views) != 0 {
		t.Errorf("without a tenant %d classes can be seen", len(views))
	}
}
