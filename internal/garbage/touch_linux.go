package garbage

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// releasePages removes a block of zeros from RAM. Its pages may be in RAM if the runtime used them before.
func releasePages(block []byte) {
	_ = syscall.Madvise(block, syscall.MADV_DONTNEED) // if this fails, the pages only count as memory in RAM
}

// unmap removes the code and constants of the program's file from the memory of the process. These pages stay in the
// cache of the system. Pages that are used again come back from this cache, in groups of sixteen. The system drops
// the other pages first when it needs memory. The start uses two thirds of all pages, but only once.
func unmap() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line) // from-to, rights, offset, device, inode, file
		if len(fields) < 6 || !strings.HasPrefix(fields[1], "r-") || strings.Join(fields[5:], " ") != program {
			continue // changes in writable memory would be lost
		}
		from, to, _ := strings.Cut(fields[0], "-")
		low, err := strconv.ParseUint(from, 16, 64)
		high, wrong := strconv.ParseUint(to, 16, 64)
		if err == nil && wrong == nil {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(low), uintptr(high-low), syscall.MADV_DONTNEED) // on failure the pages stay
		}
	}
}
