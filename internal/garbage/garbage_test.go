package garbage

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain also runs in the child process of TestBound, which has its own collector.
func TestMain(m *testing.M) {
	if os.Getenv("BAILIWICK_TEST_GARBAGE") == "" {
		os.Exit(m.Run())
	}
	status, _ := os.ReadFile("/proc/self/status")
	for range 12 {
		runtime.KeepAlive(make([]byte, 1<<20))
	}
	block := TuneCollector()
	begun := read("/gc/cycles/total:gc-cycles")
	file := field("RssFile:", string(status))
	FreeAfterLoad()
	if now, err := os.ReadFile("/proc/self/status"); begun != 0 || file > 0 && field("RssFile:", string(now)) >= file { // how much less depends on what the system maps again around each access
		fmt.Println("it collected", begun, "times before it began, and has", field("RssFile:", string(now)), "of", file, "kB of the program mapped", err)
		os.Exit(1)
	}
	runtime.GC()
	for end := time.Now().Add(time.Minute); block.bytes.Load() == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	goal := func() uint64 { runtime.GC(); return (read("/gc/heap/goal:bytes") - ballast) >> 20 }
	rest := goal()
	kept := make([]byte, 64<<20)
	work := goal()
	if rest < 15 || rest > 24 || work < 64+16+32-4 || work > 64+16+32+8 {
		fmt.Println("collects at", rest, "MB at rest and at", work, "MB with 64 MB in use")
		os.Exit(1)
	}
	runtime.KeepAlive(kept)
	kept = nil
	go GiveBack(context.Background(), 50*time.Millisecond)
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		now, err := os.ReadFile("/proc/self/status")
		if before, after := field("VmRSS:", string(status)), field("VmRSS:", string(now)); after-before > ballast>>11 && time.Now().After(end) {
			fmt.Println("it keeps", after, "kB in RAM; it began with", before, err)
			os.Exit(1)
		} else if after-before <= ballast>>11 {
			break
		}
	}
	runtime.KeepAlive(block)
	os.Exit(0)
}

// field returns a number from the status of a process, or -1 if the system doesn't report it.
func field(name, status string) (kb int) {
	_, after, ok := strings.Cut(status, name)
	if !ok {
		return -1
	}
	fmt.Sscan(after, &kb)
	return kb
}

// TestBound runs a process that makes no collection before TuneCollector. From then on, the process must collect when
// the garbage reaches 16 MB plus half of the memory in use. It must also release unused memory. The block must not be
// in RAM.
func TestBound(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "BAILIWICK_TEST_GARBAGE=1", "GOGC=", "GOMEMLIMIT=")
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
