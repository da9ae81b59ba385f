package edge

import "net/http"

// An EventStream is a text/event-stream response. After an error it sends nothing more.
type EventStream struct {
	Err     error
	w       http.ResponseWriter
	control *http.ResponseController
}

// BeginEvents sets the header of a stream. A field of the header makes nginx send events at once, instead of
// buffering them.
func BeginEvents(w http.ResponseWriter) *EventStream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	return &EventStream{w: w, control: http.NewResponseController(w)}
}

// Send sends text, which must consist of whole lines.
func (s *EventStream) Send(text string) {
	if s.Err != nil {
		return
	}
	if _, s.Err = s.w.Write([]byte(text)); s.Err == nil {
		s.Err = s.control.Flush()
	}
}
