package app

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// TestLink checks the links that agents get. They lead to the public URL of this server.
func TestLink(t *testing.T) {
	for _, c := range []struct{ notifications, server, want string }{
		{"https://review.example", "https://gate.example", "https://review.example/console/changes/01"},
		{"", "https://gate.example", "https://gate.example/console/changes/01"},
		{"", "", "http://127.0.0.1:8420/console/changes/01"},
	} {
		p := &App{Address: "http://127.0.0.1:8420"}
		in := &config.Config{}
		in.Notifications.URL, in.Server.URL = c.notifications, c.server
		p.Config = in
		if got := p.link("01"); got != c.want {
			t.Errorf("link is %s, want %s", got, c.want)
		}
	}
}

// TestDoorStreams checks that the number of event streams reaches the transport.
func TestDoorStreams(t *testing.T) {
	in := &config.Config{}
	in.Server.Streams = 3000
	if got := (&App{Config: in}).Door().Streams; got != 3000 {
		t.Errorf("%d streams, want 3000", got)
	}
}
