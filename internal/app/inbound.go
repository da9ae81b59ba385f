package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// inboundPath is the prefix of the paths. The name of a hook follows it.
const inboundPath = "/notifications/"

// These limit a request.
const (
	maxBody = 64 << 10
	window  = 5 * time.Minute // maximum difference between the signature's time and now
)

// InboundOptions configure an InboundHandler. All fields except Logger are required.
type InboundOptions struct {
	Hooks    []webhook.Hook
	Person   func(context.Context, webhook.Person) (identity.Principal, error)
	Reviewer func(who identity.Principal, correlation string) bailiwick.Reviewer
	Used     once.Store
	Link     string // prefix of a link to a change. The change's id follows it
	Logger   *slog.Logger
}

// An InboundHandler serves inboundPath.
type InboundHandler struct {
	o     InboundOptions
	hooks map[string]webhook.Hook
}

// NewInbound returns an InboundHandler. It accepts answers for hooks that have a secret and a list of people.
func NewInbound(o InboundOptions) *InboundHandler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d := &InboundHandler{o: o, hooks: map[string]webhook.Hook{}}
	for _, h := range o.Hooks {
		if h.Answers() {
			d.hooks[h.Name] = h
		}
	}
	return d
}

// A decision is a person's decision as another system reports it.
type decision struct {
	Change  string `json:"change_id"`
	Digest  string `json:"digest"`
	Verb    string `json:"decision"` // "approve" or "reject"
	Account string `json:"account"`
	Text    string `json:"text"`

	workspace string // the account's workspace, as Slack names it
	reply     string // the address to which Slack expects the answer
}

// ServeHTTP implements http.InboundHandler.
func (d *InboundHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		http.Redirect(w, r, d.o.Link, http.StatusSeeOther)
		return
	}
	if r.Method != http.MethodPost {
		head.Set("Allow", "GET, POST")
		http.Error(w, "this takes POST", http.StatusMethodNotAllowed)
		return
	}
	// An unknown hook gets the same answer as a wrong signature, after the same work. The body is read, and its
	// signature is checked with a secret that nobody knows.
	h, known := d.hooks[strings.TrimPrefix(r.URL.Path, inboundPath)]
	if !known {
		h.Secret = []byte(rand.Text())
		if r.Header.Get("X-Slack-Signature") != "" {
			h.Form = webhook.Slack
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the body is too large", http.StatusRequestEntityTooLarge)
		return
	}
	name, at, good := verifyInbound(&h, r.Header, body)
	if age := time.Since(at); !known || !good || age > window || age < -window {
		// A log line for each would fill the disk.
		edge.RefusedBecause(r.Context(), map[bool]string{true: "signature_time", false: "signature"}[known && good], "")
		http.Error(w, "the signature or its time is not right", http.StatusUnauthorized)
		return
	}
	// The record lasts twice the window, because the sender's clock may be ahead by one window.
	first, err := d.o.Used.UseUp(r.Context(), "answer:"+h.Name+":"+name, time.Now().Add(2*window))
	switch {
	case err != nil:
		d.o.Logger.ErrorContext(r.Context(), "an answer to a notification failed", "webhook", h.Name, "error", err)
		http.Error(w, "the server can't take it now", http.StatusServiceUnavailable)
		return
	case !first:
		http.Error(w, "this has been sent before", http.StatusConflict)
		return
	}
	// Only a signed, new body is parsed.
	asked, err := readInbound(&h, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if asked.Verb == "open" { // a button with an address: Slack reports each press
		return
	}
	d.decide(w, r, &h, asked)
}

// decide carries out a decision, and answers in the form of the hook.
func (d *InboundHandler) decide(w http.ResponseWriter, r *http.Request, h *webhook.Hook, asked decision) {
	s, by, err := d.applyDecision(r.Context(), h, asked)
	said := problem.Of(err)
	if err != nil {
		edge.RefusedBy(r.Context(), "hook:"+h.Name)
		edge.RefusedBecause(r.Context(), said.Kind, "") // Slack accepts only the status 200
	}
	if err != nil && (said.Code == problem.Internal || said.Store) {
		d.o.Logger.ErrorContext(r.Context(), "an answer to a notification failed", "webhook", h.Name, "error", err, "cause", said.Err)
	}
	if err != nil && said.Code == problem.Internal {
		said = problem.New(problem.Internal, "Internal error")
	}
	if h.Form == webhook.Slack {
		text := ""
		if err == nil {
			text = fmt.Sprintf("%s by %s: %s", map[string]string{"approve": "Approved", "reject": "Rejected"}[asked.Verb], by, s.Title)
			if s.State == change.Pending {
				text += fmt.Sprintf(" (%d of %d)", s.Approvals, s.Need)
			}
		} else {
			text = strings.TrimSpace(review.Sentence(said.Detail)+" "+review.Sentence(said.Suggestion)) + " " + d.o.Link + asked.Change
		}
		d.reply(r.Context(), h, asked.reply, text, err == nil && s.State != change.Pending)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	out := map[string]any{}
	if err != nil {
		status := map[problem.Code]int{problem.NotFound: 404, problem.Conflict: 409, problem.PermissionDenied: 403, problem.InvalidArgument: 400, problem.Internal: 500}[said.Code]
		if said.Store {
			status = http.StatusServiceUnavailable
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(said.RetryAfter.Seconds()))))
		}
		w.WriteHeader(cmp.Or(status, http.StatusBadRequest))
		out["error"], out["error_code"], out["url"] = said.Detail, said.Code, d.o.Link+asked.Change
	} else {
		out["change_id"], out["state"] = s.ID, s.State
	}
	_ = json.NewEncoder(w).Encode(out) // the sender may have disconnected
}

