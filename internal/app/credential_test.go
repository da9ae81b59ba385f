package app

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// TestOpenAPI checks that an invalid API is refused, without its secret in the error.
func TestOpenAPI(t *testing.T) {
	for _, row := range []struct{ base, want string }{
		{"https://shop.test", ""},
		{"shop.test", "source shop can't be opened: "},
	} {
		opened, err := openAPI(&config.Config{}, config.Source{Name: "shop", OpenAPI: &config.APISource{BaseURL: row.base, Credential: &config.APICredential{Bearer: "hunter2"}}}, nil, nil)
		if row.want == "" != (err == nil) || err != nil && (!strings.HasPrefix(err.Error(), row.want) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: %v", row.base, err)
		}
		if err == nil && opened.Close() != nil {
			t.Error("it doesn't close")
		}
	}
}
