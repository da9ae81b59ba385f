package typecheck_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// shop contains the views of the tests, numbered in the order in which they are opened.
type shop struct {
	opened []string
	masks  map[string]map[string]*plan.Mask // by class
}

// masks are the masks of the views in testdata/masks.txt, by class and field.
var masks = map[string]map[string]*plan.Mask{
	"orders":    {"status": {Kind: plan.MaskPartial}, "meta": {Kind: plan.MaskNull}, "loose": {Kind: plan.MaskNull}, "tags": {Kind: plan.MaskNull}},
	"customers": {"name": {Kind: plan.MaskHash}},
	"events":    {"n": {Kind: plan.MaskNull}},
}

var classes = map[string]view{
	"orders": {fields: []schema.Field{{Name: "id", Type: schema.Integer, NotNull: true}, {Name: "customer_id", Type: schema.Integer},
		{Name: "status", Type: schema.String}, {Name: "total", Type: schema.Decimal}, {Name: "discount", Type: schema.Double}, {Name: "count", Type: schema.Integer},
		{Name: "placed", Type: schema.Date}, {Name: "due", Type: schema.Day}, {Name: "paid", Type: schema.Boolean}, {Name: "meta", Type: schema.JSON},
		{Name: "tags", Type: schema.Array}, {Name: "token", Type: schema.UUID}, {Name: "shape", Type: schema.Opaque}, {Name: "loose", Type: schema.Any}},
		key: []string{"id"}, pointers: map[string]string{"customer_id": "customers"}},
	"customers": {fields: []schema.Field{{Name: "id", Type: schema.Integer, NotNull: true}, {Name: "name", Type: schema.String}, {Name: "referrer", Type: schema.Integer}},
		key: []string{"id"}, pointers: map[string]string{"referrer": "customers"}},
	"events": {fields: []schema.Field{{Name: "kind", Type: schema.String}, {Name: "n", Type: schema.Integer}}},
}

func (s *shop) Open(name, at string) (*typecheck.Relation, error) {
	v, ok := classes[name]
	if !ok {
		return nil, &problem.Error{Code: problem.NotFound, Pointer: at, Detail: fmt.Sprintf("there is no class %q", name)}
	}
	n := -1
	for i, o := range s.opened {
		if o == name {
			n = i
		}
	}
	if n < 0 {
		n, s.opened = len(s.opened), append(s.opened, name)
	}
	r := &typecheck.Relation{Number: n, Name: name, Scope: v, Key: v.key, Masks: s.masks[name]}
	for i := range v.fields {
		r.Fields = append(r.Fields, &v.fields[i])
	}
	return r, nil
}

// RecordUse implements typecheck.Relations.
func (s *shop) RecordUse(*schema.Field)                       {}
func (*shop) AllowedValues(*schema.Field) []typecheck.Allowed { return nil }
func (*shop) StrictPointers() bool                            { return false }
func (*shop) SameClass(a, b string) bool                      { return a == b }

type view struct {
	fields   []schema.Field
	key      []string
	pointers map[string]string
}

func (v view) Field(path query.Path, at string) (*schema.Field, string, int, error) {
	for i := range v.fields {
		if v.fields[i].Name == path[0] {
			return &v.fields[i], path[0], 1, nil
		}
	}
	return nil, "", 0, &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: fmt.Sprintf("unknown field %q", path[0])}
}

func (v view) ID(key string) bool { return key == "id" && v.key != nil || v.pointers[key] != "" }

func (v view) AllowedValues(string) []typecheck.Allowed { return nil }

func (v view) Pointer(key string) (class, field string) {
	if v.pointers[key] == "" {
		return "", ""
	}
	return v.pointers[key], "id"
}

// TestPipelines checks pipelines from files. Each line that begins with > contains a pipeline over orders. The program
// or the error follows.
func TestPipelines(t *testing.T) {
	for _, file := range []string{"testdata/stages.txt", "testdata/expressions.txt", "testdata/refusals.txt", "testdata/masks.txt", "testdata/known.txt"} {
		t.Run(file, func(t *testing.T) {
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			asked := 0
			for line := range strings.Lines(string(golden)) {
				switch {
				case strings.HasPrefix(line, "#"):
					out.WriteString("\n" + line)
				case strings.HasPrefix(line, ">"):
					asked++
					text := strings.TrimSpace(line[1:])
					fmt.Fprintf(&out, "\n> %s\n%s\n", text, bound(t, text, strings.HasSuffix(file, "masks.txt")))
				}
			}
			if asked == 0 {
				t.Fatal("the file asks nothing")
			}
			got := strings.TrimPrefix(out.String(), "\n")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if d := cmp.Diff(string(golden), got); d != "" {
				t.Error(d)
			}
		})
	}
}

func bound(t *testing.T, text string, masked bool) string {
	v, err := value.Read([]byte("["+text+"]"), 100)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	stages, err := query.ParsePipeline(v, "/pipeline")
	if err != nil {
		return refusal(err)
	}
	s := &shop{}
	if masked {
		s.masks = masks
	}
	from, err := s.Open("orders", "/class_name")
	if err != nil {
		t.Fatal(err)
	}
	program, notes, err := typecheck.Pipeline(&query.Pipeline{Class: "orders", Stages: stages}, from, s, plan.Bounds{})
	if err != nil {
		return refusal(err)
	}
	if err := plan.CheckMasks(program); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	said := program.String()
	_, said, _ = strings.Cut(said, "\n") // the columns of orders are always the same
	for _, n := range notes {
		said += "\nnote " + n
	}
	return said
}

func refusal(err error) string {
	e := problem.Of(err)
	said := fmt.Sprintf("%s at %s: %s", e.Code, e.Pointer, e.Detail)
	if len(e.Near) > 0 {
		said += fmt.Sprint(" near ", e.Near)
	}
	return said
}
