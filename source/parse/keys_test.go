package parse_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/source/parse"
)

// TestRekey gives valid keys to an open source whose keys Parse Server rejects.
func TestRekey(t *testing.T) {
	s := start(t)
	o, _ := s.options("master")
	right := o.MasterKey
	o.MasterKey = "former-master-key"
	src, err := parse.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, _, err := src.Describe(t.Context()); err == nil {
		t.Fatal("the server takes any master key")
	}
	src.Rekey(right, o.RESTKey)
	if classes, _, err := src.Describe(t.Context()); err != nil || len(classes) == 0 {
		t.Errorf("with the new key: %d classes, %v", len(classes), err)
	}
}
