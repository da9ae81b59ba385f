package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Message is the body of a notification for programs.
type Message struct {
	Type string    `json:"type"`      // "change." followed by the kind of the event
	At   time.Time `json:"timestamp"` // the time of the event
	Data Data      `json:"data"`
}

// Data describes a change in a Message.
type Data struct {
	ID      string           `json:"change_id"`
	Event   change.EventKind `json:"event"`
	State   change.State     `json:"state"`       // the state directly after the event. It may have changed since
	By      string           `json:"by,omitzero"` // the person or agent, or "" for the gateway itself
	Agent   string           `json:"agent"`       // the principal that proposed it
	Owner   string           `json:"owner,omitzero"`
	Tenant  string           `json:"tenant,omitzero"`
	Op      write.Op         `json:"op,omitzero"`
	Classes []string         `json:"classes,omitzero"`
	Rows    int              `json:"rows,omitzero"`
	Risk    change.Risk      `json:"risk,omitzero"`
	Need    int              `json:"need,omitzero"`        // the number of people who must approve
	Broken  bool             `json:"break_glass,omitzero"` // approved with break glass
	Link    string           `json:"url,omitzero"`
	Seq     int64            `json:"seq"`            // sequence number of the event
	Field   string           `json:"field,omitzero"` // for the event Withheld: "source.Class.field"
	Why     string           `json:"why,omitzero"`   // for the event Withheld: the kind of credential

	// The change as the hook's person sees it. Empty if the hook names no person.
	Title  string   `json:"title,omitzero"`
	Lines  []string `json:"lines,omitzero"`
	Says   string   `json:"says,omitzero"`       // the agent's sentence or reason with the agent's name. It is not checked
	Digest string   `json:"digest,omitzero"`     // the digest of the version to decide about
	Answer string   `json:"answer_url,omitzero"` // the address for signed decisions by POST, while people can decide
}

// shownLines is the maximum number of diff lines in a notification.
const shownLines = 3

// Test is the event of a test of a hook.
const Test change.EventKind = "test"

// Withheld is the event for a field that is hidden because its values look like credentials. It doesn't belong to a
// change.
const Withheld change.EventKind = "withheld"

// An outgoing is an encoded message for one hook.
type outgoing struct {
	id     string // the same id for every attempt, so that receivers can drop duplicates
	body   []byte
	letter Letter // replaces body for the form Email
}

// data returns the facts of an event together with the current state of its change.
func (s *Sender) data(ctx context.Context, e change.Event) (Data, error) {
	data := Data{ID: e.Change, Event: e.Kind, State: e.State, By: e.By, Agent: e.Agent, Tenant: e.Tenant, Broken: e.Broken, Seq: e.Seq, Field: e.Field, Why: e.Why}
	if s.o.Link != "" && e.Change != "" {
		data.Link = s.o.Link + e.Change
	}
	if e.Change == "" {
		return data, nil // a test event, or an event about a field
	}
	c, err := s.o.Changes.Get(ctx, e.Change)
	switch {
	case errors.Is(err, change.ErrNone):
	case err != nil:
		return data, err
	default:
		data.Owner, data.Op, data.Classes, data.Rows, data.Risk, data.Need = c.Agent.Owner, c.Op, c.Classes, c.Rows, c.Risk, c.Need
	}
	return data, nil
}

// message encodes the notification of deliveries to one hook. Only the form Email combines several deliveries.
func (s *Sender) message(ctx context.Context, t *target, list []Delivery) (outgoing, error) {
	var notes []note
	for _, d := range list {
		data, err := s.data(ctx, d.Event)
		if err != nil {
			return outgoing{}, err
		}
		n := note{Data: data, At: d.Event.At}
		if t.As.Owner != "" && s.o.Show != nil && d.Event.Change != "" {
			if n.Sheet, err = s.o.Show(ctx, t.As, d.Event.Change); err != nil {
				s.o.Logger.WarnContext(ctx, "a notification shows no title and no values", "webhook", t.Name, "as", t.As.Owner, "change", d.Event.Change, "error", err)
			}
		}
		notes = append(notes, n)
	}
	out := outgoing{id: fmt.Sprintf("%s.%d", list[0].Event.Change, list[0].Event.Seq)}
	var content any = Message{Type: "change." + string(list[0].Event.Kind), At: list[0].Event.At, Data: notes[0].Data}
	if list[0].Event.Kind == Withheld {
		content = Message{Type: "field.withheld", At: list[0].Event.At, Data: notes[0].Data}
	}
	switch t.Form {
	case Email:
		var err error
		out.letter, err = letterOf(notes, out.id)
		return out, err
	case Slack:
		content = notes[0].slack(t.Answers())
	default:
		m := content.(Message)
		if answers := s.o.Answers; answers != "" && t.Answers() && notes[0].open() {
			m.Data.Answer, m.Data.Digest = answers+t.Name, notes[0].Sheet.Digest
		}
		m.Data.Title, m.Data.Lines, m.Data.Says = notes[0].title(), notes[0].lines(shownLines), notes[0].says()
		content = m
	}
	body, err := json.Marshal(content)
	out.body = body
	return out, err
}

