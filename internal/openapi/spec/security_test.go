package spec

import (
	"fmt"
	"strings"
	"testing"
)

// TestSecurity checks the schemes of documents, and the requirements of each operation.
func TestSecurity(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"all kinds of 3.0", `{"openapi":"3.0.3","components":{"securitySchemes":{"key":{"type":"apiKey","in":"header","name":"X-Key"},"q":{"type":"apiKey","in":"query","name":"k"},"c":{"type":"apiKey","in":"cookie","name":"sid"},
			"user":{"type":"http","scheme":"Basic"},"token":{"type":"http","scheme":"bearer"},"app":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://t.example/t"}}},"id":{"type":"openIdConnect"},"cert":{"type":"mutualTLS"}}},
			"security":[{"key":[],"q":[]},{"token":[]}],"paths":{"/a":{"get":{},"put":{"security":[]},"post":{"security":[{},{"user":[]}]},"patch":{"security":[{"app":["read"]}]}}}}`,
			"key (header X-Key), q (query k), c (cookie sid), user (http) basic, token (http) bearer, app (oauth2) https://t.example/t, id (openIdConnect), cert (mutualTLS)\n" +
				"GET [key+q token]\nPUT []\nPOST [ user]\nPATCH [app]\n"},
		{"Swagger 2.0", `{"swagger":"2.0","securityDefinitions":{"user":{"type":"basic"},"app":{"type":"oauth2","flow":"application","tokenUrl":"https://t.example/t"}},
			"security":[{"user":[]}],"paths":{"/a":{"get":{},"put":{"security":[{"app":[]}]}}}}`,
			"user (http) basic, app (oauth2) https://t.example/t\nGET [user]\nPUT [app]\n"},
		{"nothing is said", `{"openapi":"3.0.3","paths":{"/a":{"get":{},"put":{"security":null}}}}`, "\nGET nil\nPUT nil\n"},
		{"a scheme by reference, and one that is absent", `{"openapi":"3.1.0","components":{"securitySchemes":{"a":{"$ref":"#/components/securitySchemes/b"},"b":{"type":"http","scheme":"bearer"},"x":{"$ref":"#/nowhere"}}},
			"paths":{"/a":{"get":{"security":[{"a":[]},{"gone":[]}]}}}}`, "a (http) bearer, b (http) bearer, x ()\nGET [a gone]\n"},
	} {
		d := load(t, row.in)
		var schemes []string
		for _, s := range d.Schemes {
			text := fmt.Sprintf("%s (%s", s.Name, s.Kind)
			if s.In != "" {
				text = fmt.Sprintf("%s (%s %s", s.Name, s.In, s.Field)
			}
			schemes = append(schemes, strings.TrimSpace(text+") "+s.HTTP+s.TokenURL))
		}
		got := strings.Join(schemes, ", ") + "\n"
		for _, op := range d.Operations {
			if op.Security == nil {
				got += op.Method + " nil\n"
				continue
			}
			var all []string
			for _, one := range op.Security {
				all = append(all, strings.Join(one, "+"))
			}
			got += fmt.Sprintf("%s %v\n", op.Method, all)
		}
		// The document lists operations in the order of the methods.
		if got != row.want {
			t.Errorf("%s:\n%s\nwant\n%s", row.name, got, row.want)
		}
	}
}

// TestSupplementSecurity checks that the schemes of a supplement are known.
func TestSupplementSecurity(t *testing.T) {
	d := load(t, `{"openapi":"3.0.3","components":{"securitySchemes":{"a":{"type":"http","scheme":"basic"}}},"paths":{}}`)
	other := load(t, `{"openapi":"3.0.3","components":{"securitySchemes":{"a":{"type":"http","scheme":"bearer"},"b":{"type":"mutualTLS"}}},"paths":{"/x":{"get":{"security":[{"b":[]}]}}}}`)
	if err := d.Supplement(other); err != nil {
		t.Fatal(err)
	}
	if d.Scheme("a").HTTP != "basic" || d.Scheme("b").Kind != "mutualTLS" || d.Operations[0].Security[0][0] != "b" {
		t.Errorf("%+v %+v", d.Schemes, d.Operations[0].Security)
	}
}
