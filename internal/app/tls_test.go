package app

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// An issuer makes certificates.
type issuer struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// issue makes a certificate for a name, and its key in PEM form. i signs the certificate. If i is nil, the
// certificate is self-signed.
func (i *issuer) issue(t *testing.T, name string) (*issuer, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		IsCA: i == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	parent, signer := of, key
	if i != nil {
		parent, signer = i.cert, i.key
	}
	der, err := x509.CreateCertificate(rand.Reader, of, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return &issuer{t, made, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}

// TestMutualTLS calls an API that accepts only certificates of its own authority, and follows a rotation of both
// files.
func TestMutualTLS(t *testing.T) {
	var none *issuer
	authority, _ := none.issue(t, "authority")
	served, servedKey := authority.issue(t, "server")
	pool := x509.NewCertPool()
	pool.AddCert(authority.cert)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.TLS.PeerCertificates[0].Subject.CommonName)
		w.Header().Set("Connection", "close")
	}))
	pair, err := tls.X509KeyPair(served.pem, servedKey)
	if err != nil {
		t.Fatal(err)
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	server.Config.SetKeepAlivesEnabled(false)
	server.StartTLS()
	defer server.Close()
	dir := t.TempDir()
	files := client.CertificateFiles{Certificate: filepath.Join(dir, "own.pem"), Key: filepath.Join(dir, "own.key"), Authorities: filepath.Join(dir, "ca.pem")}
	write := func(file string, text []byte) {
		t.Helper()
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, firstKey := authority.issue(t, "first")
	write(files.Certificate, first.pem)
	write(files.Key, firstKey)
	write(files.Authorities, authority.pem)
	identity, err := client.NewCertificate(files)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := client.New(client.Options{Base: server.URL, Identity: identity, Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	call := func() string {
		r, err := sender.Send(t.Context(), client.Message{Request: &calls.HTTPRequest{Method: "GET", Path: "/x"}, Repeat: true})
		if err != nil {
			return string(problem.CodeOf(err))
		}
		return string(r.Body)
	}
	second, secondKey := authority.issue(t, "second")
	stranger, strangerKey := none.issue(t, "stranger")
	for _, step := range []struct {
		name  string
		files map[string][]byte
		want  string
	}{
		{"as configured", nil, "first"},
		{"one half of the new pair keeps the former one", map[string][]byte{files.Certificate: append(second.pem, '\n')}, "first"},
		{"the new pair", map[string][]byte{files.Key: secondKey}, "second"},
		{"a file that holds no key", map[string][]byte{files.Key: []byte("nothing")}, "second"},
		{"a certificate of another authority", map[string][]byte{files.Certificate: stranger.pem, files.Key: strangerKey}, "upstream_error"},
		{"authorities that didn't issue the server's", map[string][]byte{files.Certificate: second.pem, files.Key: secondKey, files.Authorities: stranger.pem}, "upstream_error"},
		{"and back", map[string][]byte{files.Authorities: append(bytes.Clone(stranger.pem), authority.pem...)}, "second"},
	} {
		for file, text := range step.files {
			write(file, text)
		}
		if got := call(); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
}

// TestCertificateFiles checks the errors for files that can't be used.
func TestCertificateFiles(t *testing.T) {
	var none *issuer
	one, key := none.issue(t, "one")
	other, _ := none.issue(t, "other")
	dir := t.TempDir()
	at := func(name string, text []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	cert, keyFile, another, empty, gone := at("own.pem", one.pem), at("own.key", key), at("other.pem", other.pem), at("empty.pem", nil), filepath.Join(dir, "gone.pem")
	for _, row := range []struct {
		tls  config.APITLS
		want string
	}{
		{config.APITLS{Certificate: cert, Key: keyFile, Authorities: another}, ""},
		{config.APITLS{Authorities: another}, ""},
		{config.APITLS{Certificate: cert, Key: gone}, "can't be used: no such file or directory"},
		{config.APITLS{Certificate: another, Key: keyFile}, "can't be used: tls: private key does not match public key"},
		{config.APITLS{Authorities: empty}, "empty.pem has no certificate in PEM form"},
		{config.APITLS{Authorities: gone}, "gone.pem can't be read: no such file or directory"},
	} {
		opened, err := openAPI(&config.Config{}, config.Source{Name: "shop", OpenAPI: &config.APISource{BaseURL: "https://shop.test", TLS: &row.tls}}, nil, nil)
		switch {
		case err == nil:
			opened.Close()
		case row.want == "" || !strings.HasSuffix(err.Error(), row.want):
			t.Errorf("%+v: %v", row.tls, err)
		}
		if err == nil && row.want != "" {
			t.Errorf("%+v: no error, want %s", row.tls, row.want)
		}
	}
}
