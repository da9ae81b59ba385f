package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// sshTime is the maximum time for an SSH server to accept the connection and the key.
const sshTime = 10 * time.Second

// A tunnel opens connections through an SSH server. It connects to the server on first use, and again if the
// connection is lost. It is safe for concurrent use.
type tunnel struct {
	address string
	config  *ssh.ClientConfig

	mu     sync.Mutex
	client *ssh.Client
}

// openTunnel returns a tunnel through the SSH server in o. It reads the key and the known hosts. It opens no
// connection yet.
func openTunnel(o *config.SSH) (*tunnel, error) {
	pem := []byte(o.Key)
	if !strings.Contains(o.Key, "PRIVATE KEY-----") {
		var err error
		if pem, err = os.ReadFile(o.Key); err != nil {
			return nil, errors.New("ssh.key can't be read: it is a private key, or the path of one")
		}
	}
	key, err := ssh.ParsePrivateKey(pem)
	if _, locked := errors.AsType[*ssh.PassphraseMissingError](err); locked {
		return nil, errors.New("ssh.key has a passphrase: give a key without one, which only the gateway can read")
	}
	if err != nil {
		return nil, errors.New("ssh.key is not a private key in PEM or OpenSSH's form")
	}
	known, err := knownhosts.New(o.KnownHosts)
	if err != nil {
		return nil, errors.New("ssh.known_hosts can't be read: write the host's keys into it with ssh-keyscan, and compare them with the server's")
	}
	t := &tunnel{address: o.Host}
	if _, _, err := net.SplitHostPort(o.Host); err != nil {
		t.address = net.JoinHostPort(o.Host, "22")
	}
	t.config = &ssh.ClientConfig{User: o.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: known, HostKeyAlgorithms: algorithms(known, t.address), Timeout: sshTime}
	return t, nil
}

// algorithms returns the algorithms of a host's known keys. The server may also have other keys, which it would
// present without this restriction.
func algorithms(known ssh.HostKeyCallback, address string) []string {
	var wanted *knownhosts.KeyError
	if !errors.As(known(address, &net.TCPAddr{IP: net.IPv4zero}, noKey{}), &wanted) {
		return nil
	}
	var out []string
	for _, k := range wanted.Want {
		switch kind := k.Key.Type(); kind {
		case ssh.KeyAlgoRSA:
			out = append(out, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		default:
			out = append(out, kind)
		}
	}
	return out
}

// noKey is a key that no host has.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return []byte("none") }
func (noKey) Verify([]byte, *ssh.Signature) error { return errors.New("no key") }

// dial connects to an address from the SSH server.
func (t *tunnel) dial(ctx context.Context, network, address string) (net.Conn, error) {
	for again := false; ; again = true {
		client, err := t.sshClient(ctx)
		if err != nil {
			return nil, err
		}
		far, err := client.DialContext(ctx, network, address)
		if err == nil {
			return withDeadlines(far), nil
		}
		if _, refused := errors.AsType[*ssh.OpenChannelError](err); refused {
			return nil, errors.New("the SSH server can't reach the database, or doesn't forward connections to it")
		}
		if ctx.Err() != nil || again {
			return nil, cmp.Or(ctx.Err(), errors.New("the connection to the SSH server was lost"))
		}
		t.dropClient(client)
	}
}

// sshClient returns the connection to the SSH server.
func (t *tunnel) sshClient(ctx context.Context) (*ssh.Client, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.client != nil {
		return t.client, nil
	}
	ctx, cancel := context.WithTimeout(ctx, sshTime)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", t.address)
	if err != nil {
		return nil, errors.New("the SSH server can't be reached")
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	conn, channels, requests, err := ssh.NewClientConn(raw, t.address, t.config)
	if err != nil {
		raw.Close()
		if unknown, ok := errors.AsType[*knownhosts.KeyError](err); ok {
			if len(unknown.Want) > 0 {
				return nil, errors.New("the SSH server shows another key than ssh.known_hosts has: do not go on before you know why")
			}
			return nil, errors.New("ssh.known_hosts has no key of the SSH server")
		}
		return nil, errors.New("the SSH server doesn't let the user in, or doesn't speak SSH: look at ssh.user, ssh.key and the server's log")
	}
	t.client = ssh.NewClient(conn, channels, requests)
	go func(c *ssh.Client) {
		_ = c.Wait() // the next connection reports the reason
		t.dropClient(c)
	}(t.client)
	return t.client, nil
}

// dropClient closes a connection to the SSH server and removes it.
func (t *tunnel) dropClient(c *ssh.Client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.client == c {
		t.client = nil
	}
	c.Close()
}

// close closes the connection to the SSH server. It does nothing for a nil tunnel.
func (t *tunnel) close() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.client == nil {
		return nil
	}
	c := t.client
	t.client = nil
	if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// withDeadlines returns a connection to far with deadlines, which SSH connections don't support.
func withDeadlines(far net.Conn) net.Conn {
	near, inner := net.Pipe()
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // both ends are closed, for any reason
		to.Close()
		from.Close()
	}
	go pass(far, inner)
	go pass(inner, far)
	return near
}
