package edge

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

func TestInternet(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1": true, "::ffff:8.8.8.8": true, "100.63.255.255": true, "172.32.0.1": true,
		"127.0.0.1": false, "10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "0.1.2.3": false,
		"255.255.255.255": false, "240.0.0.1": false, "224.0.0.1": false, "198.18.0.1": false, "192.0.2.1": false, "192.0.0.170": false,
		"::1": false, "::": false, "fe80::1": false, "fc00::1": false, "ff02::1": false, "::ffff:127.0.0.1": false, "::127.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001::1": false, "2001:db8::1": false,
	} {
		if got := networkOfAddress(netip.MustParseAddr(text)) == internetAddress; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestDialer dials this machine, by address and by name.
func TestDialer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost"} {
		if _, err := GuardedDialer(false).Dial("tcp", net.JoinHostPort(host, port)); !errors.Is(err, ErrPrivate) {
			t.Error(host, err)
		}
		c, err := GuardedDialer(true).Dial("tcp", net.JoinHostPort(host, port))
		if err != nil {
			t.Error(host, err)
			continue
		}
		c.Close()
	}
}
