package operate

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// Health returns the command health. It checks a server on this machine. It is for containers that contain no other
// program.
func Health(t *terminal.Terminal) *cobra.Command {
	var address string
	var ready bool
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a server on this machine whether it is alive, or ready",
		Long: "Health asks a server at an address for /healthz, or with --ready for /readyz. It ends with code 0 if the server answers 200, or with 1.\n" +
			"Images without a shell use it as their health check. Credentials are not sent.",
		Example: "  bailiwick health\n  bailiwick health --ready --at 127.0.0.1:8420",
		Args:    terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := probe(address, ready)
			if err != nil {
				return err
			}
			status, text, err := look(cmd.Context(), at, wait)
			if err != nil {
				return fmt.Errorf("no answer: %w", err)
			}
			if status != http.StatusOK {
				return fmt.Errorf("%d %s", status, terminal.Printable(text))
			}
			if t.JSON {
				return t.PrintJSON(map[string]any{"status": status, "text": text})
			}
			t.Printf("%s\n", terminal.Printable(text))
			return nil
		},
	}
	cmd.Flags().StringVar(&address, "at", config.DefaultListen, "the `ADDRESS` of the server: host:port, or a URL")
	cmd.Flags().BoolVar(&ready, "ready", false, "ask whether it can answer calls, and not only whether it is alive")
	cmd.Flags().DurationVar(&wait, "wait", 5*time.Second, "how long to wait for the answer")
	return cmd
}

// probe returns the URL to check for an address. If the server listens on all addresses, it uses the loopback
// address.
func probe(address string, ready bool) (*url.URL, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || at.User != nil {
		return nil, config.Usagef("--at must be host:port or a URL, such as %s", config.DefaultListen)
	}
	if host, port, err := net.SplitHostPort(at.Host); err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
		at.Host = net.JoinHostPort("127.0.0.1", port)
	}
	at.Path = "/healthz"
	if ready {
		at.Path = "/readyz"
	}
	return at, nil
}

// look returns the status and the first part of the answer. It doesn't follow redirects.
func look(ctx context.Context, at *url.URL, wait time.Duration) (int, string, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return 0, "", err
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1000))
	return res.StatusCode, strings.TrimSpace(string(text)), err
}
