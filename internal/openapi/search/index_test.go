package search

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

func tell(r Result) string {
	var ids []string
	for _, op := range r.Operations {
		ids = append(ids, op.ID)
	}
	return fmt.Sprintf("%d+%d of %d weak=%v %s: %s", r.Offset, len(ids), r.Total, r.Weak, r.Service, strings.Join(ids, " "))
}

// TestSearch checks the result of each query.
func TestSearch(t *testing.T) {
	track := New(everything(t, load(t, "../testdata/trackline.json")), Options{Synonyms: map[string][]string{"ticket": {"issue"}, "money": {"invoice", "subscription"}}})
	fleet := New(everything(t, load(t, "../testdata/fleet.yaml")), Options{})
	for _, tt := range []struct {
		ix   *Index
		q    Query
		want string
	}{
		{track, Query{Text: "create issue", Limit: 1}, "0+1 of 101 weak=false : post_projects_projectId_issues"},
		{track, Query{Text: "createIssue", Limit: 1}, "0+1 of 101 weak=false : post_projects_projectId_issues"},
		{track, Query{Text: "restoring deleted issues", Limit: 1}, "0+1 of 80 weak=false : post_issues_issueId_restore"},
		{track, Query{Text: "labels of Apollo", Limit: 1}, "0+1 of 17 weak=true : get_issues_search"},
		{track, Query{Text: "labels of APOLLO", Limit: 1}, "0+1 of 17 weak=false : delete_labels_labelId"},
		{track, Query{Text: "tickets", Service: "issues", Limit: 2}, "0+2 of 18 weak=false Issues: get_issues_search delete_issues_issueId"},
		{track, Query{Text: "money", Limit: 2}, "0+2 of 6 weak=false : get_invoices_invoiceId_pdf get_workspaces_workspaceId_invoices"},
		{track, Query{Service: "Webhooks", Limit: 2, Offset: 5}, "5+2 of 7 weak=false Webhooks: post_webhooks_webhookId_deliveries_deliveryId_redeliver post_webhooks_webhookId_ping"},
		{track, Query{Service: "Webhooks", Offset: 50}, "7+0 of 7 weak=false Webhooks: "},
		{track, Query{Text: "brew coffee"}, "0+0 of 0 weak=true : "},
		{track, Query{Text: "the of"}, "0+0 of 0 weak=true : "},
		{track, Query{}, "0+0 of 0 weak=true : "},
		{track, Query{Text: "autom", Limit: 1}, "0+1 of 16 weak=false : get_automations_automationId"},
		{track, Query{Text: "the people who pay; ;\nticket for a machine; list invoices", Limit: 2}, "0+2 of 100 weak=false : get_projects_projectId_access get_workspaces_workspaceId_invoices"},
		{track, Query{Text: "brew coffee; of the; list invoices", Limit: 1}, "0+1 of 38 weak=false : get_workspaces_workspaceId_invoices"},
		{track, Query{Text: "brew coffee; quantum flux"}, "0+0 of 0 weak=true : "},
		{fleet, Query{Service: "RoleService", Limit: 1}, "0+1 of 5 weak=false fleet.v1.RoleService: fleet.v1.RoleService.ListRoles"},
		{fleet, Query{Text: "firmware channel quantum flux capacitor", Limit: 1}, "0+1 of 137 weak=true : fleet.v1.FirmwareService.ListChannels"},
	} {
		r, err := tt.ix.Search(tt.q)
		if got := tell(r); got != tt.want || err != nil {
			t.Errorf("%+v: %v\n got %s\nwant %s", tt.q, err, got, tt.want)
		}
		if r.Weak && len(r.Services) == 0 {
			t.Errorf("%+v is weak and names no services", tt.q)
		}
	}
	_, err := fleet.Search(Query{Service: "RolService"})
	if p := problem.Of(err); p.Code != problem.NotFound || p.Near[0] != "RoleService" {
		t.Errorf("%+v", p)
	}
	all := 0
	for _, s := range track.Services() {
		all += s.Operations
	}
	if first := track.Services()[0]; first != (Service{"Accounts", "", 11}) || all != 150 {
		t.Errorf("%+v, %d operations", first, all)
	}
}

// TestSplit checks the words of each identifier.
func TestSplit(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"createHTTPToken-v2", "create http token v2"}, {"fleet.v1.DeviceService/ListDevices", "fleet v1 device service list devices"},
		{"/api/v1/teams/{teamId}", "api v1 teams team id"}, {"snake_case", "snake case"}, {"SQLService", "sql service"}, {"OAuth2App", "o auth2 app"},
		{"don't", "don t"}, {"Überprüfung", "überprüfung"}, {"", ""},
	} {
		if got := strings.Join(split(tt.in), " "); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestEmpty checks that an empty index finds nothing.
func TestEmpty(t *testing.T) {
	ix := New(&spec.View{}, Options{})
	if r, err := ix.Search(Query{Text: "get"}); err != nil || r.Total != 0 || !r.Weak {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := ix.Search(Query{Service: "x"}); problem.CodeOf(err) != problem.NotFound {
		t.Error(err)
	}
}

// FuzzSearch checks that no query panics or finds an operation that is not in the View.
func FuzzSearch(f *testing.F) {
	b, err := os.ReadFile("../testdata/trackline.json")
	if err != nil {
		f.Fatal(err)
	}
	d, err := spec.Load(b)
	if err != nil {
		f.Fatal(err)
	}
	ix := New(everything(f, d), Options{})
	for _, seed := range []string{"create issue", "Ümläut ﬁ", strings.Repeat("a ", 100), "\xff\xfe", "list list list"} {
		f.Add(seed, "", 3, 1)
	}
	f.Fuzz(func(t *testing.T, text, service string, limit, offset int) {
		r, err := ix.Search(Query{Text: text, Service: service, Limit: limit, Offset: offset})
		if p := (*problem.Error)(nil); err != nil && !errors.As(err, &p) {
			t.Fatal(err)
		}
		if len(r.Operations) > MaxLimit || r.Offset+len(r.Operations) > r.Total {
			t.Fatalf("%+v", r)
		}
	})
}
