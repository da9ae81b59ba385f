package webhook

import (
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
)

// Quiet contains the hours of a day in which nothing is sent, such as 22:00-07:00 in a time zone.
type Quiet struct {
	From, To int    // minutes since midnight. If To is not after From, it is on the next day
	Zone     string // a name such as Europe/Berlin. "" means UTC
}

// ParseQuiet reads hours such as "22:00-07:00".
func ParseQuiet(text string) (q Quiet, err error) {
	var fh, fm, th, tm int
	if n, _ := fmt.Sscanf(text, "%d:%d-%d:%d", &fh, &fm, &th, &tm); n != 4 || fmt.Sprintf("%02d:%02d-%02d:%02d", fh, fm, th, tm) != text || max(fh, th) > 23 || max(fm, tm) > 59 || min(fh, fm, th, tm) < 0 {
		return q, fmt.Errorf("must be hours such as 22:00-07:00")
	}
	if q.From, q.To = fh*60+fm, th*60+tm; q.From == q.To {
		return q, fmt.Errorf("begins when it ends, so nothing would ever be sent")
	}
	return q, nil
}

// until returns the end of the quiet hours that contain at, or at itself outside the quiet hours.
func (q *Quiet) until(at time.Time) time.Time {
	if q == nil {
		return at
	}
	zone, err := time.LoadLocation(q.Zone)
	if err != nil {
		zone = time.UTC // the configuration was checked, so the zone was removed since
	}
	local := at.In(zone)
	if !q.holds(local) {
		return at
	}
	y, m, d := local.Date()
	if q.From > q.To && minuteOf(local) >= q.From {
		d++
	}
	end := time.Date(y, m, d, 0, q.To, 0, 0, zone)
	for !end.After(at) || q.holds(end) { // when the clock changes, the time To may occur twice or not at all
		end = end.Add(30 * time.Minute)
	}
	return end
}

// holds reports whether a local time is within the quiet hours.
func (q *Quiet) holds(local time.Time) bool {
	minute := minuteOf(local)
	if q.From < q.To {
		return minute >= q.From && minute < q.To
	}
	return minute >= q.From || minute < q.To
}

// minuteOf returns the minutes since midnight of a local time.
func minuteOf(local time.Time) int { return local.Hour()*60 + local.Minute() }

// due returns the time of the first notification of e, or zero for at once. Break-glass events don't wait.
func (h *Hook) due(e change.Event, now time.Time) time.Time {
	if e.Broken {
		return time.Time{}
	}
	at := now
	if h.Digest > 0 {
		at = now.Truncate(h.Digest).Add(h.Digest)
	}
	if at = h.Quiet.until(at); at.Equal(now) {
		return time.Time{}
	}
	return at
}
