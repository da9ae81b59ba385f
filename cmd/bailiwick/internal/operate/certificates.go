package operate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// soon is the time before its end at which a certificate causes a warning.
const soon = 21 * 24 * time.Hour

// A certificateFile is a file with certificates that the configuration names.
type certificateFile struct {
	about, path string
	key         string // the file with the private key. "" for certificates of authorities
	encrypted   bool   // the key has a password
}

// certificates checks all files with certificates, and the certificate of the public address.
func certificates(ctx context.Context, c *config.Config, now time.Time) []finding {
	var out []finding
	for _, f := range certificateFiles(c) {
		out = append(out, f.look(now))
	}
	at, err := url.Parse(c.Server.URL)
	if err != nil || at.Scheme != "https" {
		return out
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f := checkCertificate(ctx, "certificate", hostPort(at), &tls.Config{MinVersion: tls.VersionTLS12, ServerName: at.Hostname()})
	if f.Text = "server.url: " + f.Text; f.State == fault {
		f.State = warning // this machine may not be able to reach the public address
	}
	return append(out, f)
}

// certificateFiles returns the distinct files that the sources and the store name.
func certificateFiles(c *config.Config) (out []certificateFile) {
	add := func(f certificateFile) {
		if f.path != "" && f.path != "system" && !slices.ContainsFunc(out, func(o certificateFile) bool { return o.path == f.path }) {
			out = append(out, f)
		}
	}
	postgres := func(about, text string) {
		u, err := url.Parse(text)
		if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
			return
		}
		q := u.Query()
		add(certificateFile{about: about, path: q.Get("sslcert"), key: q.Get("sslkey"), encrypted: q.Has("sslpassword")})
		add(certificateFile{about: about, path: q.Get("sslrootcert")})
	}
	postgres("store", c.Store)
	for _, s := range c.Sources {
		about := "source " + s.Name
		postgres(about, s.URL)
		postgres(about, s.WriteURL)
		if s.OpenAPI != nil && s.OpenAPI.TLS != nil {
			add(certificateFile{about: about, path: s.OpenAPI.TLS.Certificate, key: s.OpenAPI.TLS.Key})
			add(certificateFile{about: about, path: s.OpenAPI.TLS.Authorities})
		}
	}
	return out
}

// look checks the certificates in the file.
func (f certificateFile) look(now time.Time) finding {
	chain, err := readCertificates(f.path)
	if err != nil {
		return finding{fault, f.about, fmt.Sprintf("the certificates in %s can't be read: %v", f.path, err), "give a file in PEM form that this user can read"}
	}
	if f.key == "" { // for authorities, one valid certificate is sufficient
		last := slices.MaxFunc(chain, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
		return lasting(f.about, f.path, []*x509.Certificate{last}, now)
	}
	if !f.encrypted {
		if _, err := tls.LoadX509KeyPair(f.path, f.key); err != nil {
			return finding{fault, f.about, fmt.Sprintf("the certificate %s can't be used with the key %s: %v", f.path, f.key, bare(err)), "give the key that belongs to the certificate"}
		}
	}
	for i := range chain[:len(chain)-1] {
		if err := chain[i].CheckSignatureFrom(chain[i+1]); err != nil {
			return finding{fault, f.about, fmt.Sprintf("%s is not a chain: certificate %d was not signed by certificate %d", f.path, i+1, i+2), "put the certificates of the authorities behind it, each behind the one that it signed"}
		}
	}
	return lasting(f.about, f.path, chain, now)
}

// bare returns an error without the path of the file.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// readCertificates returns the certificates in a file. It fails if there are none.
func readCertificates(path string) (out []*x509.Certificate, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, bare(err)
	}
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if out == nil {
		return nil, errors.New("it has no certificate in PEM form")
	}
	return out, nil
}

// lasting reports how long the certificates of a chain are valid. The certificate that expires first decides.
func lasting(about, what string, chain []*x509.Certificate, now time.Time) finding {
	if len(chain) == 0 {
		return finding{State: good, About: about, Text: what}
	}
	first := slices.MinFunc(chain, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
	text := fmt.Sprintf("%s, certificate of %s until %s", what, nameOf(chain[0]), first.NotAfter.UTC().Format("2006-01-02 15:04 MST"))
	switch {
	case now.After(first.NotAfter):
		return finding{fault, about, text + ", which is over", "renew it"}
	case now.Before(chain[0].NotBefore):
		return finding{fault, about, fmt.Sprintf("%s. It begins at %s", text, chain[0].NotBefore.UTC().Format("2006-01-02 15:04 MST")), "look at the clock of this machine"}
	case first.NotAfter.Sub(now) < soon:
		return finding{warning, about, text, "renew it soon"}
	}
	return finding{State: good, About: about, Text: text}
}

// nameOf returns the names for which a certificate is valid.
func nameOf(c *x509.Certificate) string {
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		names = []string{c.Subject.CommonName}
	}
	return strings.Join(names[:min(len(names), 3)], ", ")
}
