package endtoend

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// TestAskerIsComplete checks that the random calls of the non-interference tests include every tool, every argument
// and every operator of expressions. The tests prove nothing about calls that are never drawn.
func TestAskerIsComplete(t *testing.T) {
	if os.Getenv("BAILIWICK_TOOL") != "" {
		t.Skip("LEFT OUT: BAILIWICK_TOOL names one tool")
	}
	given, operators := map[string]map[string]bool{}, map[string]bool{}
	a := &asker{Rand: rand.New(rand.NewPCG(1, 2))}
	for range 60_000 {
		c := a.call()
		if given[c.Name] == nil {
			given[c.Name] = map[string]bool{}
		}
		for _, m := range c.Arguments.Members() {
			given[c.Name][m.Name] = true
		}
		for _, word := range strings.FieldsFunc(c.Arguments.String(), func(r rune) bool { return r == '"' }) {
			operators[word] = true
		}
	}
	for _, one := range tool.Data(tool.Options{}) {
		if given[one.Name] == nil {
			t.Errorf("no call of %s is drawn", one.Name)
			continue
		}
		var schema struct{ Properties map[string]any }
		if err := json.Unmarshal(one.Input, &schema); err != nil {
			t.Fatal(err)
		}
		for name := range schema.Properties {
			if !given[one.Name][name] {
				t.Errorf("no call of %s has the argument %s", one.Name, name)
			}
		}
	}
	for _, s := range query.Signatures {
		if !operators[s.Op] {
			t.Errorf("no expression has the operator %s", s.Op)
		}
	}
}
