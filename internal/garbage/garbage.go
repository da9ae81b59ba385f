// Package garbage bounds the memory that a process keeps for what it no longer uses. It is for the program alone: a program
// that embeds a gateway sets its own collector.
package garbage

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The soft memory limit of the process, and the bytes that Bound adds to what the collector takes for in use.
const limit, ballast = 512 << 20, 32 << 20

// Bound makes the collector run when there is 16 MB of garbage and half as much as memory in use. A percentage alone is too
// little for the few megabytes in use at rest, where it halves the throughput, or too much under a call that makes garbage
// of gigabytes. The block that it returns makes the difference while the caller keeps it; it is never written to, and takes
// no memory in RAM. The environment variables GOGC and GOMEMLIMIT override both.
func Bound() (block []byte) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
		block = make([]byte, ballast)
		untouched(block)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit + ballast)
	}
	return block
}

// Spare makes the collector run more often, for a command that reads much at once and ends soon: it takes longer and less
// memory.
func Spare() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(10)
	}
}

// What is given back at once after so many allocated bytes, and the most that an interval at rest allocates.
const owed, rest = 64 << 20, 4 << 20

// GiveBack gives unused memory back to the operating system each time that the process comes to rest after work, for an
// interval. The collector alone keeps it for minutes. It returns when ctx ends.
func GiveBack(ctx context.Context, interval time.Duration) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	var last, given uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		now := read("/gc/heap/allocs:bytes")
		if now-last < rest && now-given > owed {
			debug.FreeOSMemory()
			given = now
		}
		last = now
	}
}

// Loaded gives back what a command took to load a large configuration. After a small one it does nothing.
func Loaded() {
	if read("/gc/heap/allocs:bytes") > owed {
		debug.FreeOSMemory()
	}
}

// read returns a metric of the runtime that is a number.
func read(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
