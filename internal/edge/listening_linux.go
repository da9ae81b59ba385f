package edge

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// ignoreNew makes the kernel ignore new connections to l, and reports whether it succeeded. A client repeats its
// connection request after a second. By then, l is closed and the request is refused. Connections whose handshake has
// begun are still established.
func ignoreNew(l net.Listener) bool {
	const flags, synAck, syn = 13, 0x12, 0x02 // constants of the TCP header
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: synAck},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: syn, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: 1 << 18},
	}
	done := false
	control(l, func(fd int) {
		done = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}) == nil
	})
	return done
}

// waiting returns the number of connections to l that wait to be accepted.
func waiting(l net.Listener) (n int) {
	control(l, func(fd int) {
		if info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			n = int(info.Unacked) // for a listener, this field is the length of the queue
		}
	})
	return n
}

// control calls do with the file descriptor of l, if l has one.
func control(l net.Listener, do func(fd int)) {
	c, ok := l.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { do(int(fd)) }) // an error means that l is closed
}
