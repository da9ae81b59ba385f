package edge

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]AddressNetwork{
		"8.8.8.8": internetAddress, "::ffff:8.8.8.8": internetAddress, "10.1.2.3": privateAddress, "::ffff:10.1.2.3": privateAddress, "100.64.0.1": privateAddress, "fd00::1": privateAddress, "127.9.9.9": loopbackAddress, "::1": loopbackAddress,
		"169.254.1.1": linkLocalAddress, "fe80::1": linkLocalAddress, "fe80::1%eth0": linkLocalAddress, "169.254.169.254": metadataAddress, "::ffff:169.254.169.254": metadataAddress, "fd00:ec2::254": metadataAddress,
		"100.100.100.200": metadataAddress, "168.63.129.16": metadataAddress, "0.0.0.0": reservedAddress, "::": reservedAddress, "64:ff9b::a00:1": reservedAddress, "64:ff9b:1::a00:1": reservedAddress, "::127.0.0.1": reservedAddress,
		"2002:7f00:1::": reservedAddress, "2001:0:7f00:1::": reservedAddress, "224.0.0.1": reservedAddress, "255.255.255.255": reservedAddress, "2600::1%eth0": reservedAddress,
	} {
		if got := networkOfAddress(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// names is a DNS server that answers each query with its current address. If the address is "", queries fail.
type names struct{ address atomic.Value }

func (n *names) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		b := make([]byte, 512)
		for {
			size, from, err := l.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = l.WriteTo(n.reply(b[:size]), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", l.LocalAddr().String())
	}}
}

func (n *names) reply(q []byte) []byte {
	end := 12
	for q[end] != 0 {
		end += int(q[end]) + 1
	}
	end += 5
	out := append([]byte{}, q[:end]...)
	out[2], out[3] = 0x81, 0x80
	for i := 6; i < 12; i++ {
		out[i] = 0
	}
	a, err := netip.ParseAddr(n.address.Load().(string))
	if err != nil {
		out[3] = 0x82
		return out
	}
	kind := uint16(1)
	if a.Is6() {
		kind = 28
	}
	if binary.BigEndian.Uint16(q[end-4:]) != kind {
		return out
	}
	out[7] = 1
	out = append(out, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(a.BitLen()/8))
	return append(out, a.AsSlice()...)
}

// TestTransport dials names that later resolve to other networks, and hosts that aren't configured.
func TestTransport(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) }))
	defer srv.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(srv.URL, "http://"))
	for _, tt := range []struct {
		name, url, first, then string
		want                   error // may be nil
	}{
		{"a literal address inside", "http://127.0.0.1:PORT", "", "", nil},
		{"a name that leads inside", "http://api.test:PORT", "127.0.0.1", "127.0.0.1", nil},
		{"within the same kind", "http://api.test:PORT", "127.0.0.2", "127.0.0.1", nil},
		{"rebound to this machine", "http://api.test:PORT", "8.8.8.8", "127.0.0.1", ErrPrivate},
		{"rebound from a private network", "http://api.test:PORT", "10.0.0.1", "127.0.0.1", ErrPrivate},
		{"rebound to metadata", "http://api.test:PORT", "10.0.0.1", "169.254.169.254", ErrPrivate},
		{"rebound to a private network", "http://api.test:PORT", "8.8.8.8", "10.0.0.1", ErrPrivate},
		{"rebound, mapped", "http://api.test:PORT", "8.8.8.8", "::ffff:127.0.0.1", ErrPrivate},
		{"rebound, IPv6", "http://api.test:PORT", "8.8.8.8", "::1", ErrPrivate},
		{"rebound, NAT64", "http://api.test:PORT", "8.8.8.8", "64:ff9b::7f00:1", ErrPrivate},
		{"rebound, unspecified", "http://api.test:PORT", "8.8.8.8", "0.0.0.0", ErrPrivate},
		{"found later", "http://api.test:PORT", "", "127.0.0.1", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := &names{}
			n.address.Store(tt.first)
			to, err := ParseURL(strings.Replace(tt.url, "PORT", port, 1))
			if err != nil {
				t.Fatal(err)
			}
			tr := GuardedTransport(to, GuardOptions{Resolver: n.resolver(t)})
			defer tr.CloseIdleConnections()
			n.address.Store(tt.then)
			res, err := tr.RoundTrip(&http.Request{Method: "GET", URL: to, Header: http.Header{}})
			if err == nil {
				res.Body.Close()
			}
			if !errors.Is(err, tt.want) {
				t.Error(err)
			}
			other := &url.URL{Scheme: "http", Host: "localhost:" + port}
			if _, err := tr.RoundTrip(&http.Request{Method: "GET", URL: other, Header: http.Header{}}); !errors.Is(err, ErrHost) {
				t.Error(err)
			}
		})
	}
}
