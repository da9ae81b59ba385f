package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// TestOdd checks that each unreadable file of a document is named, and only the first of the other oddities.
func TestOdd(t *testing.T) {
	var paths strings.Builder
	for i := range 8 {
		fmt.Fprintf(&paths, `,"/f%d":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"missing%d.yaml"}}}}}}},"/o%d":{"get":{"parameters":[{"$ref":"#/none"}]}}`, i, i, i)
	}
	d, err := spec.Load([]byte(`{"openapi":"3.0.0","paths":{"/a":{"get":{}}` + paths.String() + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join((&Document{Document: d}).Odd(), "\n")
	if n := strings.Count(all, ".yaml: can't be read"); n != 8 {
		t.Errorf("%d of 8 files are named", n)
	}
	if n := strings.Count(all, "is not in the document"); n != 5 || !strings.HasSuffix(all, " is odd in further places: 11") {
		t.Errorf("%d other places: %s", n, all)
	}
}
