package config

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Notifications configures notifications about changes.
type Notifications struct {
	URL   string // the public URL of this server, for links. "" means the address on which it listens
	Hooks []webhook.Hook
	Mail  webhook.MailServer
}

// mostAttempts is the maximum number of attempts of a delivery. With the waits between them, these last about three
// days.
const mostAttempts = 80

// notifications returns the shape of notifications about changes. At least one webhook or e-mail recipient must be
// given. A mail server without TLS requires mail.private, because a password would be sent unencrypted.
func (c *Config) notifications() yamlconf.Shape {
	n := &c.Notifications
	return yamlconf.Object([]yamlconf.Key{
		{Name: "url", Doc: "This server as people know it: https://gate.example. Links in notifications begin with it. Default server.url, else the address that it listens on", Shape: yamlconf.Text("a URL", func(s string) string {
			n.URL = strings.TrimSuffix(s, "/")
			return webhookURL(s)
		})},
		{Name: "webhooks", Doc: "What is notified by HTTP, each by a name of yours", Shape: c.hooks("webhook", c.webhook)},
		{Name: "mail", Doc: "E-mail, by SMTP", Shape: yamlconf.Object([]yamlconf.Key{
			{Name: "server", Doc: "smtps://mail.example:465, or smtp://mail.example:587 for STARTTLS", Must: true, Shape: yamlconf.Text("a server", wrong(n.Mail.Parse))},
			{Name: "user", Doc: "The account there. Without it no password is sent", Shape: yamlconf.Words(&n.Mail.User)},
			{Name: "password", Doc: "Its password", Shape: yamlconf.Secret("a password", func(_, s string) string { n.Mail.Password = s; return "" })},
			{Name: "from", Doc: "The address that it comes from", Must: true, Shape: yamlconf.Text("an e-mail address", func(s string) string { n.Mail.From = s; return webhook.MailAddress(s) })},
			{Name: "private", Doc: "true allows a server without TLS, for a network of your own", Shape: yamlconf.Flag(&n.Mail.Private)},
			{Name: "to", Doc: "Those who get it, each by a name of yours", Must: true, Shape: c.hooks("recipient", letters)},
		}, nil)},
	}, func(r *yamlconf.Reader, _ yamlconf.Node, at string) {
		if !r.HasAt(at+"/webhooks") && !r.HasAt(at+"/mail") {
			r.WrongAt(at, "needs the key webhooks or mail")
		}
	})
}

// wrong converts the error of take to a text.
func wrong(take func(string) error) func(string) string {
	return func(s string) string {
		if err := take(s); err != nil {
			return err.Error()
		}
		return ""
	}
}

// hooks returns the shape of hooks by name. The function of returns the keys that only this kind of hook has, and a
// check of the hook.
func (c *Config) hooks(names string, of func(h *webhook.Hook) ([]yamlconf.Key, func(*yamlconf.Reader, yamlconf.Node, string))) yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: names, Check: sourceName, Of: func(name string) (yamlconf.Shape, func()) {
		h := webhook.Hook{Name: name}
		var events []string
		var quiet webhook.Quiet
		keys, check := of(&h)
		keys = append(keys, c.hookKeys(&h, &quiet, &events)...)
		return yamlconf.Object(keys, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
				check(r, n, at)
				if slices.ContainsFunc(c.Notifications.Hooks, func(o webhook.Hook) bool { return o.Name == name }) {
					r.WrongAt(at, "has the name of another notification")
				}
				if quiet.Zone != "" && quiet.From == quiet.To {
					r.WrongAt(at+"/zone", "is that of quiet, which isn't set")
				}
				if len(h.People) > 0 && h.As.Owner == "" {
					r.WrongAt(at+"/people", "needs the key as beside it: what isn't shown can't be decided about")
				}
			}), func() {
				for _, e := range webhook.AllEvents() {
					if slices.Contains(events, string(e)) {
						h.Events = append(h.Events, e)
					}
				}
				if quiet.From != quiet.To {
					h.Quiet = &quiet
				}
				h.As.Tenant = h.Tenant
				for account, p := range h.People {
					p.Tenant = h.Tenant
					h.People[account] = p
				}
				c.Notifications.Hooks = append(c.Notifications.Hooks, h)
			}
	}})
}

