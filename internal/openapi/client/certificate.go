package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// CertificateFiles are the PEM files of a connection: the gateway's certificate with its key, and the authorities
// that the gateway trusts. Certificate and Key, or Authorities, may be "". System adds the authorities of the system.
type CertificateFiles struct {
	Certificate, Key, Authorities string
	System                        bool
}

// A Certificate contains the gateway's certificate and the trusted authorities for TLS connections to an API. It
// reads its files again when they change. If the new files can't be used, the previous ones stay in use.
type Certificate struct {
	files CertificateFiles

	mu    sync.Mutex
	state string // the state of the files when they were read
	own   *tls.Certificate
	roots *x509.CertPool
}

// NewCertificate reads files. Its error names the invalid file, for operators.
func NewCertificate(files CertificateFiles) (*Certificate, error) {
	c := &Certificate{files: files, state: files.state()}
	var err error
	c.own, c.roots, err = files.read()
	return c, err
}

// Current returns the certificate to send, or nil, and the authorities to trust. Nil authorities mean the system's
// authorities.
func (c *Certificate) Current() (*tls.Certificate, *x509.CertPool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state := c.files.state(); state != c.state {
		// If only one file of a pair has been replaced, the pair is refused. It is read again when the other file
		// changes.
		if own, roots, err := c.files.read(); err == nil {
			c.own, c.roots, c.state = own, roots, state
		}
	}
	return c.own, c.roots
}

// state returns the modification times and sizes of the files.
func (f CertificateFiles) state() string {
	var out []string
	for _, name := range []string{f.Certificate, f.Key, f.Authorities} {
		if info, err := os.Stat(name); name != "" && err == nil {
			out = append(out, fmt.Sprint(info.ModTime().Format(time.RFC3339Nano), info.Size()))
		}
	}
	return strings.Join(out, " ")
}

// read reads the files. It returns the client certificate and the authorities, or nil for files that are not set.
func (f CertificateFiles) read() (own *tls.Certificate, roots *x509.CertPool, err error) {
	if f.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(f.Certificate, f.Key)
		if err != nil {
			return nil, nil, fmt.Errorf("the certificate %s with the key %s can't be used: %w", f.Certificate, f.Key, withoutPath(err))
		}
		own = &pair
	}
	if f.Authorities != "" {
		text, err := os.ReadFile(f.Authorities)
		if err != nil {
			return nil, nil, fmt.Errorf("the authorities %s can't be read: %w", f.Authorities, withoutPath(err))
		}
		roots = x509.NewCertPool()
		if own, err := x509.SystemCertPool(); f.System && err == nil {
			roots = own
		}
		if !roots.AppendCertsFromPEM(text) {
			return nil, nil, fmt.Errorf("the file of authorities %s has no certificate in PEM form", f.Authorities)
		}
	}
	return own, roots, nil
}

// withoutPath returns a file error without its path, because the message already contains the path.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}
