package console

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

//go:embed pages/*.html
var pageFiles embed.FS

// A frame is a page with its surroundings.
type frame struct {
	Title  string
	At     string // the Href of the page in the navigation
	Page   any
	Mark   string      // the token of the page's forms
	Notice string      // the completed operation, as a fixed text
	Before *review.Row // the decided change, if the page shows another one
	Alert  string      // the failed operation and the reason
	Status int         // 0 means 200

	Live    bool  // the page is updated live
	After   int64 // the Seq of the newest event when the page was rendered
	Nav     []navItem
	Who     identity.Principal
	Theme   string // "light", "dark", or "" for the browser's theme
	Here    string // the address of the page, to return to it
	Version string
}

// A navItem is a page in the navigation.
type navItem struct{ Href, Label string }

// nav returns the pages that the visitor may see.
func (c *Console) nav(v *visit) []navItem {
	var out []navItem
	add := func(needs identity.Scope, there bool, href, label string) {
		if there && (needs == "" && v.who.ID != "" || needs != "" && v.who.Has(needs)) {
			out = append(out, navItem{Path + href, label})
		}
	}
	o := &c.options
	add(identity.Review, true, "/changes", "Changes")
	add(identity.Audit, o.Audit != nil, "/audit", "Audit")
	add(identity.Operator, o.Exposure != nil, "/access", "Tools and views")
	add(identity.Operator, true, "/people", "People")
	add(identity.Operator, true, "/tokens", "Tokens")
	add(identity.Operator, o.Deliveries != nil && v.who.Tenant == "", "/notifications", "Notifications")
	add("", o.Sources != nil, "/sources", "Sources")
	return out
}

// readPages compiles each page with the frame and the shared parts.
func (c *Console) readPages() (map[string]*template.Template, error) {
	names, err := fs.Glob(pageFiles, "pages/*.html")
	if err != nil {
		return nil, fmt.Errorf("console: list the pages: %w", err)
	}
	out := map[string]*template.Template{}
	for _, file := range names {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "pages/"), ".html")
		if name == "frame" || name == "parts" {
			continue
		}
		t, err := template.New(name).Funcs(pageFunctions(c.now)).Option("missingkey=error").
			ParseFS(pageFiles, "pages/frame.html", "pages/parts.html", file)
		if err != nil {
			return nil, fmt.Errorf("console: read the page %s: %w", name, err)
		}
		out[name] = t
	}
	return out, nil
}

// render writes a complete page. On an error, it writes nothing.
func (c *Console) render(v *visit, page string, f frame) error {
	f.Who, f.Nav, f.Here, f.Version = v.who, c.nav(v), edge.Within(Path, v.r.URL.RequestURI()), c.options.Version
	if f.Mark == "" && v.session.ID != "" {
		f.Mark = formMark(v.session.secret)
	}
	if cookie, err := v.r.Cookie(themeName); err == nil && (cookie.Value == "light" || cookie.Value == "dark") {
		f.Theme = cookie.Value
	}
	if f.Live {
		last, err := c.reviewer(v).LastEvent(v.ctx())
		if err != nil {
			return err
		}
		f.After = last
	}
	var b bytes.Buffer
	if err := c.pages[page].ExecuteTemplate(&b, "frame", f); err != nil {
		return fmt.Errorf("console: write the page %s: %w", page, err)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if f.Status != 0 {
		v.w.WriteHeader(f.Status)
	}
	_, _ = b.WriteTo(v.w) // an error means that the client has disconnected
	return nil
}

// A failing is the page for an error.
type failing struct {
	Heading string
	Detail  string
	Hint    string
	Trace   string // identifies the log entry for operators, or ""
	Back    string // the page to which the error page links, with its own heading, or "" for the console
}

// An elsewhere is an error with its own heading, and with a link to a page other than the console's first.
type elsewhere struct {
	error
	heading, back string
}

func (e elsewhere) Unwrap() error { return e.error }

// show writes the error page for err, without details that must not be shown.
func (c *Console) show(v *visit, err error) {
	p := problem.Of(err)
	page := failing{Heading: "That didn't work", Detail: p.Detail, Hint: p.Suggestion}
	status := statusOf(p)
	switch status {
	case http.StatusNotFound:
		page.Heading = "There is nothing here"
	case http.StatusForbidden:
		page.Heading = "You may not do that"
	case http.StatusInternalServerError, http.StatusBadGateway:
		page = failing{Heading: "Something went wrong", Detail: "It has been written to the log. Nothing was decided.", Trace: v.correlation}
		c.logError(v, err)
	}
	if p.Store {
		page = failing{Heading: "Not available now", Detail: "The gateway can't reach its records. The gateway may not have recorded your action.",
			Hint: "Open the page again in a few seconds, and look before you repeat it.", Trace: v.correlation}
		if p.RetryAfter > 0 {
			v.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(p.RetryAfter.Seconds()))))
		}
		c.logError(v, err)
	}
	if led, ok := errors.AsType[elsewhere](err); ok {
		page.Back = led.back
		if page.Trace == "" {
			page.Heading = led.heading
		}
	}
	if err := c.render(v, "failing", frame{Title: page.Heading, Page: page, Status: status}); err != nil {
		c.log.ErrorContext(v.ctx(), "console", "error", err)
		http.Error(v.w, http.StatusText(status), status)
	}
}

