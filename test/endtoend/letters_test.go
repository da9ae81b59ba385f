package endtoend

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime/multipart"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
)

// A vault is a mail server that accepts letters only over TLS and with its password.
type vault struct{ postOffice }

type vaultSession struct {
	letterbox
	known *bool
}

func (v *vault) NewSession(*smtp.Conn) (smtp.Session, error) {
	return vaultSession{letterbox{&v.postOffice}, new(bool)}, nil
}

func (vaultSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s vaultSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if *s.known = user == "gate" && password == "open sesame"; !*s.known {
			return errors.New("SECRET of the mail server")
		}
		return nil
	}), nil
}

func (s vaultSession) Mail(from string, o *smtp.MailOptions) error {
	if !*s.known {
		return smtp.ErrAuthRequired
	}
	return s.letterbox.Mail(from, o)
}

// newVault starts a mail server that uses TLS from the first byte, or STARTTLS.
func newVault(t *testing.T, implicit bool) (*vault, webhook.MailServer) {
	t.Helper()
	web := httptest.NewTLSServer(nil) // only its certificate is used
	web.Close()
	v := &vault{postOffice{came: make(chan string, 10)}}
	s := smtp.NewServer(v)
	s.TLSConfig = &tls.Config{Certificates: web.TLS.Certificates}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if implicit {
		l = tls.NewListener(l, s.TLSConfig)
	}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	return v, webhook.MailServer{Host: "127.0.0.1", Port: port, Implicit: implicit, From: "Gate <gate@example.com>", User: "gate", Password: "open sesame", Roots: roots}
}

// TestMailOverTLS sends letters with a password over both forms of TLS. No letter may be sent to a server whose
// certificate isn't trusted.
func TestMailOverTLS(t *testing.T) {
	for name, implicit := range map[string]bool{"smtps": true, "STARTTLS": false} {
		v, server := newVault(t, implicit)
		l := webhook.Letter{ID: "x.1", Subject: "s", Text: "the letter", HTML: "<p>t"}
		if err := server.Send(t.Context(), "ben@example.com", l); err != nil {
			t.Error(name, err)
		} else if got := came(t, v.came); !strings.Contains(got, "the letter") {
			t.Error(name, got)
		}
		wrong := server
		wrong.Password = "x"
		stranger := server
		stranger.Roots = x509.NewCertPool()
		for what, other := range map[string]webhook.MailServer{"with another password": wrong, "to a stranger": stranger} {
			if err := other.Send(t.Context(), "ben@example.com", l); err == nil || strings.Contains(err.Error(), "SECRET") || len(v.came) > 0 {
				t.Error(name, what, err)
			}
		}
	}
}

// TestDigest proposes two changes within the interval of a digest. One letter over TLS must contain both, in plain
// text and HTML, with a link to each. It must show the changes as its recipient sees them.
func TestDigest(t *testing.T) {
	o := newOffice(t, nil)
	v, server := newVault(t, true)
	if _, _, err := o.tokens.Invite(t.Context(), identity.Local("test"), identity.Token{Owner: "ben", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Review}}, time.Hour); err != nil {
		t.Fatal(err)
	}
	ben := webhook.Person{Owner: "ben", Tenant: "acme"}
	begin := func() (stop func()) {
		sender := webhook.New(webhook.Options{Changes: o.store, Store: o.store, Link: "https://gate.example/console/changes/", Poll: 20 * time.Millisecond, Mail: server.Send,
			Hooks: []webhook.Hook{{Name: "ben", Form: webhook.Email, To: "ben@example.com", As: ben, Digest: time.Second}},
			Show: func(ctx context.Context, as webhook.Person, change string) (*review.Sheet, error) {
				who, err := o.tokens.FindPerson(ctx, as.Owner, as.Tenant)
				if err != nil {
					return nil, err
				}
				return o.gateway.Reviewer(who, "notification").Sheet(ctx, change)
			}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); sender.Run(ctx) }()
		return func() { cancel(); <-ended }
	}
	stop := begin()
	for {
		if _, begun, err := o.store.FedTo(t.Context()); begun || err != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	stop() // ensures that both events are found together on a machine of any speed
	var links []string
	for _, data := range []string{`{"title": "one <b>&", "n": 5}`, `{"title": "\u202etwo"}`} {
		s, err := o.propose(o.bot(), `{"op": "update", "class": "issues", "id": "1", "data": `+data+`}`)
		if err != nil {
			t.Fatal(err)
		}
		links = append(links, "https://gate.example/console/changes/"+s.ID)
	}
	t.Cleanup(begin())
	letter, err := mail.ReadMessage(strings.NewReader(came(t, v.came)))
	if err != nil || letter.Header.Get("Subject") != "[Bailiwick] 2 events of changes" {
		t.Fatal(letter, err)
	}
	_, boundary, _ := strings.Cut(letter.Header.Get("Content-Type"), "boundary=")
	parts := multipart.NewReader(letter.Body, strings.Trim(boundary, `"`))
	for _, kind := range []string{"text/plain", "text/html"} {
		part, err := parts.NextPart()
		if err != nil || !strings.HasPrefix(part.Header.Get("Content-Type"), kind) {
			t.Fatal(kind, part, err)
		}
		body, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		text := string(body)
		for _, want := range append(links, "Opening a link decides nothing.") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s in\n%s", kind, want, text)
			}
		}
		if strings.Contains(text, "\u202e") || strings.Contains(text, "psst") || kind == "text/html" && strings.Contains(text, "<b>") {
			t.Errorf("%s: hidden or live text in\n%s", kind, text)
		}
	}
}
