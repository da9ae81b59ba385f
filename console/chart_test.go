package console

import "testing"

func TestBars(t *testing.T) {
	for _, row := range []struct {
		bars []chartBar
		want string
	}{
		{nil, `<svg class="bars" viewBox="0 0 1 100" preserveAspectRatio="none" aria-hidden="true"></svg>`},
		{[]chartBar{{0, 0, "none"}, {10, 5, `<b>"ten"`}}, `<svg class="bars" viewBox="0 0 18 100" preserveAspectRatio="none" aria-hidden="true">` +
			`<g><title>none</title><rect class="back" x="0" y="0" width="8" height="100"/></g>` +
			`<g><title>&lt;b&gt;&#34;ten&#34;</title><rect class="back" x="10" y="0" width="8" height="100"/>` +
			`<rect class="bar" x="10" y="0.00" width="8" height="100.00"/><rect class="part" x="10" y="50.00" width="8" height="50.00"/></g></svg>`},
	} {
		if got := string(drawBars(row.bars)); got != row.want {
			t.Errorf("%v: %s\nwant %s", row.bars, got, row.want)
		}
	}
}

func TestTop(t *testing.T) {
	for value, want := range map[float64]float64{0: 0, .4: .4, 1: 1, 1.2: 1.5, 7: 7.5, 8: 10, 151: 200, 1234567: 1500000} {
		if got := topOfBars([]chartBar{{Value: value}, {}}); got != want {
			t.Errorf("%v: %v, want %v", value, got, want)
		}
	}
}

func TestShare(t *testing.T) {
	for _, row := range [][3]string{{"25.00"}} {
		want := `<svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="bar" width="` + row[0] + `" height="6" rx="1"/></svg>`
		if got := string(drawShare(1, 4)); got != want {
			t.Error(got)
		}
	}
}
