package endtoend

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
)

// TestUnreadAnswer checks a write whose answer is too large. Its status decides the outcome. Reviewers and the agent
// must learn that the answer was not read.
func TestUnreadAnswer(t *testing.T) {
	for _, row := range []struct {
		status int
		want   change.State
		text   string
	}{
		{201, change.Applied, "The API answered with status 201. Its answer was not read, because it is larger than 8 MiB"},
		{409, change.Failed, "The API found a conflict: 409 Conflict. Nothing was written"},
		{500, change.Unknown, "The API failed after it had the request: it may have happened or not"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Location", "/items/letters/8")
			w.WriteHeader(row.status)
			fmt.Fprintf(w, `{"id":8,"title":"%s"}`, strings.Repeat("x", 9<<20))
		}))
		t.Cleanup(server.Close)
		d, err := spec.Load([]byte(letterAPI))
		if err != nil {
			t.Fatal(err)
		}
		sender, err := client.New(client.Options{Base: server.URL, Answers: givenBack(t)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sender.Close)
		o := newOffice(t, func(o *bailiwick.Options, _ *change.Options) {
			o.Sources["flow"] = openapi.New("flow", sender)
			o.Rules = policy.Rules{Version: "v1", APIs: map[string]calls.Rules{"flow": {Document: d}}, Gates: policy.Gates{Writes: policy.On}}
		})
		bot, ben := o.bot(), o.person("ben")
		s, err := o.call(bot, "makeLetter", `{"body": {"status": "sent"}}`)
		if err != nil {
			t.Fatal(err)
		}
		done, err := ben.Approve(t.Context(), s.ID, s.Digest, "")
		if err != nil || done.State != row.want || !strings.Contains(review.Text(done), row.text) {
			t.Errorf("%d: %s, a reviewer reads %s %v", row.status, done.State, review.Text(done), err)
		}
		err = o.gateway.Do(t.Context(), bot, bailiwick.CallSpec{Tool: "get_change", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
			own, err := c.Change(ctx, s.ID)
			if err == nil && !strings.Contains(review.Text(own), row.text) {
				t.Errorf("%d: the agent reads %s", row.status, review.Text(own))
			}
			return 0, err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
