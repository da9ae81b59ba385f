package authserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/value"
)

// These limit a client's registration.
const (
	maxRedirects = 10
	maxRedirect  = 400  // maximum bytes of one redirect URI
	maxName      = 100  // maximum bytes
	maxID        = 3000 // maximum bytes of an identifier
	maxDocument  = 5 << 10
)

// registered is the prefix of the identifiers of clients that registered at this server.
const registered = "bwreg."

// A Client is a program that requests to act for a person.
type Client struct {
	ID        string   `json:"-"`
	Name      string   `json:"n,omitempty"` // the name that the client gives itself
	Redirects []string `json:"r"`
	Host      string   `json:"-"` // the host of its metadata document, or "" if it only registered, so nothing is known about it
}

// metadata is a client's description of itself (RFC 7591).
type metadata struct {
	ID        string   `json:"client_id"`
	Name      string   `json:"client_name"`
	Redirects []string `json:"redirect_uris"`
	Grants    []string `json:"grant_types"`
	Responses []string `json:"response_types"`
	Method    string   `json:"token_endpoint_auth_method"`
}

// readMetadata parses an object so that all parsers agree about its meaning. It refuses duplicate names. It ignores
// names in another spelling.
func readMetadata(body []byte) (m metadata, err error) {
	v, err := value.Read(body, 0)
	if err != nil {
		return m, err
	}
	if v.Kind() != value.Object {
		return m, errors.New("no object")
	}
	var exact []value.Member
	for _, name := range []string{"client_id", "client_name", "redirect_uris", "grant_types", "response_types", "token_endpoint_auth_method"} {
		if part, ok := v.Get(name); ok {
			exact = append(exact, value.Member{Name: name, Value: part})
		}
	}
	return m, json.Unmarshal(value.OfObject(exact).AppendJSON(nil), &m)
}

// register handles dynamic client registration (RFC 7591).
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		refuse(w, &refusal{"invalid_client_metadata", "Content-Type must be application/json"})
		return
	}
	var asked metadata
	body, err := io.ReadAll(r.Body)
	if err == nil {
		asked, err = readMetadata(body)
	}
	if err != nil {
		refuse(w, &refusal{"invalid_client_metadata", "the body must be a JSON object, each of whose names occurs once"})
		return
	}
	c := Client{Name: asked.Name, Redirects: asked.Redirects}
	if err = c.check(); err != nil {
		code := "invalid_redirect_uri"
		if !errors.As(err, new(*redirectError)) {
			code = "invalid_client_metadata"
		}
		refuse(w, &refusal{code, err.Error()})
		return
	}
	text, err := json.Marshal(c)
	if err != nil || base64.RawURLEncoding.EncodedLen(len(text))+len(registered) > maxID {
		refuse(w, &refusal{"invalid_client_metadata", "the registration is too long"})
		return
	}
	answer(w, http.StatusCreated, map[string]any{
		"client_id": registered + base64.RawURLEncoding.EncodeToString(text), "client_id_issued_at": s.Now().Unix(), "client_name": c.Name, "redirect_uris": c.Redirects,
		"token_endpoint_auth_method": "none", "grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
	})
}

// client returns the client with an identifier. The identifier contains the client's registration, or is the address
// of its metadata document.
func (s *Server) client(ctx context.Context, id string) (*Client, error) {
	text, ok := strings.CutPrefix(id, registered)
	switch {
	case len(id) > maxID:
		return nil, errors.New("its identifier is too long")
	case ok:
		raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
		c := &Client{}
		if err != nil || json.Unmarshal(raw, c) != nil {
			return nil, errors.New("this server did not issue its identifier. The client has to register again")
		}
		c.ID = id
		return c, c.check()
	case strings.HasPrefix(id, "https://"):
		return s.fetch(ctx, id)
	}
	return nil, errors.New("this server did not issue its identifier, and it is not the https address of a metadata document. The client has to register")
}

// fetch reads the metadata document of a client.
func (s *Server) fetch(ctx context.Context, id string) (*Client, error) {
	u, err := url.Parse(id)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || strings.TrimLeft(u.Path, "/") == "" || u.Path != removeDotSegments(u.Path) {
		return nil, errors.New("its identifier is not the address of a metadata document: https, a path, and no user or fragment")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return nil, errors.New("its identifier is not an address")
	}
	r.Header.Set("Accept", "application/json")
	resp, err := s.Client.Do(r)
	if err != nil {
		edge.RefusedBecause(ctx, "client_document", "")
		edge.RefusalCause(ctx, err)
		return nil, errors.New("its metadata document can't be read")
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	var found metadata
	if err == nil {
		found, err = readMetadata(body)
	}
	t, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case err != nil || resp.StatusCode != http.StatusOK || len(body) > maxDocument || t != "application/json" && !strings.HasSuffix(t, "+json"):
		return nil, fmt.Errorf("its metadata document is not JSON of at most %d bytes, or has a name twice", maxDocument)
	case found.ID != id:
		return nil, errors.New("its metadata document is another client's")
	case found.Method != "" && found.Method != "none":
		return nil, errors.New("its metadata document asks to prove itself by " + quoteWord(found.Method) + ". Only public clients are served")
	}
	c := &Client{ID: id, Name: found.Name, Redirects: found.Redirects, Host: u.Host}
	return c, c.check()
}

