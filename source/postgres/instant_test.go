package postgres

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestInstantOf compares instantOf with time.Parse. instantOf must return the same instant, or false.
func TestInstantOf(t *testing.T) {
	for text, ok := range map[string]bool{
		"2026-01-20 10:15:30+00": true, "2026-01-20 10:15:30": true, "0001-01-01 00:00:00+00": true, "9999-12-31 23:59:59.999999+00": true, "2024-02-29 23:59:59.5+00": true,
		"2025-02-29 00:00:00+00": false, "2026-13-01 00:00:00+00": false, "2026-01-20 10:15:30+01": false, "2026-01-20 10:15:30+00 BC": false, "infinity": false, "2026-01-20": false,
		"12026-01-20 10:15:30+00": false, "2026-01-20 24:00:00+00": false, "2026-01-20 10:60:00+00": false, "2026-01-20 10:15:60+00": false, "2026-01-20T10:15:30+00": false, "2026-01-20 10:15:30.+00": true,
	} {
		if _, got := instantOf([]byte(text)); got != ok {
			t.Errorf("instantOf(%q) is read: %t, want %t", text, got, ok)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := time.UnixMicro(rapid.Int64Range(-62_135_596_800_000_000, 253_402_300_799_999_999).Draw(t, "micros")).UTC()
		text := want.Format(rapid.SampledFrom([]string{"2006-01-02 15:04:05.999999+00", "2006-01-02 15:04:05.999999", "2006-01-02 15:04:05.000000+00"}).Draw(t, "form"))
		if got, ok := instantOf([]byte(text)); !ok || got != want.UnixMicro() {
			t.Fatalf("instantOf(%q) = %d, %t, want %d", text, got, ok, want.UnixMicro())
		}
	})
}
