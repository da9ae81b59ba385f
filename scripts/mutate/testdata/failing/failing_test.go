package failing

import "testing"

func TestNot(t *testing.T) {
	if Not(true) {
		return
	}
	t.Error("as it should be")
}
