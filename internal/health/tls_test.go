package health

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// encrypted starts a server that answers PostgreSQL's request for TLS with its own certificate. The certificate is
// for the address ip and expires at the given time. It returns the address of the server and the file of the
// certificate.
func encrypted(t *testing.T, ip net.IP, until time.Time) (addr, file string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "db"}, NotBefore: until.Add(-48 * time.Hour), NotAfter: until, IPAddresses: []net.IP{ip},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := io.ReadFull(conn, make([]byte, 8)); err != nil {
					return
				}
				conn.Write([]byte("S"))
				tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}).Handshake()
			}()
		}
	}()
	return l.Addr().String(), file
}

// TestTLS checks that each fault of a certificate has its own message. The faults are an unknown authority, another
// authority than in sslrootcert, an expired certificate, and a certificate of another host.
func TestTLS(t *testing.T) {
	here, day := net.IPv4(127, 0, 0, 1), 24*time.Hour
	fine, fineFile := encrypted(t, here, time.Now().Add(day))
	_, other := encrypted(t, here, time.Now().Add(day))
	over, overFile := encrypted(t, here, time.Now().Add(-time.Hour))
	elsewhere, elsewhereFile := encrypted(t, net.IPv4(192, 0, 2, 1), time.Now().Add(day))
	for _, row := range []struct{ at, file, want, do string }{
		{fine, "", "certificate signed by unknown authority", "as sslrootcert"},
		{fine, other, "certificate signed by unknown authority", "as sslrootcert"},
		{over, overFile, "certificate has expired or is not yet valid", "Renew the server's certificate"},
		{elsewhere, elsewhereFile, "certificate is valid for 192.0.2.1, not 127.0.0.1", "a name that the certificate has"},
		{fine, fineFile, "unexpected EOF", "read the log of the server"}, // the certificate is valid, but then the server sends nothing
	} {
		options := "sslmode=verify-full"
		if row.file != "" {
			options += "&sslrootcert=" + row.file
		}
		config, err := pgconn.ParseConfig(fmt.Sprintf("postgres://u:sesame@%s/db?%s", row.at, options))
		if err != nil {
			t.Fatal(err)
		}
		_, err = pgconn.ConnectConfig(t.Context(), config)
		if got := FaultReason(err); !strings.Contains(got, row.want) || !strings.Contains(got, row.do) || strings.Contains(got, "sesame") {
			t.Errorf("%s\nwant %s, %s", got, row.want, row.do)
		}
	}
}
