package calls

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestConstants checks that parameters of the read may have texts of their own. The fields that identify the result may
// not.
func TestConstants(t *testing.T) {
	d, err := spec.Load([]byte(`{"openapi": "3.0.0", "paths": {"/a": {"get": {"operationId": "list", "responses": {}}, "post": {"operationId": "make", "responses": {}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	rule := ReadBack{Operations: []string{"make"}, By: "list", Query: map[string]string{"state": "=open", "none": "=", "name": "body.name"}, Match: map[string]string{"name": "body.name"}}
	if err := rule.Check(d, nil, ""); err != nil {
		t.Error(err)
	}
	name := value.OfObject([]value.Member{{Name: "name", Value: value.OfString("nine")}})
	look, ok := rule.Of(validate.Arguments{Body: name, HasBody: true})
	for parameter, want := range map[string]string{"state": "open", "none": "", "name": "nine"} {
		if got, has := look.Arguments.Query.Get(parameter); !ok || !has || got.String() != want {
			t.Errorf("%s: %s, want %s", parameter, got, want)
		}
	}
	for want, wrong := range map[string]ReadBack{
		`"=open" is no place in a call. Write body.name, path.name or query.name`:                                {Operations: rule.Operations, By: "list", Match: map[string]string{"state": "=open"}},
		`"open" is no place in a call. Write body.name, path.name or query.name, or =text for a text of its own`: {Operations: rule.Operations, By: "list", Query: map[string]string{"state": "open"}, Match: rule.Match},
	} {
		if err := wrong.Check(d, nil, ""); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