// removeDotSegments returns path without dot segments.
func removeDotSegments(path string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "." || s == ".." }), "/")
}

// check returns an error if c is invalid.
func (c *Client) check() error {
	if len(c.Name) > maxName || !utf8.ValidString(c.Name) || strings.ContainsFunc(c.Name, unicode.IsControl) {
		return fmt.Errorf("client_name must be at most %d bytes of text", maxName)
	}
	if len(c.Redirects) == 0 || len(c.Redirects) > maxRedirects {
		return &redirectError{fmt.Sprintf("redirect_uris must have 1 to %d addresses", maxRedirects)}
	}
	for _, to := range c.Redirects {
		if err := checkRedirect(to); err != nil {
			return err
		}
	}
	return nil
}

// A redirectError is an error about a redirect URI.
type redirectError struct{ text string }

// Error returns the text.
func (e *redirectError) Error() string { return e.text }

// reversed matches a scheme that an app derives from its maker's domain (RFC 8252, 7.1), such as com.example.app.
// Schemes of operating systems don't have this form. A scheme such as ms-msdt or search-ms could run programs or show
// files of others.
var reversed = regexp.MustCompile(`^[a-z]{2,24}(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`)

// host matches a host with or without a port. The consent page contains it in its policy and shows it to the person.
// In the policy, a comma, a semicolon, a quote or a star would have another meaning.
var host = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

// apps returns the schemes of well-known MCP clients that aren't derived from a domain. All other schemes without a
// dot are refused, because no list of schemes that run programs would be complete.
func apps() []string {
	return []string{"amp", "antigravity", "chatbox", "cherrystudio", "claude", "code-oss", "cursor", "cursor-nightly", "goose", "jetbrains", "kiro", "librechat",
		"lmstudio", "msty", "positron", "raycast", "sublime", "trae", "void", "vscode", "vscode-insiders", "vscodium", "warp", "warppreview", "windsurf",
		"windsurf-next", "zed"}
}

// checkRedirect returns an error if codes can't be sent to an address.
func checkRedirect(to string) error {
	u, err := url.Parse(to)
	switch {
	case err != nil || len(to) > maxRedirect || u.Scheme == "" || strings.ContainsFunc(to, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`\"<>^{|}`+"`", c) }):
		return &redirectError{"a redirect URI must be an absolute address in plain characters"}
	case u.Host != "" && !host.MatchString(u.Host):
		return &redirectError{"a redirect URI names one host, by letters, digits, hyphens and dots, or by its address"}
	case u.Fragment != "" || strings.Contains(to, "#") || u.User != nil:
		return &redirectError{"a redirect URI has no fragment and no user"}
	case u.Scheme == "https" && u.Host != "" && u.Opaque == "":
		return nil
	case u.Scheme == "http":
		if !loopback(u.Hostname()) {
			return &redirectError{"a redirect URI begins with https://, or http:// on this machine alone"}
		}
		return nil
	case u.Scheme != "https" && len(u.Scheme) <= 80 && (reversed.MatchString(u.Scheme) || slices.Contains(apps(), u.Scheme)):
		return nil
	}
	return &redirectError{"codes can't be sent to " + quoteWord(u.Scheme) + ": use http://127.0.0.1, or a scheme that begins with a domain of yours, such as com.example.app:"}
}

func loopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// redirects reports whether codes for c may be sent to an address. The address must be one of the client's redirect
// URIs. On this machine the port may differ, because apps use any free port.
func (c *Client) redirects(to string) bool {
	return slices.ContainsFunc(c.Redirects, func(own string) bool { return own == to || portless(own) != "" && portless(own) == portless(to) })
}

// portless returns an address on this machine without its port, or "" for any other address.
func portless(to string) string {
	u, err := url.Parse(to)
	if err != nil || checkRedirect(to) != nil || u.Scheme != "http" {
		return ""
	}
	u.Host = u.Hostname()
	return u.String()
}

// quoteWord quotes a word from a request for a message. It shortens a long word.
func quoteWord(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return fmt.Sprintf("%q", s)
}
