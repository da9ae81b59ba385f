package sse

import "net/http"

// A Stream is a text/event-stream response. After an error nothing more is sent.
type Stream struct {
	Err     error
	w       http.ResponseWriter
	control *http.ResponseController
}

// Begin sets the header of a stream. What is sent leaves at once, also through nginx, which would buffer events otherwise.
func Begin(w http.ResponseWriter) *Stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	return &Stream{w: w, control: http.NewResponseController(w)}
}

// Send sends whole lines.
func (s *Stream) Send(text string) {
	if s.Err != nil {
		return
	}
	if _, s.Err = s.w.Write([]byte(text)); s.Err == nil {
		s.Err = s.control.Flush()
	}
}
