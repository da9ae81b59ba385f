// Package scripted is a server that speaks the wire formats of model providers and plays a script.
//
//	request in a provider's format ─check→ Conversation ─Script→ Turn ─same format→ response
//
// Tests and evaluations use it in place of a model. Package llm, its counterpart, is the client for the same formats:
// chat, responses, messages and gemini. The server rejects requests that a format doesn't allow: unknown members,
// results of calls that were not made, and calls without results.
//
// Play plays a fixed list of turns. Rules answers each question by the plan written for it, and stops at the first
// refusal of a tool. Tracker returns the plans for the demo's issue tracker.
package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/llm"
)

// A Script answers a conversation. n counts the requests from 1.
type Script func(n int, c Conversation) Turn

// A Conversation is the content of a request, in whichever format it came.
type Conversation struct {
	Format   string // chat, responses, messages or gemini
	Model    string
	System   string
	Messages []llm.Message
	Tools    []llm.Declaration
	NoCalls  bool
	Body     json.RawMessage // as it came
}

// Question returns what the user said last.
func (c Conversation) Question() string {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		if c.Messages[i].Role == llm.User {
			return c.Messages[i].Text
		}
	}
	return ""
}

// Results returns the results of the calls since the user spoke last, in their order.
func (c Conversation) Results() []llm.Result {
	var all []llm.Result
	for i := len(c.Messages) - 1; i >= 0 && c.Messages[i].Role != llm.User; i-- {
		all = append(append([]llm.Result{}, c.Messages[i].Results...), all...)
	}
	return all
}

// A Turn is an answer of the model.
type Turn struct {
	Text    string
	Calls   []llm.Call // ids may be left out
	Stop    llm.Stop   // "" is Calling with calls, and Done without
	Refusal string     // in place of Text, where the format has a form of its own for it
	Usage   llm.Usage  // the zero Usage is made up from the sizes

	Status int               // other than 0 and 200: an error instead of an answer
	Code   string            // of the error
	Header map[string]string // of the answer
	Raw    string            // a body instead of one in the format

	CutAfter int           // events. The connection ends behind them, 0 is never
	FailAt   int           // the event in whose place the stream says the error Code, or 0
	Pause    time.Duration // before each event
}

// A Server is one scripted model behind all formats. Set Script before it serves.
type Server struct {
	Script Script
	Key    string // wanted in each request, or ""

	mu       sync.Mutex
	requests []Conversation
	events   []Sent
}

// A Sent is one event that the server has written.
type Sent struct {
	Format string
	Data   string
}

// Requests returns the conversations of all requests so far.
func (s *Server) Requests() []Conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Conversation{}, s.requests...)
}

// Events returns what has been written so far.
func (s *Server) Events() []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Sent{}, s.events...)
}

// A format is how one provider writes conversations and turns.
type format struct {
	name   string
	key    string // header
	prefix string // of the key's value
	read   func(body []byte) (Conversation, error)
	write  func(Turn, Conversation) []event
	fail   func(code, message string, status int) any
}

// An event is one of the stream. Its name is left out where the format has none.
type event struct {
	name string
	data any
}

// formatOf returns the format that is spoken at path, whatever comes before it.
func formatOf(path string) (format, bool) {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return format{"chat", "Authorization", "Bearer ", readChat, writeChat, failOpenAI}, true
	case strings.HasSuffix(path, "/responses"):
		return format{"responses", "Authorization", "Bearer ", readResponses, writeResponses, failOpenAI}, true
	case strings.HasSuffix(path, "/messages"):
		return format{"messages", "X-Api-Key", "", readMessages, writeMessages, failMessages}, true
	case strings.HasSuffix(path, ":streamGenerateContent"):
		return format{"gemini", "X-Goog-Api-Key", "", readGemini, writeGemini, failGemini}, true
	}
	return format{}, false
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, ok := formatOf(r.URL.Path)
	if !ok || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	if s.Key != "" && r.Header.Get(f.key) != f.prefix+s.Key {
		sendFault(w, f, Turn{Status: http.StatusUnauthorized, Code: "invalid_api_key", Text: "Incorrect API key provided: " + r.Header.Get(f.key)})
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c, err := f.read(body)
	if err == nil {
		err = consistent(c)
	}
	if f.name == "gemini" {
		c.Model = strings.TrimSuffix(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], ":streamGenerateContent")
	}
	if err != nil {
		sendFault(w, f, Turn{Status: http.StatusBadRequest, Code: "invalid_request_error", Text: err.Error()})
		return
	}
	c.Format, c.Body = f.name, body
	s.mu.Lock()
	s.requests = append(s.requests, c)
	n := len(s.requests)
	s.mu.Unlock()
	t := s.Script(n, c)
	for name, v := range t.Header {
		w.Header().Set(name, v)
	}
	if t.Status != 0 && t.Status != http.StatusOK {
		sendFault(w, f, t)
		return
	}
	s.stream(w, r, f, t, c)
}

