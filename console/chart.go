package console

import (
	"fmt"
	"html/template"
	"strings"
)

// A chartBar is one bar of a chart over time. Part is the part of Value that has the colour of failures.
type chartBar struct {
	Value, Part float64
	Says        string // full description, for tooltips and screen readers
}

// These are the dimensions of a chart in its own units. The page stretches the chart to the available width.
const (
	height = 100.0
	unit   = 10.0 // one bar with its gap
	gap    = 2.0
)

// topOfBars returns a round number for the top of a bar chart, or 0 if all bars are 0.
func topOfBars(bars []chartBar) float64 {
	most := 0.0
	for _, b := range bars {
		most = max(most, b.Value)
	}
	if most <= 0 {
		return 0
	}
	at := 1.0
	for at >= most {
		at /= 10
	}
	for {
		for _, f := range []float64{1, 1.5, 2, 3, 4, 5, 7.5} {
			if at*f >= most {
				return at * f
			}
		}
		at *= 10
	}
}

// drawBars draws bars next to each other.
func drawBars(bars []chartBar) template.HTML {
	var b strings.Builder
	top := topOfBars(bars)
	fmt.Fprintf(&b, `<svg class="bars" viewBox="0 0 %g %g" preserveAspectRatio="none" aria-hidden="true">`, max(unit*float64(len(bars))-gap, 1), height)
	for i, bar := range bars {
		x := unit * float64(i)
		fmt.Fprintf(&b, `<g><title>%s</title><rect class="back" x="%g" y="0" width="%g" height="%g"/>`, template.HTMLEscapeString(bar.Says), x, unit-gap, height)
		if top > 0 && bar.Value > 0 {
			whole, part := max(height*bar.Value/top, 1), height*bar.Part/top
			fmt.Fprintf(&b, `<rect class="bar" x="%g" y="%.2f" width="%g" height="%.2f"/>`, x, height-whole, unit-gap, whole)
			if bar.Part > 0 {
				part = max(part, 1)
				fmt.Fprintf(&b, `<rect class="part" x="%g" y="%.2f" width="%g" height="%.2f"/>`, x, height-part, unit-gap, part)
			}
		}
		b.WriteString(`</g>`)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // text is escaped above, the rest is numbers
}

// drawShare draws a bar for the share of part in whole.
func drawShare(part, whole float64) template.HTML {
	if whole <= 0 {
		whole = 1
	}
	return template.HTML(fmt.Sprintf(`<svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">`+
		`<rect class="bar" width="%.2f" height="6" rx="1"/></svg>`, min(max(100*part/whole, .5), 100)))
}
