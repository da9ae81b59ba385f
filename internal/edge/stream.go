package edge

import "net/http"

// An EventStream is a text/event-stream response. After an error nothing more is sent.
type EventStream struct {
	Err     error
	w       http.ResponseWriter
	control *http.ResponseController
}

// BeginEvents sets the header of a stream. Events are sent at once, also through nginx, which would buffer them
// otherwise.
func BeginEvents(w http.ResponseWriter) *EventStream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	return &EventStream{w: w, control: http.NewResponseController(w)}
}

// Send sends whole lines.
func (s *EventStream) Send(text string) {
	if s.Err != nil {
		return
	}
	if _, s.Err = s.w.Write([]byte(text)); s.Err == nil {
		s.Err = s.control.Flush()
	}
}
