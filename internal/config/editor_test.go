package config_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// anything replaces those names in a path that the file can choose.
const anything = "*"

// described adds the paths of all keys described by a JSON Schema.
func described(schema any, at string, into map[string]bool) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	properties, _ := s["properties"].(map[string]any)
	for name, sub := range properties {
		path := strings.TrimPrefix(at+"."+name, ".")
		into[path] = true
		described(sub, path, into)
	}
	if sub, ok := s["additionalProperties"].(map[string]any); ok {
		described(sub, at+"."+anything, into)
	}
	branches, _ := s["anyOf"].([]any)
	for _, sub := range branches {
		described(sub, at, into)
	}
}

// used adds the paths of all keys in a document. Names that the schema leaves open are replaced by anything.
func used(v any, at string, known map[string]bool, into map[string]bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	for name, sub := range m {
		path := strings.TrimPrefix(at+"."+name, ".")
		if known[path] {
			into[path] = true
		} else {
			path = at + "." + anything
		}
		used(sub, path, known, into)
	}
}

func compiled(t *testing.T) (*jsonschema.Schema, map[string]bool) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.JSONSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("bailiwick.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("bailiwick.json")
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(config.JSONSchema(), &plain); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	described(plain, "", known)
	return s, known
}

// document parses YAML as an editor does.
func document(t *testing.T, text string) any {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSchemaKeys checks that full has every key of the schema, and that full is valid against it.
func TestSchemaKeys(t *testing.T) {
	schema, known := compiled(t)
	doc := document(t, "include: [rules/*.yaml]\n"+full(t)) // full is a single file
	if err := schema.Validate(doc); err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	used(doc, "", known, seen)
	// Keys that two places share need to occur in only one. The paths are visited twice in order, because a key may
	// be shared through another.
	for _, path := range slices.Concat(slices.Sorted(maps.Keys(known)), slices.Sorted(maps.Keys(known))) {
		for _, two := range [][2]string{{"auth.anonymous.", "stdio."}, {"auth.oidc.sign_in.claims.", "auth.oidc.claims."}, {"actions.*.", "classes.*.actions.*."}, {"classes.*.actions.*.", "actions.*."},
			{"notifications.mail.to.*.", "notifications.webhooks.*."}, {"sources.*.openapi.credential.", "sources.*.openapi.credential.per_principal.secrets.*."}} {
			if shared, ok := strings.CutPrefix(path, two[0]); ok && seen[two[1]+shared] {
				seen[path] = true
			}
		}
		for _, list := range []string{".only", ".except"} {
			if base, ok := strings.CutSuffix(path, list); ok && (seen[base+".only"] || seen[base+".except"]) {
				seen[path] = true
			}
		}
	}
	if d := cmp.Diff(slices.Sorted(maps.Keys(known)), slices.Sorted(maps.Keys(seen))); d != "" {
		t.Errorf("keys of the schema (-) and of the file (+):\n%s", d)
	}
}

// TestSchemaAgrees checks that the schema and Parse accept and refuse the same texts.
func TestSchemaAgrees(t *testing.T) {
	schema, _ := compiled(t)
	const src = "sources: {s: {url: sqlite:x}}\n"
	for _, row := range []struct {
		text string
		good bool
	}{
		{src, true},
		{src + "classes: {s.a: {}}\n", true},
		{src + "classes: {s.a: {canonical: {a: {b: 1}}, hidden: {except: operator}}}\n", true},
		{src + "results: both\n", true},
		{src + "budget: 100 KB\n", true},
		{src + "budget: 100000\n", true},
		{src + "log: {level: '${LEVEL}'}\n", true},
		{src + "classes: {}\n", false},
		{src + "classes: {s.a: }\n", false},
		{src + "classes: {s.a: {hidden: maybe}}\n", false},
		{src + "classes: {s.a: {hidden: {except: agent}}}\n", false},
		{src + "classes: {s.a: {visible: []}}\n", false},
		{src + "classes: {s.a: {visible: [a, a]}}\n", false},
		{src + "classes: {s.a: {canonical: []}}\n", false},
		{src + "classes: {s.a: {visibel: [a]}}\n", false},
		{src + "classes: {s.a: {mask: {a: hash, b: null, c: 'null'}, join: [a]}}\n", true},
		{src + "classes: {s.a: {mask: {a: most}}}\n", false},
		{src + "classes: {s.a: {mask: {}}}\n", false},
		{src + "classes: {s.a: {mask: {a: {as: null, except: operator}}}}\n", true},
		{src + "classes: {s.a: {mask: {a: {as: hash}}}}\n", false},
		{src + "classes: {s.a: {mask: {a: {pattern: [email, card]}}, mask_texts: [phone]}}\n", true},
		{src + "classes: {s.a: {mask: {a: {pattern: [ip], except: operator}}, mask_texts: {pattern: [ssn], except: [b]}}}\n", true},
		{src + "classes: {s.a: {mask: {a: {pattern: [email], as: hash}}}}\n", false},
		{src + "classes: {s.a: {mask: {a: {pattern: [emails]}}}}\n", false},
		{src + "classes: {s.a: {mask: {a: {pattern: []}}}}\n", false},
		{src + "classes: {s.a: {mask: {a: {except: operator}}}}\n", false},
		{src + "classes: {s.a: {mask: {a: pattern}}}\n", false},
		{src + "classes: {s.a: {mask_texts: [name]}}\n", false},
		{src + "classes: {s.a: {mask_texts: {except: [b]}}}\n", false},
		{src + "classes: {s.a: {mask: {a: {as: hash, except: read}}}}\n", false},
		{src + "classes: {s.a: {join: []}}\n", false},
		{src + "classes: {s.a: {fields: {a: {mask: hash}}}}\n", false},
		{src + "gates: {writes: on}\n", true},
		{src + "gates: {writes: maybe}\n", false},
		{src + "review: [{when: change.rows > 1}]\n", true},
		{src + "review: {single_operator: true, rules: [{when: change.rows > 1, mode: allow}]}\n", true},
		{src + "review: {single: true}\n", false},
		{src + "review: [{when: 'true', risk: huge}]\n", false},
		{src + "classes: {s.a: {write: deny}}\n", true},
		{src + "classes: {s.a: {write: {create: allow, delete: deny}, permitted: [a]}}\n", true},
		{src + "classes: {s.a: {write: {crate: allow}}}\n", false},
		{src + "classes: {s.a: {write: {create: yes please}}}\n", false},
		{src + "classes: {s.a: {actions: {x: {do: delete}}}}\n", true},
		{src + "classes: {s.a: {actions: {x: {do: delte}}}}\n", false},
		{src + "classes: {s.a: {actions: {x: {on: s.b, do: delete}}}}\n", false},
		{src + "classes: {s.a: {actions: {x: {do: update, check_against: s.b}}}}\n", true},
		{src + "classes: {s.a: {actions: {x: {do: update, check_against: {class: s.b, record: change}}}}}\n", true},
		{src + "classes: {s.a: {actions: {x: {do: update, check_against: {class: s.b, record: old}}}}}\n", false},
		{src + "classes: {s.a: {actions: {x: {do: update, check_against: {fields: {a: b}}}}}}\n", false},
		{src + "classes: {s.a: {actions: {x: {do: update, check_against: [s.b]}}}}\n", false},
		{src + "classes: {s.a: {actions: {x: {do: update, record: {$cel: input.a}, transitions: {b: {c: [d], d: []}}}}}}\n", true},
		{src + "actions: {x: {on: s.a, do: delete}}\n", true},
		{src + "actions: {x: {do: delete}}\n", false},
		{src + "review: [{mode: allow}]\n", false},
		{src + "results: loud\n", false},
		{src + "budget: 5\n", false},
		{src + "limits: {burst: 0}\n", false},
		{src + "limits: {burst: 1.5}\n", false},
		{src + "stdio: {owner: ada}\n", false},
		{"sources: {s: {url: sqlite:x, read_only: maybe}}\n", false},
		{"sources: {s: {}}\n", false},
		{"sources: {s: {metadata: {roots: [a]}}}\n", true},
		{"sources: {s: {metadata: {}}}\n", false},
		{"sources: {s: {metadata: {roots: []}}}\n", false},
		{"sources: {s: {metadata: {roots: [a]}, url: sqlite:x}}\n", false},
		{"sources: {}\n", false},
		{"listen: 127.0.0.1:1\n", false},
	} {
		_, err := config.Parse("f.yaml", []byte(row.text), env)
		if (err == nil) != row.good {
			t.Errorf("%s: Parse says %v", row.text, err)
		}
		if err := schema.Validate(document(t, row.text)); (err == nil) != row.good {
			t.Errorf("%s: the schema says %v", row.text, err)
		}
	}
}