// sendFault answers with the turn's status, and its Raw body or an error in the format.
func sendFault(w http.ResponseWriter, f format, t Turn) {
	if t.Raw != "" {
		w.WriteHeader(t.Status)
		_, _ = io.WriteString(w, t.Raw) // a client that has gone reads nothing
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(t.Status)
	_ = json.NewEncoder(w).Encode(f.fail(t.Code, t.Text, t.Status)) // likewise
}

// stream answers with turn t in format f, event by event. Ids, the stop reason and the usage that the script left out are made up.
// CutAfter ends the connection without an end of the stream, FailAt ends the stream with an error event.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, f format, t Turn, c Conversation) {
	t.Calls = slices.Clone(t.Calls) // a script may play one turn to several clients
	for i := range t.Calls {
		if t.Calls[i].ID == "" && f.name != "gemini" {
			t.Calls[i].ID = fmt.Sprintf("call_%d_%d", len(c.Messages), i+1)
		}
	}
	if t.Stop == "" {
		t.Stop = llm.Done
		if len(t.Calls) > 0 {
			t.Stop = llm.Calling
		}
	}
	if t.Usage == (llm.Usage{}) {
		t.Usage = llm.Usage{Input: len(c.Body) / 4, Output: 1 + len(t.Text)/4}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, e := range f.write(t, c) {
		if t.CutAfter == i && i > 0 {
			panic(http.ErrAbortHandler)
		}
		if t.FailAt == i && i > 0 {
			e = event{"error", f.fail(t.Code, t.Text, 0)}
		}
		select {
		case <-time.After(t.Pause):
		case <-r.Context().Done():
			return
		}
		s.send(w, f.name, e)
		if t.FailAt == i && i > 0 {
			return
		}
	}
}

// send writes one server-sent event and flushes it, so that the client reads each for itself. name is that of the format.
func (s *Server) send(w http.ResponseWriter, name string, e event) {
	data, ok := e.data.(string)
	if !ok {
		b, err := json.Marshal(e.data)
		if err != nil {
			panic(err) // the formats write what encodes
		}
		data = string(b)
	}
	s.mu.Lock()
	s.events = append(s.events, Sent{name, data})
	s.mu.Unlock()
	if e.name != "" {
		data = "event: " + e.name + "\ndata: " + data
	} else {
		data = "data: " + data
	}
	_, _ = io.WriteString(w, data+"\n\n")     // a client that has gone reads nothing
	_ = http.NewResponseController(w).Flush() // likewise
}

// consistent reports what providers refuse in a conversation: an end that is not a question, calls without results,
// results without calls, two of one name.
func consistent(c Conversation) error {
	if len(c.Messages) == 0 || c.Messages[len(c.Messages)-1].Role == llm.Assistant {
		return fmt.Errorf("the conversation must end with a turn of the user")
	}
	open := map[string]bool{}
	for i, m := range c.Messages {
		if m.Role != llm.Tool && len(open) > 0 {
			return fmt.Errorf("messages[%d]: calls before it have no results", i)
		}
		for _, call := range m.Calls {
			if open[call.ID] || call.ID == "" {
				return fmt.Errorf("messages[%d]: the id %q of a call is empty or there twice", i, call.ID)
			}
			open[call.ID] = true
		}
		for _, r := range m.Results {
			if !open[r.ID] {
				return fmt.Errorf("messages[%d]: no call has the id %q", i, r.ID)
			}
			delete(open, r.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the last calls have no results")
	}
	return declarations(c.Tools)
}

// declarations reports what providers refuse in tools.
func declarations(tools []llm.Declaration) error {
	if len(tools) > 128 {
		return fmt.Errorf("tools: %d, want at most 128", len(tools))
	}
	seen := map[string]bool{}
	for _, t := range tools {
		var schema struct {
			Type       string
			Properties map[string]any
			AnyOf      []any
		}
		switch {
		case t.Name == "" || len(t.Name) > 64 || strings.Trim(t.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "":
			return fmt.Errorf("tools: the name %q does not match ^[a-zA-Z0-9_-]{1,64}$", t.Name)
		case seen[t.Name]:
			return fmt.Errorf("tools: the name %q is there twice", t.Name)
		case json.Unmarshal(t.Schema, &schema) != nil || schema.Type != "object" || schema.Properties == nil || schema.AnyOf != nil:
			return fmt.Errorf("tools: the schema of %s must be an object with properties", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

// strict decodes body into v and refuses members that v does not have.
func strict(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// pieces cuts text into pieces of at most n bytes, as models write it. "" is one piece.
func pieces(text string, n int) []string {
	var all []string
	for len(text) > n {
		at := n
		for at > 1 && text[at]&0xc0 == 0x80 { // not within a rune
			at--
		}
		all, text = append(all, text[:at]), text[at:]
	}
	return append(all, text)
}

// Play returns a script that plays turns one after the other, and says that it has ended behind the last.
func Play(turns ...Turn) Script {
	return func(n int, _ Conversation) Turn {
		if n > len(turns) {
			return Turn{Text: "(the script has ended)"}
		}
		return turns[n-1]
	}
}
