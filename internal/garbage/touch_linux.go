package garbage

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// releasePages takes a block of zeros out of RAM: pages that the runtime used before were written to.
func releasePages(block []byte) {
	_ = syscall.Madvise(block, syscall.MADV_DONTNEED) // without it they count as memory in RAM, and no more
}

// unmap takes the pages of the program's file out of the process, its code and constants. They stay in the system's cache,
// from where those that are used again come back, in groups of sixteen. The others are the first that it gives up. A start
// goes once through two thirds of them.
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
			continue // what can be written to would be lost
		}
		from, to, _ := strings.Cut(fields[0], "-")
		low, err := strconv.ParseUint(from, 16, 64)
		high, wrong := strconv.ParseUint(to, 16, 64)
		if err == nil && wrong == nil {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(low), uintptr(high-low), syscall.MADV_DONTNEED) // without it they stay
		}
	}
}
