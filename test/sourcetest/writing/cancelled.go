package writing

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
)

// testCancellation tests a cancelled apply. It must have happened completely or not at all, and Bar must report
// which. In both cases nothing else may be left behind.
func testCancellation(t *testing.T, d *database) {
	c := d.newApprovedChange(t, `{"op":"update","class":"marks","id":"0","data":{"n":1}}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Apply(ctx, d.permit(t, c, 1)); problem.CodeOf(err) != problem.Cancelled {
		t.Errorf("cancelled before: %v", err)
	}
	d.withLockedRecord(t, func() {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		begun := time.Now()
		if _, err := d.Apply(ctx, d.permit(t, c, 1)); problem.CodeOf(err) != problem.Timeout {
			t.Errorf("over its time: %v", err)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("it took %v to be broken off", took)
		}
	})
	if _, applied, err := d.Bar(t.Context(), c.ID, 1); applied || err != nil {
		t.Errorf("Bar: %v %v", applied, err)
	}
	if r, err := d.apply(t, c, 1); err == nil {
		t.Errorf("a barred one was applied: %v", r)
	}
	if r, err := d.apply(t, c, 2); err != nil || r.Again {
		t.Errorf("with the next fence: %v %v", r, err)
	}
	if n, _ := d.number(t, 0); n != 1 {
		t.Errorf("n is %d", n)
	}
	testInterruption(t, d)
}

// testInterruption cancels an apply at any moment. Either both the effect and its marker must be written, or neither.
// If a source doesn't write them together, the next executor completes the work. In FerretDB it may be the executor
// after the next, because the server may interrupt the next one as well.
func testInterruption(t *testing.T, d *database) {
	left := 0
	for i := 0; i < 60; i += d.every() {
		if err := d.Set(0, 0); err != nil {
			t.Fatal(err)
		}
		c := d.newApprovedChange(t, `{"op":"update","class":"marks","id":"0","data":{"n":1}}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*200*time.Microsecond)
		_, err := d.Apply(ctx, d.permit(t, c, 1))
		cancel()
		_, applied, barred := d.Bar(t.Context(), c.ID, 1)
		if !d.Groups && errors.Is(barred, change.ErrUnknown) {
			left++
		}
		for fence := int64(2); fence < 1000 && !d.Groups && (errors.Is(barred, change.ErrUnknown) || problem.CodeOf(barred) == problem.Upstream); fence++ {
			if fence > 10 {
				time.Sleep(10 * time.Millisecond) // a connection is interrupted as long as a statement of the first executor is running
			}
			_, barred = d.apply(t, c, fence)
			applied = true
		}
		if n, _ := d.number(t, 0); barred != nil || (n == 1) != applied || err == nil && !applied {
			t.Errorf("after %v: n is %d, Bar says %v %v", err, n, applied, barred)
		}
	}
	t.Logf("%d of 60 were left half done, and settled", left)
}

// withLockedRecord calls the function while with the record 0 of marks locked by another connection.
func (d *database) withLockedRecord(t *testing.T, while func()) {
	t.Helper()
	conn, err := d.outside.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	begin := map[sourcetest.Kind]string{sourcetest.SQLite: "BEGIN IMMEDIATE", sourcetest.PostgreSQL: "BEGIN", sourcetest.MySQL: "BEGIN"}[d.Kind]
	for _, s := range []string{begin, `UPDATE marks SET n = n WHERE id = 0`} {
		if _, err := conn.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	while()
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
}

// catalogue checks that the marker table isn't a class, and that classes that can't be written safely are refused.
func catalogue(t *testing.T, d *database) {
	for _, c := range d.classes {
		if strings.HasPrefix(c.Name, "bailiwick") {
			t.Errorf("the class %s is shown", c.Name)
		}
	}
	again, _, err := d.Describe(t.Context())
	if err != nil || len(again) != len(d.classes) {
		t.Errorf("described again: %d classes, before %d: %v", len(again), len(d.classes), err)
	}
	if _, err := d.previewWrites(t, `{"op":"create","class":"loose","data":{"line":"x"}}`); problem.CodeOf(err) != problem.Unsupported {
		t.Errorf("a class without a key: %v", err)
	}
	if errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
