package suspect

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/classify"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// TestOf checks for each method, path and id what the operation is suspected of, and whether its method may mislead.
func TestOf(t *testing.T) {
	for _, row := range []struct{ op, want string }{
		{"GET /teams/{tokenId}", ""},
		{"POST /user/tokens", "credentials"},
		{"GET /user/tokens", "shows"},
		{"DELETE /user/tokens/{id}", "credentials"},
		{"PUT /account/change_password", "credentials"},
		{"POST /account/forgot_password", "credentials"},
		{"POST /keys APIKeyCreate", "credentials"},
		{"POST /key MakeApiKey", "credentials"},
		{"POST /account/register", "credentials"},
		{"POST /webhooks/register", ""},
		{"POST /training-sessions", ""},
		{"POST /user/sessions", "credentials"},
		{"GET /api /key", ""},
		{"POST /api/key-figures", "credentials"}, // a false positive, for a person to dismiss
		{"POST /b.v1.IssueService/ApproveIssue", "approvals"},
		{"POST /issues/{id}/reject", "approvals"},
		{"GET /issues/{id}/approvals", ""},
		{"POST /b.v1.ProjectService/SetIamPolicy", "rights"},
		{"PATCH /members/{id}/role", "rights"},
		{"POST /rolls", ""},
		{"POST /users/{id}/promote", "rights"},
		{"POST /releases/{id}/promote", ""},
		{"GET /saml/certificate/status", ""},
		{"PUT /saml/certificate/status", "credentials"},
		{"POST /b.v1.IdentityProviderService/CreateIdentityProvider", "rights"},
		{"PUT /rate-limits", "limits"},
		{"POST /access/passes", ""},
		{"GET /logout", "shows writes"},
		{"GET /teams/{id}/verify", "writes"},
		{"GET /verify/{id}", ""},
		{"POST /teams/check-slug", "reads"},
		{"POST /teams/search searchTeams", "reads"},
		{"POST /checks/{id}", ""},
		{"POST /documents.list documentsList", "reads"},
		{"POST /documents.info", "reads"},
		{"POST /documents.delete", ""},
	} {
		method, rest, _ := strings.Cut(row.op, " ")
		path, id, declared := strings.Cut(rest, " ")
		op := &spec.Operation{Method: method, Path: path, ID: id, Declared: declared}
		class := classify.Write
		if method == "GET" {
			class = classify.Read
		}
		got := string(Of(op, class))
		if Writes(op) {
			got += " writes"
		}
		if Reads(op) {
			got += " reads"
		}
		if got = strings.TrimSpace(got); got != row.want {
			t.Errorf("%s: %q, want %q", row.op, got, row.want)
		}
	}
	for _, k := range Kinds() {
		if k.Reason() == "" {
			t.Errorf("%s has no reason", k)
		}
	}
	if Kind("").Reason() != "" {
		t.Error("nothing has a reason")
	}
}
