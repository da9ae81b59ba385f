package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// script returns a handler that answers the n-th request with the n-th answer: "status" or "status Retry-After". It
// repeats the last answer.
func script(calls *atomic.Int64, answers ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := int(calls.Add(1))
		var status int
		text, after, _ := strings.Cut(answers[min(n, len(answers))-1], " ")
		fmt.Sscan(text, &status)
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		if status == 0 {
			panic("swordfish")
		}
		w.WriteHeader(status)
	})
}

// TestAgain checks which requests are retried, when, and with which result. It uses a fake clock.
func TestAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		answers  []string
		write    bool
		want     string // status or error
		calls    int64
		min, max time.Duration
	}{
		"fine":                   {[]string{"200"}, false, "200", 1, 0, 0},
		"not found":              {[]string{"404"}, false, "404", 1, 0, 0},
		"500 is no accident":     {[]string{"500"}, false, "500", 1, 0, 0},
		"bad gateway, then fine": {[]string{"502", "200"}, false, "200", 2, 100 * time.Millisecond, 300 * time.Millisecond},
		"always unavailable":     {[]string{"503"}, false, "503", 3, 300 * time.Millisecond, 900 * time.Millisecond},
		"breaks, then fine":      {[]string{"0", "504", "200"}, false, "200", 3, 300 * time.Millisecond, 900 * time.Millisecond},
		"always breaks":          {[]string{"0"}, false, "upstream_error: the API broke off, or answered what can't be read", 3, 300 * time.Millisecond, 900 * time.Millisecond},
		"asks to wait":           {[]string{"429 7", "200"}, false, "200", 2, 7 * time.Second, 7 * time.Second},
		"asks by a date":         {[]string{"503 Sat, 01 Jan 2000 00:00:09 GMT", "200"}, false, "200", 2, 9 * time.Second, 9 * time.Second},
		"a date that is over":    {[]string{"503 Sat, 01 Jan 1990 00:00:09 GMT", "200"}, false, "200", 2, 100 * time.Millisecond, 300 * time.Millisecond},
		"asks for nonsense":      {[]string{"429 -7", "200"}, false, "200", 2, 100 * time.Millisecond, 300 * time.Millisecond},
		"asks for too long":      {[]string{"429 31", "200"}, false, "429 after 31", 1, 0, 0},
		"unavailable for long":   {[]string{"503 3600", "200"}, false, "503 after 3600", 1, 0, 0},
		"asks again and again":   {[]string{"429 2"}, false, "429 after 2", 3, 4 * time.Second, 4 * time.Second},
		"time runs out":          {[]string{"429 20"}, false, "429 after 20", 2, 20 * time.Second, 20 * time.Second},
		"write":                  {[]string{"200"}, true, "200", 1, 0, 0},
		"write, unavailable":     {[]string{"503 1"}, true, "503 after 1", 1, 0, 0},
		"write, breaks":          {[]string{"0"}, true, "upstream_error: the API broke off, or answered what can't be read unsure", 1, 0, 0},
		"write, too many":        {[]string{"429 5"}, true, "429 after 5", 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int64
				s := sender(t, Options{Handler: script(&calls, tt.answers...)})
				m := get("/")
				if tt.write {
					m = post("/", "{}")
				}
				begun := time.Now()
				res, err := s.Send(t.Context(), m)
				took := time.Since(begun)
				var got string
				if err != nil {
					got = err.Error()
					if after := problem.Of(err).RetryAfter; after > 0 {
						got += " " + after.String()
					}
					if errors.Is(err, ErrUnsure) {
						got += " unsure"
					}
				} else {
					got = fmt.Sprint(res.Status)
					if after := res.Header.Get("Retry-After"); after != "" {
						got += " after " + after
					}
				}
				if got != tt.want || calls.Load() != tt.calls || took < tt.min || took > tt.max {
					t.Errorf("%s, %d calls, %s", got, calls.Load(), took)
				}
			})
		})
	}
}

// TestLeftInPeace checks the wait for an API that limits calls and gives no time.
func TestLeftInPeace(t *testing.T) {
	var calls atomic.Int64
	res, err := sender(t, Options{Handler: script(&calls, "429"), Attempts: 1}).Send(t.Context(), get("/"))
	if err != nil {
		t.Fatal(err)
	}
	if after, err := strconv.Atoi(res.Header.Get("Retry-After")); err != nil || after < 1 || after > 5 {
		t.Error(after, err)
	}
}

// TestGivesUp cancels the call while a retry is waiting.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		_, err := sender(t, Options{Handler: script(&calls, "429 20")}).Send(ctx, get("/"))
		if fmt.Sprint(err) != "cancelled: the call was cancelled" || calls.Load() != 1 {
			t.Error(err, calls.Load())
		}
	})
}

// keys is a credential that can be renewed.
type keys struct{ n atomic.Int64 }

func (k *keys) Apply(_ context.Context, _ identity.Principal, r *http.Request) error {
	r.Header.Set("X-Key", fmt.Sprint(k.n.Load()))
	return nil
}

func (k *keys) Renew(_ identity.Principal, r *http.Request) bool { return k.n.Add(1) < 3 }

// TestRenew checks that a refused credential is renewed at once for a read. After a refused write, it is renewed for
// the next call.
func TestRenew(t *testing.T) {
	for name, tt := range map[string]struct {
		m     Message
		good  string // the accepted key
		want  int
		calls int
	}{
		"read":       {get("/"), "1", 200, 2},
		"read twice": {get("/"), "2", 401, 2},
		"write":      {post("/", "{}"), "1", 401, 1},
	} {
		calls, k := 0, &keys{}
		s := sender(t, Options{Credential: k, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if calls++; r.Header.Get("X-Key") != tt.good {
				w.WriteHeader(401)
			}
		})})
		res, err := s.Send(t.Context(), tt.m)
		if err != nil || res.Status != tt.want || calls != tt.calls || k.n.Load() != 1 {
			t.Error(name, res, err, calls, k.n.Load())
		}
	}
}

// TestUnsureStatus checks the statuses that leave the outcome of a write unknown.
func TestUnsureStatus(t *testing.T) {
	for status, want := range map[int]bool{200: false, 201: false, 400: false, 404: false, 408: true, 409: false, 500: true, 501: false, 502: true, 503: true, 504: true, 505: false, 524: true} {
		if got := (&calls.HTTPResponse{Status: status}).Unsure(); got != want {
			t.Error(status, got)
		}
	}
}
