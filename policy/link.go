package policy

import (
	"net/url"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
)

// parseLink parses the address of a record in its application. The host can't depend on a record, because a value
// of a record would then decide where a reviewer goes.
func (c *class) parseLink(fail func(string, ...any)) {
	if c.rule.Link == "" {
		return
	}
	const form = ". Write it as https://app.example.com/issues/{id}"
	fixed, _, _ := strings.Cut(c.rule.Link, "{")
	u, err := url.Parse(fixed)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http":
		fail("link: %q is not an address of http or https%s", c.rule.Link, form)
		return
	case u.Host == "" || u.User != nil || !strings.Contains(fixed[len(u.Scheme)+len("://"):], "/"):
		fail("link: %q needs a host and a path before the first field%s", c.rule.Link, form)
		return
	}
	c.link = c.parseName(c.rule.Link, func(format string, args ...any) { fail("link: "+format, args...) })
}

// Link returns the parts of the address of a record in its application. It returns nil if there is none, or if the
// principal doesn't see one of its fields whole.
func (v *View) Link() []plan.NamePart { return v.whole(v.class.link) }
