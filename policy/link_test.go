package policy

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestLink checks the address of a record in its application: its parts, its faults, and who sees all of its fields.
func TestLink(t *testing.T) {
	classes := []schema.Class{{Source: "app", Name: "issues", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "slug", Type: schema.String}}}}
	const form = ". Write it as https://app.example.com/issues/{id}"
	masked := ClassRule{Link: "https://app/{slug}", Mask: map[string]Mask{"slug": Partial}, MaskBut: map[string]identity.Scope{"slug": identity.Operator}}
	for _, tt := range []struct {
		name string
		rule ClassRule
		want string
	}{
		{"none", ClassRule{}, "[]"},
		{"a field", ClassRule{Link: "https://app/issues/{id}?tab={slug}"}, "[{https://app/issues/  } { id } {?tab=  } { slug }]"},
		{"a masked field", masked, "[]"},
		{"another scheme", ClassRule{Link: "javascript:alert({id})"}, `classes.issues: link: "javascript:alert({id})" is not an address of http or https` + form},
		{"no scheme", ClassRule{Link: "/issues/{id}"}, `classes.issues: link: "/issues/{id}" is not an address of http or https` + form},
		{"a record chooses the host", ClassRule{Link: "https://{slug}/issues"}, `classes.issues: link: "https://{slug}/issues" needs a host and a path before the first field` + form},
		{"a record chooses the end of the host", ClassRule{Link: "https://app.{slug}/issues"}, `classes.issues: link: "https://app.{slug}/issues" needs a host and a path before the first field` + form},
		{"a record chooses the port", ClassRule{Link: "https://app:{id}/issues"}, `classes.issues: link: "https://app:{id}/issues" needs a host and a path before the first field` + form},
		{"a password", ClassRule{Link: "https://me:secret@app/{id}"}, `classes.issues: link: "https://me:secret@app/{id}" needs a host and a path before the first field` + form},
		{"no field", ClassRule{Link: "https://app/issues"}, `classes.issues: link: "https://app/issues" names no field. Write a field in braces, such as {number}`},
		{"an unknown field", ClassRule{Link: "https://app/{slugg}"}, `classes.issues: link: there is no field "slugg". Did you mean slug?`},
		{"a hidden field", ClassRule{Link: "https://app/{slug}", Denied: []string{"slug"}}, "classes.issues: link: slug can't be seen at all. Take it out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			p, err := New(Rules{Classes: map[string]ClassRule{"issues": tt.rule}}, classes)
			if err != nil {
				got = err.Error()
			} else {
				v, err := p.View(agent(), "issues", "", false)
				if err != nil {
					t.Fatal(err)
				}
				got = fmt.Sprint(v.Link())
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