// hookKeys returns the keys that all hooks have.
func (c *Config) hookKeys(h *webhook.Hook, quiet *webhook.Quiet, events *[]string) []yamlconf.Key {
	var known []string
	for _, e := range webhook.AllEvents() {
		known = append(known, string(e))
	}
	return []yamlconf.Key{
		{Name: "events", Doc: "The events that it receives. Without it created, approved, rejected, applied, failed, stale, unknown, expired, commented, changes_requested, answered and withheld (a field is hidden because of its values)", Shape: yamlconf.List(events, "events", func(s string) string {
			if slices.Contains(known, s) {
				return ""
			}
			return "must be " + yamlconf.AnyOf(known) + problem.DidYouMean(problem.Nearest(s, known, 1))
		})},
		{Name: "when", Doc: "Of which changes: an expression as in review.when. Breaking the glass is always sent", Shape: c.condition(&h.When)},
		{Name: "tenant", Doc: "Of which tenant. Without it of all", Shape: yamlconf.Words(&h.Tenant)},
		{Name: "as", Doc: "The person, invited or signed in, whose view of the change is shown: its title, three lines of the difference, and what the agent says. Without it none of these is sent", Shape: yamlconf.Words(&h.As.Owner)},
		{Name: "quiet", Doc: "Hours of the day in which nothing is sent but breaking the glass: 22:00-07:00", Shape: yamlconf.Text("hours", wrong(func(s string) error {
			hours, err := webhook.ParseQuiet(s)
			quiet.From, quiet.To = hours.From, hours.To
			return err
		}))},
		{Name: "zone", Doc: "The time zone of quiet: Europe/Berlin. Default UTC", Shape: yamlconf.Text("a time zone", func(s string) string {
			if _, err := time.LoadLocation(s); err != nil || s == "Local" {
				return "must be a time zone such as Europe/Berlin"
			}
			quiet.Zone = s
			return ""
		})},
		{Name: "attempts", Doc: "How often it is tried until the delivery is dead. Default 12, which takes two to three hours", Shape: yamlconf.Count(&h.Attempts, 1, mostAttempts)},
	}
}

// webhook returns the keys of a webhook.
func (c *Config) webhook(h *webhook.Hook) ([]yamlconf.Key, func(*yamlconf.Reader, yamlconf.Node, string)) {
	var signs bool
	keys := []yamlconf.Key{
		{Name: "url", Doc: "Where it is sent, by POST: https://…, or http://… with private. Redirects are not followed", Must: true, Shape: yamlconf.Secret("a URL", func(_, s string) string {
			h.URL = s
			return webhookURL(s)
		})},
		{Name: "secret", Doc: "Signs what is sent, by standardwebhooks.com: whsec_ and base64, or a text of at least 24 bytes. Of slack: the signing secret of the app, with which it signs the answers of people", Shape: yamlconf.Secret("a secret", func(_, s string) string {
			signs = true
			var err error
			if h.Secret, err = webhook.Secret(strings.TrimSpace(s)); err != nil {
				return err.Error()
			}
			return ""
		})},
		{Name: "format", Doc: "webhook (the default): JSON for programs. slack: a message for Slack, and a line with a link for what is compatible", Shape: yamlconf.OneOf(&h.Form, webhook.Webhook, webhook.Slack)},
		{Name: "people", Doc: "Who decides there: by their account in that system, such as U012AB3CD, people who were invited or have signed in here", Shape: yamlconf.Each(yamlconf.Table{Names: "account", Of: func(account string) (yamlconf.Shape, func()) {
			var person string
			return yamlconf.Words(&person), func() {
				if h.People == nil {
					h.People = map[string]webhook.Person{}
				}
				h.People[account] = webhook.Person{Owner: person}
			}
		}})},
		{Name: "private", Doc: "true allows addresses of private networks and of this machine, and http", Shape: yamlconf.Flag(&h.Private)},
	}
	return keys, func(r *yamlconf.Reader, _ yamlconf.Node, at string) {
		if strings.HasPrefix(h.URL, "http:") && !h.Private {
			r.WrongAt(at+"/url", "http is not encrypted. Use https, or set private: true for a network of your own")
		}
		if !signs && h.Form != webhook.Slack && h.URL != "" {
			r.WrongAt(at, "needs a secret, so that the receiver knows who sends")
		}
		if !signs && len(h.People) > 0 {
			r.WrongAt(at+"/people", "needs a secret beside it, which signs the answers")
		}
	}
}

// letters returns the keys of a recipient of e-mail.
func letters(h *webhook.Hook) ([]yamlconf.Key, func(*yamlconf.Reader, yamlconf.Node, string)) {
	h.Form = webhook.Email
	return []yamlconf.Key{
		{Name: "address", Doc: "The e-mail address", Must: true, Shape: yamlconf.Text("an e-mail address", func(s string) string { h.To = s; return webhook.MailAddress(s) })},
		{Name: "digest", Doc: "One letter in this time, about all that happened in it: 1h. Without it one each", Shape: yamlconf.Span(&h.Digest, time.Minute, 24*time.Hour)},
	}, func(*yamlconf.Reader, yamlconf.Node, string) {}
}

// webhookURL returns the reason why a webhook URL is invalid, or "". The reason doesn't repeat the URL, which may
// contain a secret.
func webhookURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return "must be a URL such as https://hooks.example/bailiwick, without user and password"
	}
	return ""
}
