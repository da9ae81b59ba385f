package plant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/bailiwick-dev/bailiwick/config/strict"
)

// fetchTimeout is how long a document behind a URL may take.
const fetchTimeout = 30 * time.Second

// fetchDocument reads the document of an API at an https URL that an operator wrote. transport is nil for the system's way.
func fetchDocument(transport http.RoundTripper) func(address string) ([]byte, error) {
	client := &http.Client{Transport: transport, Timeout: fetchTimeout, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" || len(via) > 3 {
			return errors.New("it leads elsewhere, not by https or too often")
		}
		return nil
	}}
	return func(address string) ([]byte, error) {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
		if err != nil {
			return nil, errors.New("the document can't be fetched: the URL is not right")
		}
		r.Header.Set("Accept", "application/json, application/yaml, */*")
		res, err := client.Do(r)
		if err != nil {
			if u, ok := errors.AsType[*url.Error](err); ok { // it repeats the URL, whose query may be a secret
				err = u.Err
			}
			return nil, fmt.Errorf("the document can't be fetched: %w", err)
		}
		defer res.Body.Close() //nolint:errcheck // it was only read
		if res.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("the document can't be fetched: the answer is %s", res.Status)
		}
		data, err := io.ReadAll(io.LimitReader(res.Body, strict.MaxLarge+1))
		switch {
		case err != nil:
			return nil, fmt.Errorf("the document can't be fetched: %w", err)
		case len(data) > strict.MaxLarge:
			return nil, fmt.Errorf("the document can't be fetched: it is larger than %d bytes", strict.MaxLarge)
		}
		return data, nil
	}
}
