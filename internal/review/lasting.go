package review

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/write"
)

// lasting describes the values that the viewer sees and that a revert of the change could not restore.
func (s *Sheet) lasting(effects []change.Effect) []string {
	var out []string
	add := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for _, cascade := range s.Cascades {
		add("the %d records of %s that change along with it", cascade.Records, cascade.Class)
	}
	for i, e := range effects {
		switch item := s.Items[i]; {
		case item.Class == "":
		case e.Op == write.OpAction:
			add("what the action does")
		case e.Op == write.OpCall:
			add("what the call does")
		case e.Op == write.OpSchema:
			add("the class %s as it is", item.Class)
		case e.Op == write.OpDelete && item.Denied > 0:
			add("a record of %s, which has fields that are never shown", item.Class)
		case e.Op == write.OpUpdate:
			for _, f := range item.Fields {
				if f.Source {
					add("%s of %s, which the source sets by itself", f.Path, item.Class)
				}
			}
		}
	}
	return out
}
