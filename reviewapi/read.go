package reviewapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// These kinds of refusals have their own status.
const (
	kindTooLarge = "body_too_large"
	contentType  = "Content-Type"
)

// read reads the body of a POST. It accepts only JSON, which a form of another site can't send without a preflight.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &problem.Error{Code: problem.InvalidArgument, Kind: kindTooLarge, Detail: fmt.Sprintf("the body exceeds %d bytes", maxBody)}
	}
	if err != nil {
		return nil, problem.New(problem.InvalidArgument, "the body did not arrive")
	}
	if r.Method == http.MethodGet && len(body) > 0 {
		return nil, problem.New(problem.InvalidArgument, "a GET has no body")
	}
	if len(body) == 0 {
		return nil, nil
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return nil, problem.New(problem.InvalidArgument, contentType+" must be application/json")
	}
	return body, nil
}

// A member describes a member that a body may have.
type member struct {
	name     string
	kind     value.Kind // String or Bool
	required bool
}

// maxText is the maximum length of a reason or a comment, in characters.
const maxText = 4000

// members parses the members of a body strictly. It refuses unknown members and wrong types.
func members(body []byte, known []member) (map[string]value.Value, error) {
	if body == nil {
		body = []byte("{}")
	}
	doc, err := value.Read(body, 0)
	if err != nil {
		return nil, err
	}
	refuse := func(at, format string, args ...any) error {
		return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: fmt.Sprintf(format, args...)}
	}
	if doc.Kind() != value.Object {
		return nil, refuse("", "the body must be a JSON object")
	}
	names := make([]string, len(known))
	for i, m := range known {
		names[i] = m.name
	}
	out := map[string]value.Value{}
	for _, m := range doc.Members() {
		i := slices.Index(names, m.Name)
		at := "/" + problem.Cut(m.Name)
		switch {
		case i < 0:
			near := problem.Nearest(m.Name, names, 2)
			return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: at, Near: near,
				Detail: fmt.Sprintf("there is no member %q here%s", problem.Cut(m.Name), problem.DidYouMean(near))}
		case m.Value.Kind() != known[i].kind:
			return nil, refuse(at, "must be %s %s", review.Article(known[i].kind.String()), known[i].kind)
		case utf8.RuneCountInString(m.Value.Text()) > maxText:
			return nil, refuse(at, "is longer than %d characters", maxText)
		}
		out[m.Name] = m.Value
	}
	// A required text must contain more than spaces.
	for _, m := range known {
		if v, ok := out[m.name]; m.required && (!ok || m.kind == value.String && strings.TrimSpace(v.Text()) == "") {
			return nil, refuse("/"+m.name, "%s is missing", m.name)
		}
	}
	return out, nil
}

// A decision is a POST on a change.
type decision struct {
	members []member
	do      func(ctx context.Context, reviewer bailiwick.Reviewer, id string, body map[string]value.Value) (*review.Sheet, error)
}

// answer parses the body of a decision and carries it out. It refuses unknown parameters and members.
func (d decision) answer(ctx context.Context, reviewer bailiwick.Reviewer, r *request) (any, error) {
	if _, err := parameters(r.http.URL, nil); err != nil {
		return nil, err
	}
	body, err := members(r.body, d.members)
	if err != nil {
		return nil, err
	}
	return d.do(ctx, reviewer, r.id, body)
}

// editsOf parses the edits in a revision, which are objects with item, field and value.
func editsOf(list []value.Value) ([]review.Edit, error) {
	out := make([]review.Edit, len(list))
	for i, v := range list {
		item, _ := v.Get("item")
		field, _ := v.Get("field")
		is, there := v.Get("value")
		n, ok := item.AsInt()
		if v.Kind() != value.Object || len(v.Members()) != 3 || !ok || field.Kind() != value.String || !there {
			return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: fmt.Sprintf("/edits/%d", i), Detail: `an edit is {"item": 0, "field": "title", "value": …}`}
		}
		out[i] = review.Edit{Item: int(n), Field: field.Text(), Value: is}
	}
	return out, nil
}

