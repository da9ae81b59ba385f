// Package garbage bounds the unused memory that a process keeps. Only the program uses it. Programs that embed a
// gateway configure their own garbage collector.
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

// The soft memory limit of the process, and the bytes that TuneCollector adds to the memory in use.
const limit, ballast = 512 << 20, 32 << 20

// The GC percentage at which the smallest heap that is collected has 16 MB. With Go's default of 100, it has 4 MB.
const starting = 400

// own reports whether the program may configure the collector, because the environment doesn't. This package is
// initialized early, and from then on the collector waits for 16 MB. The start makes less garbage than that. With
// Go's default, three collections took a fifth of the processor time of the start.
var own = wait()

func wait() bool {
	if os.Getenv("GOGC") != "" {
		return false
	}
	debug.SetGCPercent(starting)
	return true
}

// A Block is memory that the collector counts as in use. The program never writes to it, so it uses no RAM.
type Block struct{ bytes atomic.Pointer[[]byte] }

// TuneCollector makes the collector run when the garbage reaches 16 MB plus half of the memory in use. A GC
// percentage cannot do this. With the few megabytes in use at rest, collections would be so frequent that the
// throughput halves. During a call that makes gigabytes of garbage, they would be too rare. The block adds to the
// memory in use, as long as the caller keeps the returned pointer. The block is made only after the first collection,
// because otherwise it would start a collection at once. The environment variables GOGC and GOMEMLIMIT override both
// settings.
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

// A first is an object that the first collection frees. Its size keeps it from sharing an allocation with other
// objects.
type first [2]uint64

// fill makes the block, unless Spare was called. It sets the percentage afterwards, because a low percentage without
// the block would start a collection at once.
func (b *Block) fill() {
	if read("/gc/gogc:percent") != starting {
		return
	}
	bytes := make([]byte, ballast)
	releasePages(bytes)
	b.bytes.Store(&bytes)
	debug.SetGCPercent(50)
}

// Spare makes the collector run when the garbage reaches a tenth of the memory in use, without the block of
// TuneCollector. It is for a command that reads much data at once and ends soon. The command then takes longer and
// uses less memory. Spare must be called before the first collection.
func Spare() {
	if own {
		debug.SetGCPercent(10)
	}
}

// owed is how many bytes the process allocates before memory is released again. rest is the maximum that a process at
// rest allocates in an interval, in bytes.
const owed, rest = 64 << 20, 4 << 20

// GiveBack releases unused memory to the operating system whenever the process was at rest for an interval. This
// happens after the start and after work. Without GiveBack, the collector keeps the memory for minutes. GiveBack
// returns when ctx ends.
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

// FreeAfterLoad releases the memory that a command used to load a large configuration. It also releases the pages of
// the program that only the start used.
func FreeAfterLoad() {
	if read("/gc/heap/allocs:bytes") > owed {
		debug.FreeOSMemory()
	}
	unmap()
}

// read returns the value of a numeric metric of the Go runtime.
func read(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
