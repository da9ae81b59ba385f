package mongodb_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/writing"
)

// TestCut cuts the connection at chosen points while a change is applied. The change must be written exactly once.
func TestCut(t *testing.T) {
	onAll(t, func(t *testing.T, on server) {
		for _, at := range []string{"bailiwick_applied", "findAndModify", "commitTransaction"} {
			for name, late := range map[string]bool{"before": false, "during": true} {
				t.Run(name+" "+at, func(t *testing.T) {
					if at == "commitTransaction" && on != sets {
						return // it has no transactions
					}
					g := newGround(t, on)
					line := services.Through(t, g.url)
					direct := line.URL + "?directConnection=true" // otherwise the driver asks the server for its own address
					if strings.Contains(line.URL, "?") {
						direct = line.URL + "&directConnection=true"
					}
					w, err := writable(t.Context(), direct, on)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { w.Close() })
					p := writing.NewProposer(t, writing.Bed{Writable: w, Marks: g, Groups: on == sets, Shows: change.Computed})
					got := p.Later(t, `{"op":"update","class":"marks","id":"0","data":{"n":1}}`, func() { line.CutAt(at, late, 1) })
					if got != `applied {"id":0,"n":1}` || line.Cuts() != 1 {
						t.Errorf("%s after %d cuts", got, line.Cuts())
					}
					if n, records, err := g.Get(0); n != 1 || records != 1 || err != nil {
						t.Errorf("n is %d in %d records: %v", n, records, err)
					}
				})
			}
		}
	})
}
