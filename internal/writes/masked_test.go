package writes_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestTextsWithMasks checks a text field whose mask hides parts of the text. A new record may set the field to a text
// without the markers of the mask. An existing record may not set it.
func TestTextsWithMasks(t *testing.T) {
	inside := []policy.Pattern{"email", "phone"}
	p, err := policy.New(policy.Rules{Version: "v", Gates: policy.Gates{Writes: policy.Review, RawWrites: policy.Review}, Classes: map[string]policy.ClassRule{"notes": {
		Mask: map[string]policy.Mask{"text": policy.Inside, "doc": policy.Inside, "by": policy.Pseudonym}, MaskInside: map[string][]policy.Pattern{"text": inside, "doc": inside}}}},
		[]schema.Class{{Source: "app", Name: "notes", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "text", Type: schema.String, Required: true}, {Name: "doc", Type: schema.JSON}, {Name: "by", Type: schema.String}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ asked, action, want string }{
		{`{"op": "create", "class": "notes", "data": {"text": "Call ada@example.com"}}`, "", `app create notes text="Call ada@example.com"`},
		{`{"op": "create", "class": "notes", "data": {"text": "x", "doc": {"a": ["[sms]"]}}}`, "", `app create notes text="x" doc={"a":["[sms]"]}`},
		{`{"op": "create", "class": "notes", "data": {}}`, "", `invalid_argument /data/text: the field "text" is missing`},
		{`{"op": "create", "class": "notes", "data": {"text": "Call [phone] now"}}`, "", `invalid_argument /data/text: text has [phone] in it, which stands for what a mask hides and would be kept as a text`},
		{`{"op": "create", "class": "notes", "data": {"text": "x", "doc": {"a": ["to [email]"]}}}`, "", `invalid_argument /data/doc: doc has [email] in it, which stands for what a mask hides and would be kept as a text`},
		{`{"op": "create", "class": "notes", "data": {"text": "x", "by": "Ada"}}`, "", `permission_denied /data/by: by is masked: who doesn't see it whole can't set it`},
		{`{"op": "update", "class": "notes", "id": "1", "data": {"text": "x"}}`, "", `permission_denied /data/text: text is masked: who doesn't see it whole can set it only in a new record`},
		{`{"op": "create", "class": "notes", "data": {"text": "x"}}`, writes.Revert, `permission_denied /data/text: text is masked: who doesn't see it whole can set it only in a new record`},
	} {
		if got := outcome(writes.Propose(t.Context(), p, principal, write.Request{Writes: parsed(t, tt.asked), Origin: write.Origin{Action: tt.action}})); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.asked, got, tt.want)
		}
	}
}
