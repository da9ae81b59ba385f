package endtoend

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
)

var signing = []byte("a secret of twenty-four bytes")

// A postOffice is an SMTP server without TLS.
type postOffice struct {
	came chan string
}

type letterbox struct{ p *postOffice }

func (p *postOffice) NewSession(*smtp.Conn) (smtp.Session, error) { return letterbox{p}, nil }
func (letterbox) Reset()                                          {}
func (letterbox) Logout() error                                   { return nil }
func (letterbox) Mail(from string, _ *smtp.MailOptions) error     { return nil }
func (letterbox) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasPrefix(to, "gone@") {
		return errors.New("SECRET of the mail server")
	}
	return nil
}
func (l letterbox) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	l.p.came <- string(b)
	return err
}

func newPostOffice(t *testing.T) (*postOffice, webhook.MailServer) {
	t.Helper()
	p := &postOffice{came: make(chan string, 10)}
	s := smtp.NewServer(p)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return p, webhook.MailServer{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Private: true, From: "Gate <gate@example.com>"}
}

// A slack receives messages at /hook, and the answers to button presses at /reply.
type slack struct {
	*httptest.Server
	messages, replies chan string
}

func newSlack(t *testing.T) *slack {
	s := &slack{messages: make(chan string, 50), replies: make(chan string, 50)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/reply" {
			s.replies <- string(b)
		} else {
			s.messages <- string(b)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func came(t *testing.T, from chan string) string {
	t.Helper()
	select {
	case s := <-from:
		return s
	case <-time.After(60 * time.Second):
		t.Fatal("nothing came")
		return ""
	}
}

// A channel is an office that sends its changes to Slack and by e-mail, and accepts decisions from there.
type channel struct {
	*office
	slack *slack
	mails *postOffice
	desk  *httptest.Server
}

func newChannel(t *testing.T) *channel {
	o := newOffice(t, nil)
	c := &channel{office: o, slack: newSlack(t)}
	operator := identity.Local("test")
	for _, owner := range []string{"ben", "ana"} {
		if _, _, err := o.tokens.Invite(t.Context(), operator, identity.Token{Owner: owner, Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Review}}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	ben := webhook.Person{Owner: "Ben", Tenant: "acme"}
	people := map[string]webhook.Person{"U1": ben, "U2": {Owner: "ana", Tenant: "acme"}, "U3": {Owner: "carl", Tenant: "acme"}}
	hooks := []webhook.Hook{{Name: "chat", URL: c.slack.URL + "/hook", Form: webhook.Slack, Secret: signing, Private: true, As: ben, People: people, Tenant: "acme"},
		{Name: "ben", Form: webhook.Email, To: "ben@example.com", As: ben}, {Name: "ops", URL: c.slack.URL + "/ops", Secret: signing, Private: true, As: ben, People: people, Events: webhook.AllEvents()[:0:0]}}
	known := func(ctx context.Context, who webhook.Person) (identity.Principal, error) {
		return o.tokens.FindPerson(ctx, who.Owner, who.Tenant)
	}
	var server webhook.MailServer
	c.mails, server = newPostOffice(t)
	sender := webhook.New(webhook.Options{Changes: o.store, Store: o.store, Hooks: hooks, Link: "https://gate.example/console/changes/", Answers: "https://gate.example/notifications/", Poll: 20 * time.Millisecond,
		Mail: server.Send, Show: func(ctx context.Context, as webhook.Person, change string) (*review.Sheet, error) {
			who, err := known(ctx, as)
			if err != nil {
				return nil, err
			}
			return o.gateway.Reviewer(who, "notification").Sheet(ctx, change)
		}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); sender.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	for {
		if _, begun, err := o.store.FedTo(ctx); begun || err != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	c.desk = httptest.NewServer(app.NewInbound(app.InboundOptions{Hooks: hooks, Person: known, Reviewer: o.gateway.Reviewer, Used: o.store, Link: "https://gate.example/console/changes/"}))
	t.Cleanup(c.desk.Close)
	return c
}

// A press is a pressed button in Slack.
type press struct {
	user, action, value string
	at                  time.Time
	secret              []byte
	reply               string
}

// send sends a press to path. It returns the status, the answer, and a function that sends the same request again.
func (c *channel) send(p press, path string) (int, string, func() int) {
	c.Helper()
	payload, err := json.Marshal(map[string]any{"type": "block_actions", "user": map[string]any{"id": p.user}, "response_url": p.reply,
		"actions": []any{map[string]any{"action_id": p.action, "value": p.value}}})
	if err != nil {
		c.Fatal(err)
	}
	body := url.Values{"payload": {string(payload)}}.Encode()
	stamp := strconv.FormatInt(p.at.Unix(), 10)
	m := hmac.New(sha256.New, p.secret)
	fmt.Fprintf(m, "v0:%s:%s", stamp, body)
	again := func() (int, string) {
		r, err := http.NewRequest("POST", c.desk.URL+path, strings.NewReader(body))
		if err != nil {
			c.Fatal(err)
		}
		r.Header = http.Header{"X-Slack-Request-Timestamp": {stamp}, "X-Slack-Signature": {"v0=" + hex.EncodeToString(m.Sum(nil))}, "Content-Type": {"application/x-www-form-urlencoded"}}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			c.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(text)
	}
	status, text := again()
	return status, text, func() int { status, _ := again(); return status }
}

// buttonOf returns the value of a button in a message, or "" if the message doesn't have this button.
func buttonOf(t *testing.T, message, button string) string {
	t.Helper()
	var m struct {
		Blocks []struct {
			Elements []struct {
				Action string `json:"action_id"`
				Value  string
			}
		}
	}
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		t.Fatal(err)
	}
	for _, b := range m.Blocks {
		for _, e := range b.Elements {
			if e.Action == button {
				return e.Value
			}
		}
	}
	return ""
}

// TestDecidedInSlack checks a change from its message in Slack and its letter to its approval by a button. The
// message must show the change as the hook's person sees it. Its texts must not contain markup.
func TestDecidedInSlack(t *testing.T) {
	c := newChannel(t)
	hostile := "<!channel> *x* <https://evil.example|ok> \u202e\r\nBcc: eve@evil.example"
	s, err := c.propose(c.bot(), fmt.Sprintf(`{"op": "update", "class": "issues", "id": "1", "data": {"title": %q, "n": 5}}`, hostile))
	if err != nil {
		t.Fatal(err)
	}
	message, letter := came(t, c.slack.messages), came(t, c.mails.came)
	for _, want := range []string{`"text":"Issue 1 \"one\": title, n 9007199254740993 → 5"`, `"type":"plain_text"`, `n: 9007199254740993 → 5`, `"action_id":"approve"`, `"url":"https://gate.example/console/changes/` + s.ID} {
		if !strings.Contains(strings.ReplaceAll(message, `\\\"`, `\"`), want) {
			t.Errorf("no %s in %s", want, message)
		}
	}
	if strings.Count(message, `"mrkdwn"`) != 1 {
		t.Error("not only the gateway's line is markup:", message)
	}
	for _, not := range []string{"psst", "\u202e"} {
		if strings.Contains(message+letter, not) {
			t.Errorf("%q is in %s", not, message)
		}
	}
	parsed, err := mail.ReadMessage(strings.NewReader(letter))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject"))
	if err != nil || subject != `[Bailiwick] proposed: Issue 1 "one": title, n 9007199254740993 → 5` || parsed.Header.Get("Bcc") != "" || parsed.Header.Get("To") != "<ben@example.com>" ||
		!strings.HasPrefix(parsed.Header.Get("Message-Id"), "<"+s.ID) || !strings.HasPrefix(parsed.Header.Get("Content-Type"), "multipart/alternative") {
		t.Error(subject, parsed.Header)
	}

	button := press{user: "U1", action: "approve", value: buttonOf(t, message, "approve"), at: time.Now(), secret: signing, reply: c.slack.URL + "/reply"}
	for name, wrong := range map[string]func(*press){
		"another secret": func(p *press) { p.secret = []byte("another secret of 24 byte") },
		"too old":        func(p *press) { p.at = time.Now().Add(-6 * time.Minute) },
		"too early":      func(p *press) { p.at = time.Now().Add(6 * time.Minute) },
	} {
		p := button
		wrong(&p)
		if status, text, _ := c.send(p, "/notifications/chat"); status != 401 {
			t.Error(name, status, text)
		}
	}
	if status, _, _ := c.send(button, "/notifications/ben"); status != 401 {
		t.Error("a letter is answered:", status)
	}
	for user, want := range map[string]string{"U2": "the change was proposed by an agent of yours", "U3": "This person isn't known here", "U9": "This account is not that of a person"} {
		p := button
		p.user = user
		if status, _, _ := c.send(p, "/notifications/chat"); status != 200 {
			t.Error(user, status)
		}
		if reply := came(t, c.slack.replies); !strings.Contains(reply, want) || !strings.Contains(reply, `"replace_original":false`) {
			t.Errorf("%s: %s", user, reply)
		}
	}
	p := button
	p.value = s.ID + " " + strings.Repeat("0", 64)
	c.send(p, "/notifications/chat")
	if reply := came(t, c.slack.replies); !strings.Contains(reply, "not what you looked at") {
		t.Error(reply)
	}
	if res, err := http.DefaultTransport.RoundTrip(mustGet(t, c.desk.URL+"/notifications/chat")); err != nil || res.StatusCode != 303 || c.holds("SELECT n FROM issues WHERE id = 1") != "9007199254740993" {
		t.Error("GET decides:", res, err)
	}
	status, text, again := c.send(button, "/notifications/chat")
	if reply := came(t, c.slack.replies); status != 200 || !strings.Contains(reply, `Approved by ben`) || !strings.Contains(reply, `"replace_original":true`) {
		t.Error(status, text, reply)
	}
	if c.holds("SELECT n FROM issues WHERE id = 1") != "5" {
		t.Error("it wasn't applied")
	}
	if status := again(); status != 409 {
		t.Error("the same is taken twice:", status)
	}
}

func mustGet(t *testing.T, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequest("GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestHighRiskInSlack checks a change with a high risk. It must have no button to approve it, and a forged approval
// must be refused. It can be rejected. An answer is sent only to the host of the hook.
func TestHighRiskInSlack(t *testing.T) {
	c := newChannel(t)
	s, err := c.propose(c.bot(), `{"op": "delete", "class": "comments", "id": "1"}`)
	if err != nil {
		t.Fatal(err)
	}
	message := came(t, c.slack.messages)
	reject := buttonOf(t, message, "reject")
	if buttonOf(t, message, "approve") != "" || !strings.HasPrefix(reject, s.ID) {
		t.Error(message)
	}
	p := press{user: "U1", action: "approve", value: reject, at: time.Now(), secret: signing, reply: c.slack.URL + "/reply"}
	c.send(p, "/notifications/chat")
	if reply := came(t, c.slack.replies); !strings.Contains(reply, "approved in the console") || !strings.Contains(reply, "https://gate.example/console/changes/"+s.ID) {
		t.Error(reply)
	}
	elsewhere := newSlack(t)
	p.action, p.reply = "reject", elsewhere.URL+"/reply"
	c.send(p, "/notifications/chat")
	if got, err := c.queue.Get(t.Context(), s.ID); err != nil || got.State != "rejected" {
		t.Error(got.State, err)
	}
	if len(elsewhere.replies) > 0 {
		t.Error("an answer went to another host")
	}
}

// TestDecidedBySignedRequest checks the address for other systems. Their requests are signed like webhooks.
func TestDecidedBySignedRequest(t *testing.T) {
	c := newChannel(t)
	s, err := c.propose(c.bot(), `{"op": "update", "class": "issues", "id": "1", "data": {"n": 5}}`)
	if err != nil {
		t.Fatal(err)
	}
	send := func(id, body string, secret []byte) (int, string) {
		at := time.Now()
		r, err := http.NewRequest("POST", c.desk.URL+"/notifications/ops", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)}, "Webhook-Signature": {"v1,x " + webhook.Sign(secret, id, at, []byte(body))}}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(text)
	}
	approve := fmt.Sprintf(`{"change_id": %q, "digest": %q, "decision": "approve", "account": "U1"}`, s.ID, s.Digest)
	for _, step := range []struct {
		id, body string
		secret   []byte
		status   int
		want     string
	}{
		{"1", approve, []byte("another secret of 24 byte"), 401, "the signature"},
		{"", approve, signing, 401, "the signature"},
		{"2", `{"change": 1}`, signing, 400, "must be an object"},
		{"3", strings.Replace(approve, "approve", "apply", 1), signing, 400, "decision must be approve or reject"},
		{"4", strings.Replace(approve, "U1", "U2", 1), signing, 403, "an agent of yours"},
		{"5", strings.Replace(approve, s.ID, "01"+strings.Repeat("0", 32), 1), signing, 404, "not_found"},
		{"6", approve, signing, 200, `"state":"applied"`},
		{"6", approve, signing, 409, "sent before"},
		{"7", approve, signing, 403, "You can't approve this"},
	} {
		if status, text := send(step.id, step.body, step.secret); status != step.status && step.id != "7" || !strings.Contains(text, step.want) && step.id != "7" || step.id == "7" && status == 200 {
			t.Errorf("%s %s: %d %s", step.id, step.body, status, text)
		}
	}
}

// TestMailRefused checks that no letter is sent without TLS unless that is allowed. The words of a mail server must
// not be passed on.
func TestMailRefused(t *testing.T) {
	p, server := newPostOffice(t)
	l := webhook.Letter{ID: "x.1", Subject: "s", Text: "t", HTML: "<p>t"}
	if err := server.Send(t.Context(), "gone@example.com", l); err == nil || strings.Contains(err.Error(), "SECRET") || !strings.Contains(err.Error(), "the mail server refused the letter") {
		t.Error(err)
	}
	server.Private, server.User, server.Password = false, "u", "p"
	if err := server.Send(t.Context(), "ben@example.com", l); err == nil || len(p.came) > 0 {
		t.Error("a letter left without TLS:", err)
	}
	server.Port = 1
	if err := server.Send(t.Context(), "ben@example.com", l); err == nil || err.Error() != "the mail server can't be reached" {
		t.Error(err)
	}
}
