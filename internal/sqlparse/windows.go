package sqlparse

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Among returns w with its base window replaced by the definition of that window.
func (w *Window) Among(named []NamedWindow) (*Window, error) {
	if w.Base == nil {
		return w, nil
	}
	for _, n := range named {
		if strings.EqualFold(w.Base.Text, n.Name.Text) {
			merged := n.Window
			if w.Order != nil {
				merged.Order = w.Order
			}
			if w.Frame != nil {
				merged.Frame = w.Frame
			}
			return &merged, nil
		}
	}
	var names []string
	for _, n := range named {
		names = append(names, n.Name.Text)
	}
	return nil, &problem.Error{Code: problem.InvalidQuery, Pointer: fmt.Sprintf("line %d, column %d", w.Base.At.Line, w.Base.At.Column), Detail: fmt.Sprintf("unknown window %q", problem.Cut(w.Base.Text)), Near: names}
}
