//go:build unix

package store

import (
	"os"
	"syscall"
	"testing"
)

// TestTurns lets one process wait for the lock that another process holds. The other process releases the lock and
// immediately requests it again, as for the next batch. The waiting process must get it first.
func TestTurns(t *testing.T) {
	dir, to := t.TempDir(), &table{}
	for range 20 {
		busy, waiting := open(t, dir, to, JournalOptions{}), open(t, dir, to, JournalOptions{})
		unlock, err := busy.lock()
		if err != nil {
			t.Fatal(err)
		}
		order := make(chan string, 2)
		go func() {
			unlock, err := waiting.lock()
			order <- "waiting"
			if err == nil {
				unlock()
			}
		}()
		folder, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { // until the other process has the turn
			ok, err := tryLock(folder)
			if ok {
				unlockFile(folder)
			}
			return !ok && err == nil
		})
		folder.Close()
		unlock()
		if unlock, err = busy.lock(); err != nil {
			t.Fatal(err)
		}
		order <- "busy"
		unlock()
		if first := <-order; first != "waiting" {
			t.Fatal("a process that waited for the lock came after one that asked later")
		}
		<-order
	}
}

// TestTurnOfOneThatIsStopped holds the turn, like a process that was suspended while it waited. Others must continue
// without it.
func TestTurnOfOneThatIsStopped(t *testing.T) {
	dir, to := t.TempDir(), &table{}
	j := open(t, dir, to, JournalOptions{})
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := j.Append(batchOf(name)); err != nil || !j.unordered {
			t.Fatal(err, j.unordered)
		}
	}
	unlockFile(folder)
	if err := j.Append(batchOf("d")); err != nil || j.unordered {
		t.Error(err, j.unordered)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	to.wantChain(t, []string{"a", "b", "c", "d"})
}
