package mongodb_test

import (
	"context"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A revoker refreshes principals, but reports the agent's credential as revoked once its change is being applied.
type revoker struct {
	queue  *change.Queue
	change string
}

func (r *revoker) Refresh(ctx context.Context, p identity.Principal) (identity.Principal, error) {
	if p.Kind != identity.Agent || r.change == "" {
		return p, nil
	}
	c, err := r.queue.Get(ctx, r.change)
	if err == nil && c.State == change.Applying {
		err = problem.New(problem.Unauthorized, "the credential was revoked")
	}
	return p, err
}

// TestBarred executes a change that the rules no longer allow, and that an earlier executor may have begun to write.
// The record must decide the outcome. The outcome must be unknown if the record is in neither state.
func TestBarred(t *testing.T) {
	for name, tt := range map[string]struct {
		sums bson.D // the record that the earlier executor would have left, or nil if it had not begun
		want change.State
	}{
		"it had not begun":              {nil, change.Failed},
		"the record is as it leaves it": {bson.D{}, change.Applied},
		"the record shows neither":      {bson.D{{Key: "votes", Value: []byte{1}}}, change.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			ground := newGround(t, ferret)
			into, err := writable(t.Context(), ground.url, ferret)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { into.Close() })
			store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "bailiwick.db"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			queue := change.NewQueue(change.Options{Store: store})
			today := &revoker{queue: queue}
			g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": into}, Audit: store, History: store, Refresher: today,
				Rules: policy.Rules{Version: "v1", Unlisted: true, Gates: policy.Gates{Writes: policy.On, RawWrites: policy.On}}, Changes: queue})
			if err != nil {
				t.Fatal(err)
			}
			bot := identity.Principal{ID: "bot", Kind: identity.Agent, Owner: "ann", Scopes: []identity.Scope{identity.Read, identity.Write}}
			asks, err := write.Parse(readValue(t, `{"op":"update","class":"issues","id":"000000000000000000000001","data":{"votes":7}}`), "")
			if err != nil {
				t.Fatal(err)
			}
			var sheet *review.Sheet
			err = g.Do(t.Context(), bot, bailiwick.CallSpec{Tool: "update_object", Needs: identity.Write, Writes: policy.WriteRaw, Proposes: true}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
				sheet, err = c.Propose(ctx, write.Request{Tool: "update_object", Input: readValue(t, `{}`), Reason: "because", Writes: []write.Write{asks}})
				return 0, err
			})
			if err != nil || sheet.State != change.Pending {
				t.Fatalf("%v, %v", sheet, err)
			}
			if tt.sums != nil {
				expected, err := bson.Marshal(bson.D{{Key: "collection", Value: "issues"}, {Key: "key", Value: oid(1)}, {Key: "gone", Value: false}, {Key: "sums", Value: tt.sums}})
				if err != nil {
					t.Fatal(err)
				}
				begun := bson.D{{Key: "_id", Value: sheet.ID + "#0"}, {Key: "kind", Value: "begun"}, {Key: "fence", Value: int64(0)}, {Key: "digest", Value: sheet.Digest}, {Key: "writes", Value: expected}, {Key: "receipt", Value: `{"rows":1}`}}
				if _, err := ground.Collection("bailiwick_applied").InsertOne(t.Context(), begun); err != nil {
					t.Fatal(err)
				}
			}
			today.change = sheet.ID
			ben := identity.Principal{ID: "ben", Kind: identity.Human, Owner: "ben", Scopes: []identity.Scope{identity.Read, identity.Review}}
			decided, err := g.Reviewer(ben, "").Approve(t.Context(), sheet.ID, sheet.Digest, "")
			if err != nil || decided.State != tt.want {
				t.Errorf("%+v, %v; want %s", decided, err, tt.want)
			}
			var now struct{ Votes int }
			if err := ground.Collection("issues").FindOne(t.Context(), bson.D{{Key: "_id", Value: oid(1)}}).Decode(&now); err != nil || now.Votes != 1 {
				t.Errorf("the record has %d votes, %v", now.Votes, err)
			}
		})
	}
}
