package tool_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A stalled source never answers a query.
type stalled struct{ source.Source }

func (stalled) Read(ctx context.Context, _ policy.Permit) (source.Rows, error) {
	<-ctx.Done()
	return nil, interpret.ContextError(ctx)
}

// TestStalledSamples: get_schema describes several classes within its own time where no sample can be read.
func TestStalledSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var classes []schema.Class
		for i := range 6 {
			classes = append(classes, schema.Class{Source: "app", Name: fmt.Sprintf("c%d", i), Key: []string{"id"},
				Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "kind", Type: schema.String}}})
		}
		g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": stalled{memory.New(classes, nil)}},
			Rules: policy.Rules{Unlisted: true}, Audit: &audit.Memory{}})
		if err != nil {
			t.Fatal(err)
		}
		set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
		if err != nil {
			t.Fatal(err)
		}
		args, err := value.Read([]byte(`{"class_names": ["c0", "c1", "c2", "c3", "c4", "c5"]}`), 0)
		if err != nil {
			t.Fatal(err)
		}
		res, err := set.Call(t.Context(), agent(), tool.Request{Name: "get_schema", Arguments: args})
		if err != nil || strings.Count(res.Text, " kind string") != 6 {
			t.Errorf("%v\n%s", err, res.Text)
		}
	})
}