// logError writes err to the log, unless the visitor has left.
func (c *Console) logError(v *visit, err error) {
	if v.ctx().Err() == nil {
		c.log.ErrorContext(v.ctx(), "console", "path", v.r.URL.Path, "correlation", v.correlation, "error", err, "cause", problem.Of(err).Err)
	}
}

// statusOf returns the HTTP status of the page for an error. It returns 500 for every code that the visitor can't
// fix.
func statusOf(p *problem.Error) int {
	if p.Store {
		return http.StatusServiceUnavailable
	}
	switch p.Code {
	case problem.NotFound:
		return http.StatusNotFound
	case problem.PermissionDenied, problem.AccessDenied, problem.UnknownTool, problem.SecurityBlocked:
		return http.StatusForbidden
	case problem.Conflict:
		return http.StatusConflict
	case problem.InvalidArgument, problem.InvalidQuery, problem.Unsupported:
		return http.StatusBadRequest
	case problem.RateLimited, problem.BudgetExceeded:
		return http.StatusTooManyRequests
	case problem.Unauthorized:
		return http.StatusUnauthorized
	case problem.Timeout, problem.Cancelled:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// fail answers a request that belongs to no page. The page contains only the meaning of the status.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, status int) {
	said := map[int]failing{
		http.StatusUnauthorized:        {"Sign in first", "Your session has ended.", "", "", ""},
		http.StatusForbidden:           {"That form could not be used", "It did not come from a page of this session.", "Open the page again and repeat what you did.", "", ""},
		http.StatusNotFound:            {"There is nothing here", "No page has this address.", "", "", ""},
		http.StatusMethodNotAllowed:    {"That can't be done here", "The page doesn't take such a request.", "", "", ""},
		http.StatusInternalServerError: {"Something went wrong", "It has been written to the log. Nothing was decided.", "", "", ""},
	}
	v := &visit{w: w, r: r}
	page := said[status]
	if err := c.render(v, "failing", frame{Title: page.Heading, Page: page, Status: status}); err != nil {
		c.log.ErrorContext(r.Context(), "console", "error", err)
		http.Error(w, http.StatusText(status), status)
	}
}

// recoverPanic answers after a page has panicked.
func (c *Console) recoverPanic(w http.ResponseWriter, r *http.Request) {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler {
			panic(p)
		}
		c.log.ErrorContext(r.Context(), "panic in the console", "path", r.URL.Path, "error", problem.PanicError(p).Err)
		c.fail(w, r, http.StatusInternalServerError)
	}
}
