package app_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// bastion serves SSH on loopback. It accepts the owner of a key, and forwards connections. It records their addresses
// in forwarded.
func bastion(t *testing.T, user ssh.PublicKey, host ssh.Signer) (address string, forwarded *[]string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	forwarded = &[]string{}
	server := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "gate" || string(key.Marshal()) != string(user.Marshal()) {
			return nil, fmt.Errorf("who is that")
		}
		return nil, nil
	}}
	server.AddHostKey(host)
	go func() {
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			go forward(raw, server, forwarded)
		}
	}()
	return l.Addr().String(), forwarded
}

// forward serves one SSH connection, with channels of the type direct-tcpip.
func forward(raw net.Conn, server *ssh.ServerConfig, forwarded *[]string) {
	_, channels, requests, err := ssh.NewServerConn(raw, server)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		var to struct {
			Host   string
			Port   uint32
			From   string
			Origin uint32
		}
		if c.ChannelType() != "direct-tcpip" || ssh.Unmarshal(c.ExtraData(), &to) != nil {
			_ = c.Reject(ssh.UnknownChannelType, "no")
			continue
		}
		far, err := net.Dial("tcp", net.JoinHostPort(to.Host, fmt.Sprint(to.Port)))
		if err != nil {
			_ = c.Reject(ssh.ConnectionFailed, "no")
			continue
		}
		*forwarded = append(*forwarded, to.Host)
		near, requests, err := c.Accept()
		if err != nil {
			return
		}
		go ssh.DiscardRequests(requests)
		go func() { _, _ = io.Copy(near, far); near.Close() }()
		go func() { _, _ = io.Copy(far, near); far.Close() }()
	}
}

// keys returns a new key, and its private form in PEM.
func keys(t *testing.T) (ssh.Signer, []byte) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return signer, pem.EncodeToMemory(block)
}

func written(t *testing.T, path string, text []byte) string {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTunnel reads PostgreSQL and MariaDB through an SSH server. A server with an unknown key is refused.
func TestTunnel(t *testing.T) {
	dir := t.TempDir()
	host, _ := keys(t)
	user, private := keys(t)
	other, _ := keys(t)
	address, forwarded := bastion(t, user.PublicKey(), host)
	written(t, filepath.Join(dir, "id"), private)
	written(t, filepath.Join(dir, "known"), []byte(knownhosts.Line([]string{address}, host.PublicKey())+"\n"))
	written(t, filepath.Join(dir, "wrong"), []byte(knownhosts.Line([]string{address}, other.PublicKey())+"\n"))
	written(t, filepath.Join(dir, "none"), nil)
	open := func(url, who, known string) error {
		t.Helper()
		c, err := config.Parse(filepath.Join(dir, "f.yaml"), fmt.Appendf(nil, "sources: {s: {url: %q, ssh: {host: %q, user: %s, key: id, known_hosts: %s}}}\n", url, address, who, known), nil)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := app.OpenSource(t.Context(), c, c.Sources[0])
		if err != nil {
			return err
		}
		defer opened.Close()
		_, _, err = opened.Describe(t.Context())
		return err
	}
	for _, url := range []string{services.Postgres(t), services.MariaDB(t)} {
		before := len(*forwarded)
		if err := open(url, "gate", "known"); err != nil || len(*forwarded) == before {
			t.Errorf("%v, forwarded %v", err, *forwarded)
		}
		for _, row := range []struct{ who, known, want string }{
			{"gate", "wrong", "another key than ssh.known_hosts has"},
			{"gate", "none", "ssh.known_hosts has no key"},
			{"eve", "known", "doesn't let the user in"},
		} {
			if err := open(url, row.who, row.known); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s %s: %v, want %s", row.who, row.known, err, row.want)
			}
		}
	}
}

// TestPasswordRotates changes the password of an account while a source is open. The file contains the new password.
func TestPasswordRotates(t *testing.T) {
	at := services.Postgres(t)
	admin, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	role := "rotates_" + strings.ToLower(rand.Text()[:8])
	run := func(statement string) {
		t.Helper()
		if _, err := admin.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE ROLE " + role + " LOGIN PASSWORD 'first'")
	t.Cleanup(func() {
		run("DROP OWNED BY " + role + " CASCADE; DROP ROLE " + role)
		admin.Close(context.Background())
	})
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	written(t, filepath.Join(dir, "password"), []byte("first\n"))
	file := written(t, filepath.Join(dir, "f.yaml"), fmt.Appendf(nil, "sources: {s: {url: 'postgres://%s:${file:password}@%s%s?%s'}}\n", role, u.Host, u.Path, u.RawQuery))
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := app.OpenSource(t.Context(), c, c.Sources[0])
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	run("ALTER ROLE " + role + " PASSWORD 'second'")
	again := func() error {
		run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '" + role + "'")
		for range 3 { // this finds connections that were ended
			if _, _, err = opened.Describe(t.Context()); err == nil {
				return nil
			}
		}
		return err
	}
	if err := again(); err == nil {
		t.Skip("LEFT OUT: the server takes any password")
	}
	written(t, filepath.Join(dir, "password"), []byte("second\n"))
	if err := again(); err != nil {
		t.Error(err)
	}
	// Another host never gets this host's password.
	written(t, file, fmt.Appendf(nil, "sources: {s: {url: 'postgres://%s:${file:password}@elsewhere%s?%s'}}\n", role, u.Path, u.RawQuery))
	run("ALTER ROLE " + role + " PASSWORD 'third'")
	written(t, filepath.Join(dir, "password"), []byte("third\n"))
	if err := again(); err == nil {
		t.Error("the password of another host was taken")
	}
}