// applyDecision carries out a decision as the person of the mapped account. It returns the resulting change
// and the person's name.
func (d *InboundHandler) applyDecision(ctx context.Context, h *webhook.Hook, asked decision) (*review.Sheet, string, error) {
	person, ok := whose(h, asked)
	if !ok {
		return nil, "", &problem.Error{Code: problem.PermissionDenied, Kind: "account", Detail: "This account is not that of a person who decides here.",
			Suggestion: "The operator maps it in notifications.webhooks." + h.Name + ".people. Until then:"}
	}
	who, err := d.o.Person(ctx, person)
	if p := problem.Of(err); p != nil && p.Kind == "person_tenant" {
		told := *p
		told.Detail += " This hook has no tenant, so that its people must have none. The operator writes tenant into notifications.webhooks." + h.Name + "."
		err = &told
	}
	if err != nil {
		return nil, "", err
	}
	reviewer := d.o.Reviewer(who, "answer-"+rand.Text())
	if asked.Verb == "reject" {
		s, err := reviewer.Reject(ctx, asked.Change, cmp.Or(strings.TrimSpace(asked.Text), "Rejected from "+h.Name+", without a reason."))
		return s, who.Owner, err
	}
	s, err := reviewer.Sheet(ctx, asked.Change)
	if err != nil {
		return nil, "", err
	}
	if s.Risk == change.High {
		return nil, "", &problem.Error{Code: problem.PermissionDenied, Kind: "risk", Detail: "A change of a high risk is approved in the console, after a look at all of it."}
	}
	if i := slices.IndexFunc(s.Checks, func(c review.Check) bool { return !c.OK }); i >= 0 {
		return nil, "", &problem.Error{Code: problem.PermissionDenied, Kind: s.Checks[i].Name, Detail: "You can't approve this: " + s.Checks[i].Detail + "."}
	}
	s, err = reviewer.Approve(ctx, asked.Change, asked.Digest, asked.Text)
	return s, who.Owner, err
}

// whose returns the person that the account of a decision is mapped to. A Slack account belongs to a workspace. An
// app may be installed in several workspaces. Shared channels contain accounts of other workspaces, which may have
// the same ids. If the address of the hook contains its workspace, an account of another workspace counts only if it
// is mapped with its workspace: T012AB3CD/U012AB3CD.
func whose(h *webhook.Hook, asked decision) (webhook.Person, bool) {
	if asked.workspace != "" {
		if p, ok := h.People[asked.workspace+"/"+asked.Account]; ok {
			return p, true
		}
	}
	if own := workspaceOf(h); own != "" && (own != asked.workspace || strings.Contains(asked.Account, "/")) {
		return webhook.Person{}, false
	}
	p, ok := h.People[asked.Account]
	return p, ok
}

// workspaceOf returns the workspace in the address of a Slack hook (/services/T…/B…/…), or "" for any other address.
func workspaceOf(h *webhook.Hook) string {
	u, err := url.Parse(h.URL)
	if h.Form != webhook.Slack || err != nil || !strings.HasPrefix(u.Hostname(), "hooks.slack") {
		return ""
	}
	parts := strings.Split(u.Path, "/") // "", "services", "T…", …
	if len(parts) > 2 && strings.HasPrefix(parts[2], "T") {
		return parts[2]
	}
	return ""
}

