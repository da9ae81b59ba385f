package known

import "testing"

func TestClamp(t *testing.T) {
	if Clamp(1, 2) != 1 || Clamp(3, 2) != 2 {
		t.Error("not clamped")
	}
}

func TestKind(*testing.T) { Kind(true, true) }

func TestSum(t *testing.T) {
	if Sum(3) != 6 {
		t.Error("not the sum")
	}
}
