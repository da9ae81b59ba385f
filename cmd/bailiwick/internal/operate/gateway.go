package operate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/reviewapi"
)

// maxAnswer is the maximum size of a response, in bytes.
const maxAnswer = 64 << 20

// timeout is the maximum time that a command waits for a response.
const timeout = 2 * time.Minute

// A gateway contains the flags that name the running gateway.
type gateway struct{ url, token string }

func (g *gateway) flags(f *pflag.FlagSet) {
	f.StringVar(&g.url, "url", "", "the running gateway: http://127.0.0.1:8420 (default $BAILIWICK_URL)")
	f.StringVar(&g.token, "token", "", "the token of a human with the scope review (default $BAILIWICK_TOKEN)")
}

// address returns the gateway's URL with this path. It removes the /mcp that the URLs of other commands end with.
func (g *gateway) address(path string) (string, error) {
	given := cmp.Or(g.url, os.Getenv("BAILIWICK_URL"))
	if given == "" {
		return "", config.Usagef("this command needs a running gateway. Name it with --url or BAILIWICK_URL")
	}
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", config.Usagef("the gateway's URL must be like http://127.0.0.1:8420")
	}
	return u.Scheme + "://" + u.Host + strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/mcp") + path, nil
}

// open sends a request and returns its response. The caller must close the body. A refusal is returned as an error.
func (g *gateway) open(ctx context.Context, method, path string, body any, headers ...string) (*http.Response, error) {
	address, err := g.address(path)
	if err != nil {
		return nil, err
	}
	var sent io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		sent = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, address, sent)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+cmp.Or(g.token, os.Getenv("BAILIWICK_TOKEN")))
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	// Don't follow redirects, because they could send the token to another server.
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Do(r)
	if err != nil {
		return nil, fmt.Errorf("reach the gateway: %w", err)
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	// A refusal of the gateway has a known form. Any other answer comes from another server.
	defer res.Body.Close()
	told, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if refusal, ok := client.ReadRefusal(bytes.TrimSpace(told)); ok {
		if refusal.Problem.Code == problem.Unauthorized {
			refusal.Problem.Suggestion = "give the token of a human with the scope review in --token or BAILIWICK_TOKEN"
		}
		return nil, refusal
	}
	return nil, problem.New(problem.Upstream, fmt.Sprintf("the address answers %s and no changes. Is it a gateway with a store?", res.Status))
}

// ask sends a request and decodes its JSON response into out. It also returns the bytes of the response.
func (g *gateway) ask(ctx context.Context, method, path string, body, out any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	res, err := g.open(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil {
		err = json.Unmarshal(b, out)
	}
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return bytes.TrimSpace(b), nil
}

// sheet requests one change, or performs the action verb on it.
func (g *gateway) sheet(ctx context.Context, method, id, verb string, body any) (*review.Sheet, []byte, error) {
	if id == "" || strings.ContainsAny(id, "/?#%") {
		return nil, nil, config.Usagef("%q is not the id of a change", id)
	}
	id, err := g.full(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	path := "/api/changes/" + id
	if verb != "" {
		path += "/" + verb
	}
	sheet := new(review.Sheet)
	raw, err := g.ask(ctx, method, path, body, sheet)
	return sheet, raw, err
}

// Lengths of the ids of changes.
const (
	fullID  = 34
	leastID = 4 // minimum length of a shortened id
)

// full returns the complete id for a shortened id. It searches the newest changes for an id that begins or ends with
// it.
func (g *gateway) full(ctx context.Context, short string) (string, error) {
	if len(short) >= fullID || len(short) < leastID {
		return short, nil
	}
	var page reviewapi.Page
	q := url.Values{"state": {"all"}, "text": {short}, "limit": {"200"}}
	if _, err := g.ask(ctx, http.MethodGet, "/api/changes?"+q.Encode(), nil, &page); err != nil {
		return "", err
	}
	var found []string
	for _, row := range page.Changes {
		if strings.HasPrefix(row.ID, short) || strings.HasSuffix(row.ID, short) {
			found = append(found, row.ID)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", config.Usagef("%q begins or ends the ids of %d changes: %s", short, len(found), strings.Join(found[:min(len(found), 3)], ", "))
	}
	return short, nil
}
