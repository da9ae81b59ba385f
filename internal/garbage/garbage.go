// Package garbage bounds the memory that a process keeps although it no longer uses it. It is only for the program: a
// program that embeds a gateway sets its own collector.
package garbage

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// The soft memory limit of the process, and the bytes that Bound adds to the memory that the collector counts as in
// use.
const limit, ballast = 512 << 20, 32 << 20

// The percentage with which the least heap that is collected has 16 MB: Go's is 4 MB of 100.
const starting = 400

// own says that the environment leaves the collector to the program. This package is initialized early. From then on,
// the collector waits for 16 MB. A start makes less garbage than that, and three collections took a fifth of its
// processor time.
var own = wait()

func wait() bool {
	if os.Getenv("GOGC") != "" {
		return false
	}
	debug.SetGCPercent(starting)
	return true
}

// A Block is memory that the collector takes for in use. It is never written to, and takes no memory in RAM.
type Block struct{ bytes atomic.Pointer[[]byte] }

// TuneCollector makes the collector run when there is 16 MB of garbage and half as much as memory in use. A percentage is too
// little for the few megabytes in use at rest, where it halves the throughput. It is too much under a call that makes
// gigabytes of garbage. The block makes the difference, as long as the caller keeps it. The first collection makes the
// block, because a collection would be due at once with it. The environment variables GOGC and GOMEMLIMIT override
// both.
func TuneCollector() *Block {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit + ballast)
	}
	b := &Block{}
	if own {
		runtime.AddCleanup(&first{}, (*Block).fill, b)
	}
	return b
}

// A first is collected first. Its size keeps it from sharing its place with others.
type first [2]uint64

// fill makes the block, unless Spare was called. The percentage is set after it: a low one without the block would start a collection
// at once.
func (b *Block) fill() {
	if read("/gc/gogc:percent") != starting {
		return
	}
	bytes := make([]byte, ballast)
	releasePages(bytes)
	b.bytes.Store(&bytes)
	debug.SetGCPercent(50)
}

// Spare makes the collector run when there is a tenth of garbage, without the block of Bound. It is for a command that
// reads much at once and ends soon. The command takes longer and less memory. Spare must be called before anything was
// collected.
func Spare() {
	if own {
		debug.SetGCPercent(10)
	}
}

// owed is how much the process allocates before memory is given back again. rest is the most that an interval at rest
// allocates.
const owed, rest = 64 << 20, 4 << 20

// GiveBack gives unused memory back to the operating system each time that the process is at rest for an interval. That
// is so after its start and after work. Without it, the collector keeps the memory for minutes. It returns when ctx
// ends.
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
		if now-last < rest && (given == 0 || now-given > owed) {
			debug.FreeOSMemory()
			unmap()
			given = now
		}
		last = now
	}
}

// FreeAfterLoad gives back the memory that a command took to load a large configuration, and the pages of the program
// that only the start used.
func FreeAfterLoad() {
	if read("/gc/heap/allocs:bytes") > owed {
		debug.FreeOSMemory()
	}
	unmap()
}

// read returns a metric of the runtime that is a number.
func read(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
