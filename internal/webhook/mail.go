package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"

	gomail "github.com/wneessen/go-mail"
)

// A MailServer is an SMTP server. The zero MailServer sends nothing.
type MailServer struct {
	Host     string
	Port     int  // 0 means 465 if Implicit is set, otherwise 587
	Implicit bool // use TLS from the first byte (smtps) instead of STARTTLS
	Private  bool // allow a server without TLS
	User     string
	Password string
	From     string // an address with an optional name

	Roots *x509.CertPool // the trusted root certificates. Nil means those of the system
}

// Parse reads the address of a server: smtps://host:port, or smtp://host:port for STARTTLS.
func (s *MailServer) Parse(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/")+u.RawQuery+u.Fragment != "" {
		return errors.New("must be such as smtps://mail.example:465, or smtp://mail.example:587 for STARTTLS, without user and password")
	}
	s.Host, s.Implicit = u.Hostname(), u.Scheme == "smtps"
	s.Port = map[bool]int{true: 465, false: 587}[s.Implicit]
	if u.Port() != "" {
		s.Port, err = strconv.Atoi(u.Port())
	}
	return err
}

// MailAddress returns the reason why text is not an e-mail address, or "" if it is one.
func MailAddress(text string) string {
	if err := gomail.NewMsg().To(text); err != nil || strings.ContainsAny(text, "\r\n") {
		return "must be an e-mail address, such as ana@example.com"
	}
	return ""
}

// Send sends the letter l to an e-mail address.
func (s *MailServer) Send(ctx context.Context, to string, l Letter) error {
	m := gomail.NewMsg()
	if m.From(s.From) != nil || m.To(to) != nil {
		return errors.New("an address is not an e-mail address")
	}
	_, host, _ := strings.Cut(m.GetFromString()[0], "@")
	m.SetMessageIDWithValue(l.ID + "@" + strings.Trim(host, "<> "))
	m.SetDate()
	m.SetGenHeader("Auto-Submitted", "auto-generated") // suppress out-of-office answers
	m.Subject(l.Subject)
	m.SetBodyString(gomail.TypeTextPlain, l.Text)
	m.AddAlternativeString(gomail.TypeTextHTML, l.HTML)
	options := []gomail.Option{gomail.WithPort(s.Port), gomail.WithTLSPolicy(gomail.TLSMandatory),
		gomail.WithTLSConfig(&tls.Config{ServerName: s.Host, MinVersion: tls.VersionTLS12, RootCAs: s.Roots})}
	switch {
	case s.Implicit:
		options = append(options, gomail.WithSSL())
	case s.Private:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	}
	if s.User != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.User), gomail.WithPassword(s.Password))
	}
	client, err := gomail.NewClient(s.Host, options...)
	if err == nil {
		err = client.DialAndSendWithContext(ctx, m)
	}
	return mailWhy(err)
}

// mailWhy replaces an error of the mail server by our own words. Errors of a server may contain any text.
func mailWhy(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return errors.New("the mail server did not answer in time")
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return errors.New("the mail server can't be reached")
	}
	if e, ok := errors.AsType[*gomail.SendError](err); ok {
		if code := e.ErrorCode(); code > 0 {
			return errors.New("the mail server refused the letter: " + strconv.Itoa(code))
		}
		return errors.New("the mail server refused the letter")
	}
	return errors.New("the mail server and this one found no way to speak: its certificate, STARTTLS or the password")
}
