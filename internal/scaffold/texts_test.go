package scaffold

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestNames checks which names become pseudonyms. Only the name of the person that the record is about may become
// one, and the key must identify that person.
func TestNames(t *testing.T) {
	two := table("members", "id:int", "org:int", "full_name:text")
	two.Key = []string{"org", "id"}
	keyless := table("guests", "id:int", "last_name:text")
	keyless.Key = nil
	denied := table("patients", "internal_no:text", "full_name:text")
	for _, tt := range []struct {
		class schema.Class
		want  string
	}{
		{table("customers", "id:int", "first_name:text", "last_name:text"), "{first_name: pseudonym, last_name: pseudonym}"},
		{table("actor", "actor_id:int", "first_name:text"), "{first_name: pseudonym}"},
		{table("suppliers", "id:int", "contact_name:text"), "{contact_name: pseudonym}"},
		{table("customer_orders", "id:int", "customer_name:text"), "{customer_name: partial}"},
		{table("addresses", "id:int", "first_name:text"), "{first_name: partial}"},
		{table("policies", "id:int", "customer_id:int", "customer_name:text"), "{customer_name: partial}"},
		{two, "{full_name: partial}"},
		{keyless, "{last_name: null}"},
		{denied, "{full_name: null}"},
	} {
		if got := rules(t, tt.class); !strings.Contains(got, "mask: "+tt.want) {
			t.Errorf("%s: %s, want %s", tt.class.Name, got, tt.want)
		}
	}
}

// TestTexts checks which texts get a mask for their contents. These are texts whose values contain personal data, and
// texts of tickets, notes and messages without samples. A comment must list the other texts.
func TestTexts(t *testing.T) {
	const usual = "{pattern: [email, phone, iban, card]}"
	said := []string{"Please call me back at +49 171 1234567 before noon", "thanks a lot for the quick help yesterday", "write to ada@example.com if anything is unclear"}
	calm := []string{"the parcel was late again this week", "a cup that is made of clay and of wood"}
	for name, tt := range map[string]struct {
		class, field string
		values       []string
		want, not    string
	}{
		"found":                  {"tickets", "body:text", said, "    mask: {body: " + usual + "}\n", "# mask"},
		"another name":           {"parts", "q7:text", said, "    mask: {q7: " + usual + "}\n", "# mask"},
		"a patterns of its own":  {"parts", "remark:text", []string{"my number is 123-45-6789, as it was before", "x"}, "mask: {remark: {pattern: [email, phone, iban, card, ssn]}}", "# mask"},
		"one of several lines":   {"parts", "sender:text", []string{"Ada <ada@example.com>", "Bob", "Cleo", "Dora"}, "mask: {sender: " + usual + "}", "# mask"},
		"not found":              {"tickets", "body:text", calm, "    # mask: {body: " + usual + "}   # free text: none of 2 sampled values has such data\n", "    mask:"},
		"nothing seen":           {"ticket_comments", "body:text", nil, "texts of people, and no value could be looked at.\n    mask: {body: " + usual + "}\n", "# mask"},
		"nothing seen elsewhere": {"products", "description:text", nil, "    # mask: {description: " + usual + "}   # free text: no value could be looked at\n", "    mask:"},
		"what describes tickets": {"ticket_types", "description:text", nil, "    # mask: {description", "    mask:"},
		"another language":       {"nachrichten", "inhalt_text:text", nil, "    mask: {inhalt_text: " + usual + "}\n", "# mask"},
		"no text":                {"tickets", "state:text", nil, "app.tickets: {}", "mask"},
		"an address of a file":   {"files", "path:text", []string{"img/logo@2x.png", "img/b.png", "img/c.png"}, "app.files: {}", "mask"},
		"JSON":                   {"parts", "extra:json", []string{`{"by": "ada@example.com"}`}, "mask: {extra: " + usual + "}", "# mask"},
		"numbers in JSON":        {"parts", "extra:json", []string{`{"at": "0171 1234567"}`}, "app.parts: {}", "mask"},
	} {
		field, _, _ := strings.Cut(tt.field, ":")
		tally := samples.Tally{Personal: true}
		for _, v := range tt.values {
			tally.Add(value.OfString(v))
		}
		e := Evidence{Fields: map[string]samples.Seen{"app." + tt.class + "." + field: tally.Counts()}}
		class := table(tt.class, "id:int", tt.field)
		d, err := Of(Source{Name: "app", URL: "sqlite:app.db"}, []schema.Class{class}, e, Answers{})
		if err != nil {
			t.Fatal(name, err)
		}
		_, rule, _ := strings.Cut(d.Text, "classes:\n")
		if !strings.Contains(rule, tt.want) || strings.Contains(rule, tt.not) {
			t.Errorf("%s:\n%s", name, rule)
		}
		class.Key = nil
		if d, err = Of(Source{Name: "app", URL: "sqlite:app.db"}, []schema.Class{class}, e, Answers{}); err != nil || strings.Contains(d.Text, "pattern") {
			t.Errorf("%s without a key: %v\n%s", name, err, d.Text)
		}
		if d, err = Of(Source{Name: "app", URL: "sqlite:app.db"}, []schema.Class{class}, e, Answers{Personal: Show}); err != nil || strings.Contains(d.Text, "mask") {
			t.Errorf("%s, all shown: %v\n%s", name, err, d.Text)
		}
	}
}