// decisions are the operations on a change, by the last element of the path.
var decisions = map[string]decision{
	"approve": {[]member{{"digest", value.String, true}, {"comment", value.String, false}},
		func(ctx context.Context, reviewer bailiwick.Reviewer, id string, b map[string]value.Value) (*review.Sheet, error) {
			return reviewer.Approve(ctx, id, b["digest"].Text(), b["comment"].Text())
		}},
	"break_glass": {[]member{{"digest", value.String, true}, {"reason", value.String, true}},
		func(ctx context.Context, reviewer bailiwick.Reviewer, id string, b map[string]value.Value) (*review.Sheet, error) {
			return reviewer.BreakGlass(ctx, id, b["digest"].Text(), b["reason"].Text())
		}},
	"request_changes": {[]member{{"text", value.String, true}},
		func(ctx context.Context, reviewer bailiwick.Reviewer, id string, b map[string]value.Value) (*review.Sheet, error) {
			return reviewer.Ask(ctx, id, b["text"].Text())
		}},
	"edit": {[]member{{"digest", value.String, true}, {"edits", value.Array, true}, {"reason", value.String, true}},
		func(ctx context.Context, reviewer bailiwick.Reviewer, id string, b map[string]value.Value) (*review.Sheet, error) {
			edits, err := editsOf(b["edits"].List())
			if err != nil {
				return nil, err
			}
			return reviewer.Edit(ctx, id, review.Revision{Digest: b["digest"].Text(), Edits: edits, Reason: b["reason"].Text()})
		}},
	"reject": {[]member{{"reason", value.String, true}},
		func(ctx context.Context, reviewer bailiwick.Reviewer, id string, b map[string]value.Value) (*review.Sheet, error) {
			return reviewer.Reject(ctx, id, b["reason"].Text())
		}},
	"comment": {[]member{{"comment", value.String, true}},
		func(ctx context.Context, reviewer bailiwick.Reviewer, id string, b map[string]value.Value) (*review.Sheet, error) {
			return reviewer.Comment(ctx, id, b["comment"].Text())
		}},
	"view": {[]member{{"digest", value.String, true}, {"item", value.Int, true}},
		func(ctx context.Context, reviewer bailiwick.Reviewer, id string, b map[string]value.Value) (*review.Sheet, error) {
			item, ok := b["item"].AsInt()
			if !ok {
				return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: "/item", Detail: "must be an integer"}
			}
			return reviewer.View(ctx, id, b["digest"].Text(), int(item))
		}},
	"renew": {nil, func(ctx context.Context, reviewer bailiwick.Reviewer, id string, _ map[string]value.Value) (*review.Sheet, error) {
		return reviewer.Renew(ctx, id)
	}},
	"revert": {[]member{{"reason", value.String, false}},
		func(ctx context.Context, reviewer bailiwick.Reviewer, id string, b map[string]value.Value) (*review.Sheet, error) {
			return reviewer.Revert(ctx, id, b["reason"].Text())
		}},
	"settle": {[]member{{"applied", value.Bool, true}, {"reason", value.String, true}},
		func(ctx context.Context, reviewer bailiwick.Reviewer, id string, b map[string]value.Value) (*review.Sheet, error) {
			return reviewer.Settle(ctx, id, b["applied"].Bool(), b["reason"].Text())
		}},
}

// parameters parses the query of a URL. Each known parameter may occur at most once. Other parameters are refused.
func parameters(u *url.URL, known []string) (map[string]string, error) {
	all, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, problem.New(problem.InvalidArgument, "the query of the URL is not well formed")
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(known, name) {
			near := problem.Nearest(name, known, 2)
			return nil, &problem.Error{Code: problem.InvalidArgument, Near: near,
				Detail: fmt.Sprintf("there is no parameter %q here%s", problem.Cut(name), problem.DidYouMean(near))}
		}
		if len(all[name]) > 1 {
			return nil, problem.New(problem.InvalidArgument, "the parameter "+name+" is given twice")
		}
		out[name] = all[name][0]
	}
	return out, nil
}