// verifyInbound reports whether body is signed with h's secret. It also returns a text that identifies the request,
// and the time of the request.
func verifyInbound(h *webhook.Hook, head http.Header, body []byte) (name string, at time.Time, ok bool) {
	if h.Form == webhook.Slack {
		stamp := head.Get("X-Slack-Request-Timestamp")
		at, ok = parseTimestamp(stamp)
		m := hmac.New(sha256.New, h.Secret)
		fmt.Fprintf(m, "v0:%s:", stamp)
		m.Write(body)
		name = "v0=" + hex.EncodeToString(m.Sum(nil))
		return name, at, ok && h.Secret != nil && hmac.Equal([]byte(name), []byte(head.Get("X-Slack-Signature")))
	}
	name = head.Get("Webhook-Id")
	if at, ok = parseTimestamp(head.Get("Webhook-Timestamp")); !ok || name == "" || h.Secret == nil {
		return name, at, false
	}
	want := []byte(webhook.Sign(h.Secret, name, at, body))
	return name, at, slices.ContainsFunc(strings.Fields(head.Get("Webhook-Signature")), func(s string) bool { return hmac.Equal(want, []byte(s)) })
}

// parseTimestamp parses seconds since 1970 in canonical decimal form.
func parseTimestamp(text string) (time.Time, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(n, 0), err == nil && strconv.FormatInt(n, 10) == text
}

// readInbound parses the decision in a body.
func readInbound(h *webhook.Hook, body []byte) (asked decision, err error) {
	if h.Form == webhook.Slack {
		return readSlack(body)
	}
	v, err := value.Read(body, 0)
	if err != nil {
		return asked, fmt.Errorf("must be JSON that is read in one way: %s", problem.Of(err).Detail)
	}
	// Names must match exactly: Decode accepts "Decision" for "decision", and uses the last of both.
	for _, m := range v.Members() {
		if !slices.Contains([]string{"change_id", "digest", "decision", "account", "text"}, m.Name) {
			return asked, fmt.Errorf("must be an object with change_id, digest, decision, account and text")
		}
	}
	if json.Unmarshal(body, &asked) != nil {
		return asked, fmt.Errorf("must be an object with change_id, digest, decision, account and text")
	}
	if asked.Verb != "approve" && asked.Verb != "reject" {
		return asked, fmt.Errorf("decision must be approve or reject")
	}
	return asked, nil
}

// readSlack parses the form that Slack sends when a button is pressed.
func readSlack(body []byte) (asked decision, err error) {
	form, err := url.ParseQuery(string(body))
	var p struct {
		Type string
		Team struct{ ID string }
		User struct {
			ID   string
			Team string `json:"team_id"`
		}
		URL string `json:"response_url"`

		Actions []struct {
			Action string `json:"action_id"`
			Value  string
		}
	}
	if err != nil || json.Unmarshal([]byte(form.Get("payload")), &p) != nil || p.Type != "block_actions" || len(p.Actions) != 1 {
		return asked, fmt.Errorf("must be one pressed button of Slack")
	}
	asked = decision{Verb: p.Actions[0].Action, Account: p.User.ID, workspace: cmp.Or(p.User.Team, p.Team.ID), reply: p.URL}
	asked.Change, asked.Digest, _ = strings.Cut(p.Actions[0].Value, " ")
	if !slices.Contains([]string{"approve", "reject", "open"}, asked.Verb) {
		return asked, fmt.Errorf("there is no such button")
	}
	return asked, nil
}

// reply sends the outcome of a decision to Slack. A final outcome is visible to all readers and replaces the buttons.
// reply sends only to the host of the hook.
func (d *InboundHandler) reply(ctx context.Context, h *webhook.Hook, to string, text string, decided bool) {
	u, err := url.Parse(to)
	own, failed := url.Parse(h.URL)
	if err != nil || failed != nil || u.Scheme != own.Scheme || u.Host != own.Host || u.User != nil {
		d.o.Logger.WarnContext(ctx, "the answer to a button can't be sent: its address isn't that of the hook", "webhook", h.Name)
		return
	}
	message := map[string]any{"text": text, "response_type": "ephemeral", "replace_original": false}
	if decided {
		message = map[string]any{"text": text, "replace_original": true}
	}
	message["blocks"] = []any{map[string]any{"type": "section", "text": map[string]any{"type": "plain_text", "text": firstCharacters(text, 2000), "emoji": false}}}
	message["text"] = webhook.Plain(text)
	body, err := json.Marshal(message)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second) // Slack waits for three seconds
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DialContext: edge.GuardedDialer(h.Private).DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		d.o.Logger.WarnContext(ctx, "the answer to a button can't be sent", "webhook", h.Name)
		return
	}
	res.Body.Close()
}

// firstCharacters returns at most n characters of text.
func firstCharacters(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n])
	}
	return text
}
