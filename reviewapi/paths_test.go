package reviewapi

import "testing"

// TestNoPath checks the names in the error for an unknown path.
func TestNoPath(t *testing.T) {
	known := map[string][]string{"/api/changes": {"GET"}, "/api/changes/{id}": {"GET"}, "/api/changes/{id}/approve": {"POST"}, "/api/changes/{id}/edit": {"POST"},
		"/api/tokens": {"GET", "POST"}, "/api/tokens/{id}/revoke": {"POST"}}
	const none = "not_found: there is no such path. GET /api/changes lists changes"
	for path, want := range map[string]string{
		"/api/tokens/7":             "not_found: there is no such path. Did you mean POST /api/tokens/{id}/revoke?",
		"/api/token":                "not_found: there is no such path. Did you mean GET|POST /api/tokens?",
		"/api/changes/":             "not_found: there is no such path. Did you mean GET /api/changes?",
		"/api/changes/01AB/aprove":  "not_found: there is no such path. Did you mean POST /api/changes/{id}/approve?",
		"/api/changes/01AB/Edit":    "not_found: there is no such path. Did you mean POST /api/changes/{id}/edit?",
		"/api/":                     none,
		"/api/nothing/of/the/kind/": none,
	} {
		if got := noPath(path, known).Error(); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
