package config_test

import (
	"strings"
	"testing"

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
		err  string // the first line, after the position; "" for none
	}{
		{text: "{url: https://gate.example/, webhooks: {ops: {url: https://h.example/x, secret: " + secret + ", events: [rejected, created], attempts: 3}}}",
			want: config.Notifications{URL: "https://gate.example", Hooks: []webhook.Hook{{Name: "ops", URL: "https://h.example/x", Secret: []byte(secret), Attempts: 3,
				Events: []change.EventKind{change.EventCreated, change.EventRejected}}}}},
		{text: "{webhooks: {chat: {url: https://hooks.slack.com/services/x, format: slack}}}", want: one(webhook.Hook{Name: "chat", URL: "https://hooks.slack.com/services/x", Form: webhook.Slack})},
		{text: "{webhooks: {ops: {url: 'http://10.0.0.1:8080', private: true, secret: " + secret + "}}}",
			want: one(webhook.Hook{Name: "ops", URL: "http://10.0.0.1:8080", Private: true, Secret: []byte(secret)})},
		{text: "{webhooks: {ops: {url: http://h.example, secret: " + secret + "}}}", err: "notifications.webhooks.ops.url: http is not encrypted; use https, or set private: true for a network of your own"},
		{text: "{webhooks: {ops: {url: https://h.example}}}", err: "notifications.webhooks.ops: needs a secret, so that the receiver knows who sends"},
		{text: "{webhooks: {ops: {url: https://h.example, secret: short}}}", err: "notifications.webhooks.ops.secret: must be 24 bytes long at least"},
		{text: "{webhooks: {ops: {url: https://u:swordfish@h.example, secret: " + secret + "}}}",
			err: "notifications.webhooks.ops.url: must be a URL such as https://hooks.example/bailiwick, without user and password"},
		{text: "{webhooks: {ops: {url: https://h.example, secret: " + secret + ", events: [aproved]}}}",
			err: "notifications.webhooks.ops.events.0: must be created, approved, rejected, applied, failed, stale, unknown, expired, commented, changes_requested, answered, decided, cancelled, previewed, settled or replaced; did you mean approved?"},
		{text: "{webhooks: {ops: {secret: " + secret + "}}}", err: "notifications.webhooks.ops: needs the key url"},
		{text: "{webhooks: {ops: {ur: x}}}", err: `notifications.webhooks.ops: needs the key url`},
		{text: "{webhooks: {}}", err: "notifications.webhooks: is empty; name a webhook or leave it out"},
		{text: "{}", err: "notifications: needs the key webhooks"},
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
