package operate

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/source"
)

// sources checks all sources concurrently. reached is true if all of them can be read.
func sources(ctx context.Context, c *config.Config) (out []finding, reached bool) {
	each := make([][]finding, len(c.Sources))
	var all sync.WaitGroup
	for i, s := range c.Sources {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			if s.OpenAPI != nil {
				each[i] = api(ctx, s)
				return
			}
			each[i] = database(ctx, c, s)
			if s.WriteURL != "" && c.Writes(s) {
				each[i] = append(each[i], writer(ctx, c, s)...)
			}
		})
	}
	all.Wait()
	reached = true
	for _, found := range each {
		for _, f := range found {
			reached = reached && f.State != fault
		}
		out = append(out, found...)
	}
	return out, reached
}

// probeSource opens a source, reads its classes, and asks for the version of its server.
func probeSource(ctx context.Context, c *config.Config, s config.Source) (is source.Server, classes int, warnings []string, err error) {
	src, err := app.OpenSource(ctx, c, s)
	if err != nil {
		return is, 0, nil, err
	}
	defer app.CloseAfter(src, &err)
	found, warnings, err := src.Describe(ctx)
	if err != nil {
		return is, 0, nil, err
	}
	if r, ok := src.(source.Reporter); ok {
		is, err = r.Report(ctx)
	}
	return is, len(found), warnings, err
}

// database checks a source that has classes.
func database(ctx context.Context, c *config.Config, s config.Source) []finding {
	about := "source " + s.Name
	is, classes, warnings, err := probeSource(ctx, c, s)
	if err != nil {
		return []finding{errorFinding(about, err)}
	}
	text := terminal.Count(classes, "class")
	if is.Version != "" {
		text = is.Version + ", " + text
	}
	if is.Pooled {
		text += ", behind a pooler"
	}
	if is.ReadOnly {
		text += ", read-only"
	}
	out := []finding{{State: good, About: about, Text: text}}
	_, file := s.SQLite()
	switch {
	case c.Writes(s) && s.WriteURL == "" && is.Version != "" && (is.ReadOnly || !is.Writes) && !s.MongoDB():
		out = append(out, finding{warning, about, "the gates let agents write, and nothing can be written there", "let the account of url write, name another in write_url, or set read_only: true"})
	case is.Writes && !file && (!c.Writes(s) || s.WriteURL != ""):
		out = append(out, finding{warning, about, "the account of url may write. Its sessions are read-only", "use an account that may only read"})
	}
	for _, w := range warnings {
		out = append(out, finding{State: warning, About: about, Text: strings.TrimPrefix(w, about+" ")})
	}
	return out
}

// writer checks the account for writes to a source. It doesn't write anything.
func writer(ctx context.Context, c *config.Config, s config.Source) []finding {
	about := "source " + s.Name
	s.URL = s.WriteURL
	is, _, _, err := probeSource(ctx, c, s)
	switch {
	case err != nil:
		f := errorFinding(about, err)
		f.Text = "write_url: " + f.Text
		return []finding{f}
	case is.Version != "" && !is.Writes && !s.MongoDB():
		return []finding{{fault, about, "the account of write_url may write to no table", "grant it INSERT, UPDATE and DELETE on the tables that agents may write"}}
	}
	return []finding{{State: good, About: about, Text: "the account of write_url can be used"}}
}

// api checks the server of an HTTP API: whether it accepts connections, and how long its certificate is valid. It
// sends no HTTP request.
func api(ctx context.Context, s config.Source) []finding {
	about := "source " + s.Name
	at, err := url.Parse(s.OpenAPI.BaseURL)
	if err != nil || at.Host == "" {
		return []finding{{fault, about, "base_url is not a URL", "correct it"}}
	}
	host := hostPort(at)
	if at.Scheme == "http" {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
		if err != nil {
			return []finding{unreachable(about, host, err)}
		}
		conn.Close() //nolint:errcheck // nothing was sent
		return []finding{{State: good, About: about, Text: host + " takes connections, without encryption"}}
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: at.Hostname()}
	files, err := app.TrustedCertificate(s.OpenAPI.TLS)
	if err != nil {
		return []finding{errorFinding(about, err)}
	}
	if files != nil {
		_, settings.RootCAs = files.Current()
	}
	return []finding{checkCertificate(ctx, about, host, settings)}
}

// hostPort returns the host and port of a URL.
func hostPort(at *url.URL) string {
	port := at.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[at.Scheme]
	}
	return net.JoinHostPort(at.Hostname(), port)
}

// unreachable returns the fault for a server that doesn't accept connections.
func unreachable(about, host string, err error) finding {
	return errorFinding(about, fmt.Errorf("%s can't be reached: %s", host, health.FaultReason(err)))
}

// checkCertificate connects to a server with TLS and checks its certificate.
func checkCertificate(ctx context.Context, about, host string, settings *tls.Config) finding {
	conn, err := (&tls.Dialer{Config: settings}).DialContext(ctx, "tcp", host)
	if err != nil {
		return unreachable(about, host, err)
	}
	defer conn.Close()
	chain := conn.(*tls.Conn).ConnectionState().PeerCertificates
	return lasting(about, host+" takes connections", chain, time.Now())
}

// rules compiles the rules for the sources. All sources must be readable.
func rules(ctx context.Context, c *config.Config) []finding {
	const about = "rules"
	ctx, cancel := context.WithTimeout(ctx, 3*patience)
	defer cancel()
	found, err := app.Examine(ctx, c)
	if err != nil {
		return []finding{{fault, about, textOf(err), `correct them; "bailiwick check" shows the lines`}}
	}
	return []finding{{State: good, About: about, Text: fmt.Sprintf("they fit %s. \"bailiwick check\" says what agents see", terminal.Count(len(found.Policy.Catalogue()), "class"))}}
}
