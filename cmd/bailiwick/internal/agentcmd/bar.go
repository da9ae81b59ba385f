package agentcmd

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// A bar shows the progress of an export on one line, which it overwrites.
type bar struct {
	out   io.Writer // nil disables the bar
	now   func() time.Time
	began time.Time
	total int64 // expected number of records, or 0 if unknown

	last  time.Time
	width int // of the current line, in characters
}

const (
	pace = 200 * time.Millisecond // time between updates, slow enough to read
	wide = 24                     // width of the bar itself, in characters
)

// update writes the bar with the number of records written so far.
func (b *bar) update(records int) {
	if b.out == nil || records%100 != 0 {
		return // reading the clock costs more than a record
	}
	now := b.now()
	if now.Sub(b.last) < pace {
		return
	}
	b.last = now
	line := count(int64(records)) + " records"
	if b.total > 0 {
		line = fmt.Sprintf("[%s] %3d%%  %s of %s", gauge(int64(records), b.total), percent(int64(records), b.total), count(int64(records)), count(b.total))
	}
	if rate := b.rate(records, now); rate > 0 {
		line += "  " + count(int64(rate)) + "/s"
		if left := float64(b.total-int64(records)) / rate; left > 0 {
			line += "  " + (time.Duration(math.Ceil(left)) * time.Second).String() + " left"
		}
	}
	b.write(line, "")
}

// end prints the last line with the totals. It prints nothing if the export failed before the first update.
func (b *bar) end(records int, err error) {
	if b.out == nil || err != nil && b.width == 0 {
		return
	}
	line, now := count(int64(records))+" records", b.now()
	if rate := b.rate(records, now); rate > 0 {
		line += fmt.Sprintf(" in %s, %s/s", now.Sub(b.began).Round(time.Second/10), count(int64(rate)))
	}
	b.write(line, "\n")
}

// rate returns the average number of records per second, or 0 if it is too early to tell.
func (b *bar) rate(records int, now time.Time) float64 {
	if past := now.Sub(b.began); past >= pace {
		return float64(records) / past.Seconds()
	}
	return 0
}

// write replaces the current line.
func (b *bar) write(line, end string) {
	fmt.Fprint(b.out, "\r"+line+strings.Repeat(" ", max(0, b.width-len(line)))+end)
	b.width = len(line)
}

// percent rounds down, so that 100 means complete. There may be more records than counted before.
func percent(n, of int64) int64 { return min(100, n*100/of) }

func gauge(n, of int64) string {
	done := int(min(wide, n*wide/of))
	if done == wide {
		return strings.Repeat("=", wide)
	}
	return strings.Repeat("=", done) + ">" + strings.Repeat(" ", wide-1-done)
}

// count formats n with commas, such as 1,234,567.
func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
