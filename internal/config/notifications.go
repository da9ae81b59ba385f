package config

import (
	"net/url"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Notifications configures notifications about changes.
type Notifications struct {
	URL   string // of this server as people know it, for links; "" is the address that it listens on
	Hooks []webhook.Hook
}

// mostAttempts is the maximum number of attempts of a delivery; they take three days.
const mostAttempts = 80

func (c *Config) notifications() yamlconf.Shape {
	var known []string
	for _, e := range webhook.Known() {
		known = append(known, string(e))
	}
	hooks := yamlconf.Each(yamlconf.Table{Names: "webhook", Check: sourceName, Of: func(name string) (yamlconf.Shape, func()) {
		h := webhook.Hook{Name: name}
		var events []string
		var signs bool
		keys := []yamlconf.Key{
			{Name: "url", Doc: "Where it is sent, by POST: https://…, or http://… with private. Redirects are not followed", Must: true, Shape: yamlconf.Secret("a URL", func(_, s string) string {
				h.URL = s
				return webhookURL(s)
			})},
			{Name: "secret", Doc: "Signs what is sent, by standardwebhooks.com: whsec_ and base64, or a text of at least 24 bytes", Shape: yamlconf.Secret("a secret", func(_, s string) string {
				signs = true
				var err error
				if h.Secret, err = webhook.Secret(strings.TrimSpace(s)); err != nil {
					return err.Error()
				}
				return ""
			})},
			{Name: "events", Doc: "The events that it receives. Without it created, approved, rejected, applied, failed, stale, unknown, expired and commented", Shape: yamlconf.List(&events, "events", func(s string) string {
				if slices.Contains(known, s) {
					return ""
				}
				return "must be " + yamlconf.AnyOf(known) + problem.DidYouMean(problem.Nearest(s, known, 1))
			})},
			{Name: "format", Doc: "webhook (the default): JSON for programs; slack: a line with a link, for Slack and what is compatible", Shape: yamlconf.OneOf(&h.Form, webhook.Webhook, webhook.Slack)},
			{Name: "private", Doc: "true allows addresses of private networks and of this machine, and http", Shape: yamlconf.Flag(&h.Private)},
			{Name: "attempts", Doc: "How often it is tried until the delivery is dead. Default 12, which takes two to three hours", Shape: yamlconf.Count(&h.Attempts, 1, mostAttempts)},
		}
		check := func(r *yamlconf.Reader, _ yamlconf.Node, at string) {
			if strings.HasPrefix(h.URL, "http:") && !h.Private {
				r.WrongAt(at+"/url", "http is not encrypted; use https, or set private: true for a network of your own")
			}
			if !signs && h.Form != webhook.Slack && h.URL != "" {
				r.WrongAt(at, "needs a secret, so that the receiver knows who sends")
			}
		}
		return yamlconf.Object(keys, check), func() {
			h.Events = nil
			for _, e := range webhook.Known() {
				for _, name := range events {
					if name == string(e) {
						h.Events = append(h.Events, e)
					}
				}
			}
			c.Notifications.Hooks = append(c.Notifications.Hooks, h)
		}
	}})
	return yamlconf.Object([]yamlconf.Key{
		{Name: "url", Doc: "This server as people know it: https://gate.example. Links in notifications begin with it. Default server.url, else the address that it listens on", Shape: yamlconf.Text("a URL", func(s string) string {
			c.Notifications.URL = strings.TrimSuffix(s, "/")
			return webhookURL(s)
		})},
		{Name: "webhooks", Doc: "Those who are notified, each by a name of yours", Must: true, Shape: hooks},
	}, nil)
}

// webhookURL returns why a URL of another system is invalid, or "". It doesn't repeat the URL, which may contain a
// secret.
func webhookURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return "must be a URL such as https://hooks.example/bailiwick, without user and password"
	}
	return ""
}
