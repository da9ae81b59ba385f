package edge

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestNote runs a loop that fails three times a second for two and a half minutes, works, and fails again.
func TestNote(t *testing.T) {
	var out bytes.Buffer
	at := time.Unix(1_700_000_000, 0)
	plain := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	l := &OutageLog{Log: plain, Level: slog.LevelError, Fails: "fails", Works: "works", Now: func() time.Time { return at }}
	l.Note(t.Context(), nil)
	for range 150 {
		l.Note(t.Context(), errors.Join(errors.New("disk full"), errors.New("disk full"), errors.New("no lease")))
		at = at.Add(time.Second)
	}
	l.Note(t.Context(), nil)
	l.Note(t.Context(), nil)
	l.Note(t.Context(), errors.New("gone"))
	want := `level=ERROR msg=fails error="disk full; no lease"
level=ERROR msg=fails error="disk full; no lease" times=60
level=ERROR msg=fails error="disk full; no lease" times=60
level=INFO msg=works after=2m30s
level=ERROR msg=fails error=gone
`
	if got := out.String(); got != want {
		t.Errorf("%d lines:\n%swant\n%s", strings.Count(got, "\n"), got, want)
	}
}