// Parameters returns the query parameters of GET /api/changes.
func Parameters() []string {
	return []string{"state", "source", "class", "op", "risk", "agent", "owner", "text", "for", "before", "limit"}
}

// maxPage is the maximum number of changes in one response (change.Filter).
const maxPage = 200

// filter parses the filter of changes in a URL.
func filter(u *url.URL) (change.Filter, error) {
	p, err := parameters(u, Parameters())
	if err != nil {
		return change.Filter{}, err
	}
	f := change.Filter{Source: p["source"], Class: p["class"], Op: p["op"], Principal: p["agent"], Owner: p["owner"], Text: p["text"], For: p["for"], Before: p["before"]}
	if f.States, err = states(p["state"]); err != nil {
		return f, err
	}
	if f.Op != "" {
		if _, err := oneOf("op", f.Op, []string{"create", "update", "delete", "action", "call", "schema", "group"}); err != nil {
			return f, err
		}
	}
	if p["risk"] != "" {
		risk, err := oneOf("risk", p["risk"], []string{string(change.Low), string(change.Medium), string(change.High)})
		if err != nil {
			return f, err
		}
		f.Risk = change.Risk(risk)
	}
	if p["for"] != "" {
		if _, err := oneOf("for", p["for"], []string{"me"}); err != nil {
			return f, err
		}
	}
	if p["limit"] != "" {
		if f.Limit, err = strconv.Atoi(p["limit"]); err != nil || f.Limit < 1 || f.Limit > maxPage {
			return f, problem.New(problem.InvalidArgument, fmt.Sprintf("limit must be a number from 1 to %d", maxPage))
		}
	}
	return f, nil
}

// states parses names of states separated by commas. "all" and "" mean all states.
func states(text string) ([]change.State, error) {
	if text == "" || text == "all" {
		return nil, nil
	}
	var known []string
	for _, s := range change.States() {
		known = append(known, string(s))
	}
	var out []change.State
	for name := range strings.SplitSeq(text, ",") {
		s, err := oneOf("state", name, append(known, "all"))
		if err != nil {
			return nil, err
		}
		out = append(out, change.State(s))
	}
	return out, nil
}

func oneOf(parameter, got string, known []string) (string, error) {
	if slices.Contains(known, got) {
		return got, nil
	}
	near := problem.Nearest(got, known, 1)
	return "", &problem.Error{Code: problem.InvalidArgument, Near: near,
		Detail: fmt.Sprintf("%s must be one of %s%s", parameter, strings.Join(known, ", "), problem.DidYouMean(near))}
}

// A Page is the response of GET /api/changes.
type Page struct {
	Changes []review.Row `json:"changes"`
	More    bool         `json:"more"`
	Next    string       `json:"next,omitzero"` // path of the next page
}

// list handles GET /api/changes. The member next contains the path of the next page, with the same filter.
func list(ctx context.Context, reviewer bailiwick.Reviewer, r *request) (any, error) {
	f, err := filter(r.http.URL)
	if err != nil {
		return nil, err
	}
	rows, more, err := reviewer.Queue(ctx, f)
	if err != nil {
		return nil, err
	}
	page := Page{Changes: rows, More: more}
	if rows == nil {
		page.Changes = []review.Row{}
	}
	if more && len(rows) > 0 {
		q := r.http.URL.Query()
		q.Set("before", rows[len(rows)-1].ID)
		page.Next = "/api/changes?" + q.Encode()
	}
	return page, nil
}

func counts(ctx context.Context, reviewer bailiwick.Reviewer, r *request) (any, error) {
	f, err := filter(r.http.URL)
	if err != nil {
		return nil, err
	}
	all, mine, err := reviewer.Counts(ctx, f)
	if f.For != "" {
		return mine, err
	}
	return all, err
}

func show(ctx context.Context, reviewer bailiwick.Reviewer, r *request) (any, error) {
	if _, err := parameters(r.http.URL, nil); err != nil {
		return nil, err
	}
	return reviewer.Sheet(ctx, r.id)
}