// line returns n as one sentence, without markup.
func (n *note) line() string {
	d := &n.Data
	what := "A change"
	if d.Op != "" {
		records := "records"
		if d.Rows == 1 {
			records = "record"
		}
		what = fmt.Sprintf("%s %d %s of %s", strings.ToUpper(string(d.Op[:1]))+string(d.Op[1:]), d.Rows, records, strings.Join(d.Classes, ", "))
	}
	text := fmt.Sprintf("%s: %s", what, verb(d.Event))
	if d.By != "" {
		text += " by " + d.By
	}
	if d.Event == change.EventCreated && d.Need > 0 {
		text += fmt.Sprintf(", %s risk, needs %d to approve", d.Risk, d.Need)
	}
	if d.Event == Test {
		text = "A test of notifications: this one has arrived."
	}
	if d.Event == Withheld {
		text = fmt.Sprintf("%s is hidden from agents: %s. Confirm it with denied in the rule of the class, or show it with lift", d.Field, d.Why)
	}
	if d.Broken {
		text = "BREAK GLASS, past the rules of review! " + text
	}
	return text
}

// Plain replaces the characters of text that Slack would treat as markup. The result has no links, mentions, emphasis
// or code.
func Plain(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "*", "∗", "`", "ˋ", "~", "∼", "\n", " ", "\r", " ").Replace(text)
}

// verb returns the verb for an event in a notification to people. An event without a special verb keeps its name.
func verb(e change.EventKind) string {
	switch e {
	case change.EventCreated:
		return "proposed"
	case change.EventUnknown:
		return "the target did not answer: look there, and settle it"
	case change.EventStale:
		return "stale, the records moved on"
	case change.EventAsked:
		return "returned to its agent, with changes asked for"
	case change.EventReplaced:
		return "replaced by another version"
	case change.EventDecided:
		return "approved by one of several"
	case change.EventRenewed:
		return "previewed again"
	}
	return string(e)
}

// Sign returns the signature of a message as standardwebhooks.com defines it. It is "v1," followed by the HMAC-SHA256
// over id, time and body in base64.
func Sign(secret []byte, id string, at time.Time, body []byte) string {
	m := hmac.New(sha256.New, secret)
	fmt.Fprintf(m, "%s.%d.", id, at.Unix())
	m.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(m.Sum(nil))
}

// Secret parses a configured secret. It is "whsec_" followed by base64, or plain text. It must have at least 24
// bytes.
func Secret(text string) ([]byte, error) {
	secret := []byte(text)
	if coded, ok := strings.CutPrefix(text, "whsec_"); ok {
		var err error
		if secret, err = base64.StdEncoding.DecodeString(coded); err != nil {
			return nil, errors.New("what follows whsec_ must be base64")
		}
	}
	if len(secret) < 24 {
		return nil, errors.New("must be 24 bytes long at least")
	}
	return secret, nil
}

// clientFor returns an HTTP client for one hook. It uses no proxy, connects only to allowed addresses, and follows no
// redirects.
func clientFor(h Hook) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{DialContext: edge.GuardedDialer(h.Private).DialContext, TLSHandshakeTimeout: 5 * time.Second, MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A sent is the result of one attempt.
type sent struct {
	status  int
	failure string        // in our own words. "" on success
	after   time.Duration // the delay that the receiver requests
	gone    bool          // the receiver wants no more notifications
}

// send makes one HTTP request to the target with the message m.
func (t *target) send(ctx context.Context, m outgoing) sent {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(m.body))
	if err != nil {
		return sent{failure: "the URL can't be used"}
	}
	at := time.Now()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "bailiwick")
	r.Header.Set("Webhook-Id", m.id)
	r.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	if t.Secret != nil {
		r.Header.Set("Webhook-Signature", Sign(t.Secret, m.id, at, m.body))
	}
	res, err := t.client.Do(r)
	if err != nil {
		return sent{failure: why(err)}
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10) // allows the connection to be reused. The content is ignored
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return sent{status: res.StatusCode}
	}
	out := sent{status: res.StatusCode, failure: strings.TrimSpace(fmt.Sprintf("it answered %d %s", res.StatusCode, http.StatusText(res.StatusCode))), gone: res.StatusCode == http.StatusGone}
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		out.failure = "it redirects elsewhere, which is not followed. Name the address itself"
	}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
		out.after = min(time.Duration(min(seconds, 1<<20))*time.Second, longest)
	}
	return out
}

// why describes a network error in our own words. Go's errors contain internal addresses.
func why(err error) string {
	if errors.Is(err, edge.ErrPrivate) {
		return "its host leads to a private network. Set private: true if that is meant"
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return "it did not answer in time"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "its host can't be found"
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return "it can't be reached"
	}
	return "no connection: its certificate, or what it speaks, is not right"
}
