package spec

import (
	"strings"
	"testing"
)

// TestOf checks the suspicion of each operation, and whether the method may mislead.
func TestOf(t *testing.T) {
	for _, row := range []struct{ op, want string }{
		{"GET /teams/{tokenId}", ""},
		{"POST /user/tokens", "credentials"},
		{"POST /batch", "carries"},
		{"POST /api/v2/graphql", "carries"},
		{"POST /items/batch", ""},
		{"GET /batch", ""},
		{"GET /user/tokens", "shows"},
		{"DELETE /user/tokens/{id}", "credentials"},
		{"PUT /account/change_password", "credentials"},
		{"POST /account/forgot_password", "credentials"},
		{"POST /keys APIKeyCreate", "credentials"},
		{"POST /key MakeApiKey", "credentials"},
		{"POST /account/register", "credentials"},
		{"POST /webhooks/register", "hooks"},
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
		{"POST /servers/{id}/tsigkeys createTSIGKey", "credentials"},
		{"GET /servers/{id}/tsigkeys/{k} getTSIGKey", "shows"},
		{"GET /zones/{id}/cryptokeys/{k}", "shows"},
		{"DELETE /user/gpg_keys/{id}", "credentials"},
		{"POST /user/applications/oauth2 userCreateOAuth2Application", "credentials"},
		{"POST /apps createOAuth2Application", "credentials"},
		{"GET /repos/{id}/signing-key.pub", ""},
		{"GET /user/gpg_keys", ""},
		{"POST /v3/lease/grant LeaseGrant", ""},
		{"POST /monkeys", ""},
		{"PUT /rows/{sortkey}/primary-key", ""},
	} {
		method, rest, _ := strings.Cut(row.op, " ")
		path, id, declared := strings.Cut(rest, " ")
		op := &Operation{Method: method, Path: path, ID: id, Declared: declared}
		class := ClassWrite
		if method == "GET" {
			class = ClassRead
		}
		got := string(SuspicionOf(nil, op, class))
		if SuggestsWrite(op) {
			got += " writes"
		}
		if SuggestsRead(op) {
			got += " reads"
		}
		if got = strings.TrimSpace(got); got != row.want {
			t.Errorf("%s: %q, want %q", row.op, got, row.want)
		}
	}
	for _, k := range Suspicions() {
		if k.Reason() == "" {
			t.Errorf("%s has no reason", k)
		}
	}
	if Suspicion("").Reason() != "" {
		t.Error("nothing has a reason")
	}
}

// TestRights checks which bodies give rights.
func TestRights(t *testing.T) {
	for _, row := range []struct{ op, schema, want string }{
		{"PATCH /admin/users/{name}", `{"properties":{"email":{},"is_admin":{}}}`, "rights"},
		{"POST /admin/users", `{"allOf":[{"$ref":"#/components/schemas/New"}]}`, "rights"},
		{"PUT /repos/{id}/collaborators/{name}", `{"properties":{"permission":{}}}`, "rights"},
		{"PUT /teams/{id}", `{"oneOf":[{"properties":{"name":{}}},{"properties":{"accessLevel":{}}}]}`, "rights"},
		{"POST /teams/{id}/members", `{"properties":{"user":{},"role":{}}}`, "rights"},
		{"PATCH /users/{id}", `{"properties":{"email":{}}}`, ""},
		{"PATCH /messages/{id}", `{"properties":{"role":{},"content":{}}}`, ""},
		{"PATCH /users/{id}", `{"$ref":"#/components/schemas/Loop"}`, ""},
	} {
		method, path, _ := strings.Cut(row.op, " ")
		d, err := Load([]byte(`{"openapi":"3.0.0","paths":{"` + path + `":{"` + strings.ToLower(method) + `":{"requestBody":{"content":{"application/json":{"schema":` + row.schema + `}}},"responses":{"200":{"description":""}}}}},
			"components":{"schemas":{"New":{"properties":{"rootRole":{}}},"Loop":{"allOf":[{"$ref":"#/components/schemas/Loop"}]}}}}`))
		if err != nil || len(d.Operations) == 0 {
			t.Fatalf("%s %s: %v %v", row.op, row.schema, err, d.Warnings)
		}
		if got := string(SuspicionOf(d, d.Operations[0], ClassWrite)); got != row.want {
			t.Errorf("%s %s: %q, want %q", row.op, row.schema, got, row.want)
		}
	}
}
