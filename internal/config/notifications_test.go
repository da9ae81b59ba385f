package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
)

func TestNotifications(t *testing.T) {
	const src = "sources: {s: {url: sqlite:x}}\nnotifications: "
	const secret = "a secret of twenty-four bytes"
	schema, _ := compiled(t)
	one := func(h webhook.Hook) config.Notifications { return config.Notifications{Hooks: []webhook.Hook{h}} }
	for _, tt := range []struct {
		text string
		want config.Notifications
		err  string // the first line, after the position, or ""
	}{
		{text: "{url: https://gate.example/, webhooks: {ops: {url: https://h.example/x, secret: " + secret + ", events: [rejected, created], attempts: 3}}}",
			want: config.Notifications{URL: "https://gate.example", Hooks: []webhook.Hook{{Name: "ops", URL: "https://h.example/x", Secret: []byte(secret), Attempts: 3,
				Events: []change.EventKind{change.EventCreated, change.EventRejected}}}}},
		{text: "{webhooks: {chat: {url: https://hooks.slack.com/services/x, format: slack}}}", want: one(webhook.Hook{Name: "chat", URL: "https://hooks.slack.com/services/x", Form: webhook.Slack})},
		{text: "{webhooks: {ops: {url: 'http://10.0.0.1:8080', private: true, secret: " + secret + "}}}",
			want: one(webhook.Hook{Name: "ops", URL: "http://10.0.0.1:8080", Private: true, Secret: []byte(secret)})},
		{text: "{webhooks: {ops: {url: http://h.example, secret: " + secret + "}}}", err: "notifications.webhooks.ops.url: http is not encrypted. Use https, or set private: true for a network of your own"},
		{text: "{webhooks: {ops: {url: https://h.example}}}", err: "notifications.webhooks.ops: needs a secret, so that the receiver knows who sends"},
		{text: "{webhooks: {ops: {url: https://h.example, secret: short}}}", err: "notifications.webhooks.ops.secret: must be 24 bytes long at least"},
		{text: "{webhooks: {ops: {url: https://u:swordfish@h.example, secret: " + secret + "}}}",
			err: "notifications.webhooks.ops.url: must be a URL such as https://hooks.example/bailiwick, without user and password"},
		{text: "{webhooks: {ops: {url: https://h.example, secret: " + secret + ", events: [aproved]}}}",
			err: "notifications.webhooks.ops.events.0: must be created, approved, rejected, applied, failed, stale, unknown, expired, commented, changes_requested, answered, withheld, decided, cancelled, previewed, settled or replaced. Did you mean approved?"},
		{text: "{webhooks: {ops: {secret: " + secret + "}}}", err: "notifications.webhooks.ops: needs the key url"},
		{text: "{webhooks: {ops: {ur: x}}}", err: `notifications.webhooks.ops: needs the key url`},
		{text: "{webhooks: {}}", err: "notifications.webhooks: is empty. Name a webhook or leave it out"},
		{text: "{}", err: "notifications: needs the key webhooks or mail"},
		{text: "{webhooks: {chat: {url: https://hooks.slack.com/x, format: slack, secret: " + secret + ", as: ben, tenant: acme, people: {U1: ben}, quiet: '22:00-07:00', zone: Europe/Berlin}}}",
			want: one(webhook.Hook{Name: "chat", URL: "https://hooks.slack.com/x", Form: webhook.Slack, Secret: []byte(secret), Tenant: "acme", As: webhook.Person{Owner: "ben", Tenant: "acme"},
				People: map[string]webhook.Person{"U1": {Owner: "ben", Tenant: "acme"}}, Quiet: &webhook.Quiet{From: 22 * 60, To: 7 * 60, Zone: "Europe/Berlin"}})},
		{text: "{mail: {server: 'smtp://mail.example', from: Gate <gate@example.com>, user: u, password: p, to: {ana: {address: ana@example.com, digest: 1h}}}}",
			want: config.Notifications{Mail: webhook.MailServer{Host: "mail.example", Port: 587, User: "u", Password: "p", From: "Gate <gate@example.com>"},
				Hooks: []webhook.Hook{{Name: "ana", Form: webhook.Email, To: "ana@example.com", Digest: time.Hour}}}},
		{text: "{mail: {server: 'smtps://u:p@mail.example', from: g@example.com, to: {ana: {address: a@example.com}}}}",
			err: "notifications.mail.server: must be such as smtps://mail.example:465, or smtp://mail.example:587 for STARTTLS, without user and password"},
		{text: "{mail: {server: 'smtps://mail.example', from: nobody, to: {ana: {address: a@example.com}}}}", err: "notifications.mail.from: must be an e-mail address, such as ana@example.com"},
		{text: "{webhooks: {ops: {url: https://h.example, secret: " + secret + ", people: {U1: ben}}}}", err: "notifications.webhooks.ops.people: needs the key as beside it: what isn't shown can't be decided about"},
		{text: "{webhooks: {ops: {url: https://h.example, format: slack, as: ben, people: {U1: ben}}}}", err: "notifications.webhooks.ops.people: needs a secret beside it, which signs the answers"},
		{text: "{webhooks: {ops: {url: https://h.example, secret: " + secret + ", quiet: '7:00-22:00'}}}", err: "notifications.webhooks.ops.quiet: must be hours such as 22:00-07:00"},
		{text: "{webhooks: {ops: {url: https://h.example, secret: " + secret + ", zone: Mars}}}", err: "notifications.webhooks.ops.zone: must be a time zone such as Europe/Berlin"},
	} {
		c, err := config.Parse("f.yaml", []byte(src+tt.text+"\n"), env)
		if err == nil {
			if diff := cmp.Diff(tt.want, c.Notifications); diff != "" || tt.err != "" {
				t.Errorf("%s: want %q %s", tt.text, tt.err, diff)
			}
		} else if _, after, _ := strings.Cut(strings.SplitN(err.Error(), "\n", 2)[0], ": "); tt.err == "" || after != tt.err {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.text, after, tt.err)
		}
		if strings.Contains(tt.text, "swordfish") && err != nil && strings.Contains(err.Error(), "secret of twenty") {
			t.Error("the secret is shown:", err)
		}
		if err := schema.Validate(document(t, src+tt.text)); err != nil && tt.err == "" {
			t.Errorf("%s: the schema says %v", tt.text, err)
		}
	}
}
