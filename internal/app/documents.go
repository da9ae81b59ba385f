package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/scaffold"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

const (
	fetchTimeout = 30 * time.Second // for one request
	wholeTimeout = 2 * time.Minute  // for a document with the files that it refers to
)

// fetchDocument returns a function that reads the API document at an https URL from the operator, and files with the
// same origin. A nil transport means the default.
func fetchDocument(transport http.RoundTripper) func(address string) (config.Document, error) {
	return func(address string) (config.Document, error) {
		ctx, cancel := context.WithTimeout(context.Background(), wholeTimeout)
		defer cancel()
		document := getter(ctx, transport, func(string) bool { return true })
		file := getter(ctx, transport, func(to string) bool { _, err := spec.Origin(address, to); return err == nil })
		return config.FetchDocument(address, func(of string) ([]byte, error) {
			if of == address {
				return document(of)
			}
			return file(of)
		})
	}
}

// A documentSigning signs requests for a document. It signs each request, including requests after a redirect.
type documentSigning struct {
	Host string                    // host and port for which Own is used
	Sign func(*http.Request) error // sets the headers of a request, if they belong to its host
	Own  http.RoundTripper         // connects to Host. Nil means the default transport
}

// RoundTrip implements http.RoundTripper.
func (s documentSigning) RoundTrip(r *http.Request) (*http.Response, error) {
	own := r.Clone(r.Context())
	if err := s.Sign(own); err != nil {
		return nil, err
	}
	if s.Own != nil && strings.EqualFold(own.URL.Host, s.Host) {
		return s.Own.RoundTrip(own)
	}
	return http.DefaultTransport.RoundTrip(own)
}

// fetchSignedDocument reads the API document at a URL with signed requests.
func fetchSignedDocument(s documentSigning, address string) (config.Document, error) {
	if s.Own == (*http.Transport)(nil) {
		s.Own = nil
	}
	return fetchDocument(s)(address)
}

// getter returns a function that fetches the document at an address. It follows redirects over https to addresses
// that may accepts.
func getter(ctx context.Context, transport http.RoundTripper, may func(to string) bool) func(address string) ([]byte, error) {
	client := &http.Client{Transport: transport, Timeout: fetchTimeout, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" || len(via) > 3 {
			return errors.New("it leads elsewhere, not by https or too often")
		}
		if !may(r.URL.String()) {
			return spec.ErrElsewhere
		}
		return nil
	}}
	return func(address string) ([]byte, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, errors.New("the document can't be fetched: the URL is not right")
		}
		r.Header.Set("Accept", "application/json, application/yaml, */*")
		res, err := client.Do(r)
		if err != nil {
			// The error repeats the URL, whose query may contain a secret.
			if u, ok := errors.AsType[*url.Error](err); ok {
				err = u.Err
			}
			return nil, fmt.Errorf("the document can't be fetched: %w", err)
		}
		defer res.Body.Close() //nolint:errcheck // it was only read
		if res.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("the document can't be fetched: the answer is %s", res.Status)
		}
		data, err := io.ReadAll(io.LimitReader(res.Body, yamlconf.MaxLarge+1))
		switch {
		case err != nil:
			return nil, fmt.Errorf("the document can't be fetched: %w", err)
		case len(data) > yamlconf.MaxLarge:
			return nil, fmt.Errorf("the document can't be fetched: it is larger than %d bytes", yamlconf.MaxLarge)
		}
		return data, nil
	}
}

// open opens a file of a document. It returns the file and its size.
func open(file string) (*os.File, int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > yamlconf.MaxLarge {
		err = fmt.Errorf("the document %s is larger than %d bytes", file, yamlconf.MaxLarge)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// readFile reads a file that a document refers to.
func readFile(file string) ([]byte, error) {
	f, _, err := open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return io.ReadAll(f)
}

// ReadDocument reads the OpenAPI document at from, which is a file or an https URL. The Name in the result is a part
// of from. It may not be a valid name of a source.
func ReadDocument(from string) (scaffold.API, error) {
	a := scaffold.API{Document: from}
	name := filepath.Base(from)
	switch u, err := url.Parse(from); {
	case strings.HasPrefix(from, "http://") && !config.Loopback(from):
		return a, config.Usagef("a document is read over https, or over http from this machine. Save it and name the file")
	case !strings.HasPrefix(from, "https://") && !config.Loopback(from):
		f, size, err := open(from)
		if err != nil {
			return a, fmt.Errorf("the document can't be read: %w", err)
		}
		defer f.Close() //nolint:errcheck // it was only read
		if a.Contents, err = config.ReadDocument(f, size, config.OpenInFolder(filepath.Dir(from), readFile)); err != nil {
			return a, err
		}
	case err != nil || u.Host == "" || u.User != nil:
		return a, config.Usagef("the document is not a URL such as https://app.example/openapi.json")
	default:
		name = u.Hostname()
		if a.Contents, err = fetchDocument(nil)(from); err != nil {
			return a, err
		}
	}
	name = strings.TrimSuffix(name, filepath.Ext(name))
	for _, end := range []string{"openapi", "swagger"} {
		if rest := strings.TrimRight(strings.TrimSuffix(name, end), "-_."); rest != "" {
			name = rest
		}
	}
	a.Name = name
	return a, nil
}
