package mcp

import (
	"context"
	"errors"
	"net/http"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// serveReady answers whether the server is ready, and what is missing if it isn't.
func (s *Server) serveReady(w http.ResponseWriter, r *http.Request) {
	if f := s.foreignOrigin(r); f != nil {
		fail(w, r, f, "")
		return
	}
	if s.draining.Load() {
		plain(w, http.StatusServiceUnavailable, "not ready: draining\n")
		return
	}
	text, status := "ready\n", http.StatusOK
	var err error
	if s.options.Ready != nil {
		err = s.options.Ready(r.Context())
	}
	s.noteReady(r.Context(), err)
	if err != nil {
		text, status = "not ready\n", http.StatusServiceUnavailable
		if p, ok := errors.AsType[*problem.Error](err); ok && p.Code != problem.Internal {
			text = "not ready: " + p.Detail + "\n"
		}
	}
	if s.options.Notes != nil {
		for _, n := range s.options.Notes() {
			text += n + "\n"
		}
	}
	plain(w, status, text)
}

// noteReady logs a change of readiness once, regardless of how often probes ask.
func (s *Server) noteReady(ctx context.Context, err error) {
	now := failureText(err)
	before := s.unready.Swap(&now)
	switch {
	case now == "" && before != nil && *before != "":
		s.log.InfoContext(ctx, "ready again")
	case now != "" && (before == nil || *before != now):
		s.log.ErrorContext(ctx, "not ready", "error", err)
	}
}

// failureText returns a text for comparing failures, or "" for nil.
func failureText(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	if inner := errors.Unwrap(err); inner != nil {
		text += ": " + inner.Error()
	}
	return text
}
