package plan

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/value"
)

// insideAll returns the function that replaces the matches of all patterns.
func insideAll(t *testing.T) func(value.Value) value.Value {
	t.Helper()
	apply, err := Mask{Kind: MaskInside, Field: "f", Patterns: AllPatterns()}.Under(MaskKey{})
	if err != nil {
		t.Fatal(err)
	}
	return apply
}

// TestPatterns checks the masked forms of texts with personal data, and that other numbers stay.
func TestPatterns(t *testing.T) {
	apply := insideAll(t)
	for _, tt := range []struct{ in, out string }{
		{"", ""},
		{"nothing here", "nothing here"},
		// e-mail addresses
		{"Please write to john.doe@example.com.", "Please write to [email]."},
		{"<john+tag@mail.example.co.uk>, ann@ex.com", "<[email]>, [email]"},
		{"mailto:ann_b@example.org?subject=x", "mailto:[email]?subject=x"},
		{"øyvind@blåbær.no ann@xn--bcher-kva.example", "[email] [email]"},
		{"https://x.test/?u=john%40example.com&n=1", "https://x.test/?[email]&n=1"},
		{"https://u:pw@host.example.com/", "https://u:[email]/"},
		{"john&#64;example.com john&commat;example.com", "[email] [email]"},
		{`{"to":"john\u0040example.com"}`, `{"to":"[email]"}`},
		{"john [at] example.com, ann(at)example.org", "[email], [email]"},
		{`"john doe"@example.com`, "[email]"},
		{"ann@[192.0.2.1] bob@192.0.2.7", "[email] [email]"},
		{"ann＠example.com", "[email]"},
		{"a@b @ann ann@ ann@localhost x@y..z", "a@b @ann ann@ ann@localhost x@y..z"},
		{"JOHN@EXAMPLE.COM\nnext", "[email]\nnext"},
		// cards
		{"card 4111111111111111 was charged", "card [card] was charged"},
		{"4111 1111 1111 1111", "[card]"},
		{"4111-1111-1111-1111 exp 12/27", "[card] exp 12/27"},
		{"4111 1111 1111 1111 12/27 123", "[card] 12/27 123"},
		{"3782 822463 10005, 378282246310005", "[card], [card]"},
		{"5555.5555.5555.4444", "[card]"},
		{"4111\u00a01111\u00a01111\u00a01111", "[card]"},
		{"4111 - 1111 - 1111 - 1111", "[card]"},
		{"card:4111111111111111;x4111111111111111", "card:[card];x[card]"},
		{"order 4111111111111112, 1234567890123456", "order 4111111111111112, 1234567890123456"},
		{"4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"},
		// bank accounts
		{"pay to DE89 3704 0044 0532 0130 00 today", "pay to [iban] today"},
		{"DE89370400440532013000 GB82WEST12345698765432", "[iban] [iban]"},
		{"gb82 west 1234 5698 7654 32", "[iban]"},
		{"IBAN:NO9386011117947.", "IBAN:[iban]."},
		{"DE89-3704-0044-0532-0130-00", "[iban]"},
		{"DE88370400440532013000", "DE88370400440532013000"},
		{"XX89370400440532013000", "XX89370400440532013000"},
		// addresses of machines
		{"from 192.168.100.200:443", "from [ip]:443"},
		{"2001:db8::1 and [fe80::1%eth0] and ::ffff:192.0.2.1", "[ip] and [[ip]%eth0] and [ip]"},
		{"2001:0db8:0000:0000:0000:ff00:0042:8329/64.", "[ip]/64."},
		{"at 10:20:30, std::string, a::b, 300.1.1.1, 1.2.3", "at 10:20:30, std::string, a::b, 300.1.1.1, 1.2.3"},
		// social security numbers
		{"SSN 078-05-1120.", "SSN [ssn]."},
		{"000-12-3456 666-12-3456 912-12-3456", "000-12-3456 666-12-3456 912-12-3456"},
		// telephone numbers
		{"+49 171 1234567", "[phone]"},
		{"call +1 (555) 234-5678 or (555) 234-5678", "call [phone] or [phone]"},
		{"555-234-5678, 1-800-555-0199, 555.234.5678", "[phone], [phone], [phone]"},
		{"0171 1234567; 030/12345678; (030) 123 456 78; 01711234567", "[phone]; [phone]; [phone]; [phone]"},
		{"06 12 34 56 78 and 0049 171 1234567", "[phone] and [phone]"},
		{"Tel.: 612 345 678, phone 5551234567", "Tel.: [phone], phone [phone]"},
		{"tel:+390612345678 tel:5552345", "tel:[phone] tel:[phone]"},
		{"+390612345678", "[phone]"},
		{"wa.me/491711234567", "wa.me/491711234567"},
		{"my mobile number is 7911 123456", "my mobile number is [phone]"},
		{"+49‑171‑1234567 +49–171–1234567", "[phone] [phone]"},
		// numbers that aren't personal data
		{"order 1002003004, #0123456789, ORD-0123456789, INV-2026-0001234", "order 1002003004, #0123456789, ORD-0123456789, INV-2026-0001234"},
		{"on 2026-11-29 10:20:30 and 01.02.2026 10:30, 29/11/2026 0:15", "on 2026-11-29 10:20:30 and 01.02.2026 10:30, 29/11/2026 0:15"},
		{"0.123456789 and 12.50 EUR and 1 234 567", "0.123456789 and 12.50 EUR and 1 234 567"},
		{"550e8400-e29b-41d4-a716-046655440000", "550e8400-e29b-41d4-a716-046655440000"},
		{"000000012345 1700000000 1700000000000 9780306406157", "000000012345 1700000000 1700000000000 9780306406157"},
		{"a1b2c3d4e5f60718293a4b5c6d7e8f9001122334", "a1b2c3d4e5f60718293a4b5c6d7e8f9001122334"},
	} {
		if got := apply(value.OfString(tt.in)); got.Text() != tt.out || got.Kind() != value.String {
			t.Errorf("%q\n got %q\nwant %q", tt.in, got.Text(), tt.out)
		}
	}
}

// TestPatternsInside checks JSON, numbers and values that contain no text.
func TestPatternsInside(t *testing.T) {
	apply := insideAll(t)
	for _, tt := range []struct{ in, out string }{
		{`null`, `null`},
		{`true`, `true`},
		{`12`, `12`},
		{`4111111111111111`, `"[card]"`},
		{`{"a":["x ann@ex.com",{"b":"+49 171 1234567"}],"n":1.50}`, `{"a":["x [email]",{"b":"[phone]"}],"n":1.50}`},
		{`{"ann@ex.com":1,"bob@ex.com":2,"[email] 2":3}`, `{"[email]":1,"[email] 2":2,"[email] 2 2":3}`},
	} {
		v, err := value.Read([]byte(tt.in), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(apply(v).AppendJSON(nil)); got != tt.out {
			t.Errorf("%s: %s, want %s", tt.in, got, tt.out)
		}
	}
	if got := apply(value.OfBytes("ann@ex.com")); !got.IsNull() {
		t.Errorf("bytes are shown as %v", got)
	}
}

// TestPatternsAlone checks that only matches of the named patterns are replaced.
func TestPatternsAlone(t *testing.T) {
	const text = "ann@ex.com +49 171 1234567 DE89370400440532013000 4111111111111111 192.0.2.1 123-45-6789"
	for pattern, want := range map[Pattern]string{
		PatternEmail: "[email] +49 171 1234567 DE89370400440532013000 4111111111111111 192.0.2.1 123-45-6789",
		PatternPhone: "ann@ex.com [phone] DE89370400440532013000 4111111111111111 192.0.2.1 123-45-6789",
		PatternIBAN:  "ann@ex.com +49 171 1234567 [iban] 4111111111111111 192.0.2.1 123-45-6789",
		PatternCard:  "ann@ex.com +49 171 1234567 DE89370400440532013000 [card] 192.0.2.1 123-45-6789",
		PatternIP:    "ann@ex.com +49 171 1234567 DE89370400440532013000 4111111111111111 [ip] 123-45-6789",
		PatternSSN:   "ann@ex.com +49 171 1234567 DE89370400440532013000 4111111111111111 192.0.2.1 [ssn]",
	} {
		apply, err := Mask{Kind: MaskInside, Field: "f", Patterns: []Pattern{pattern}}.Under(MaskKey{})
		if err != nil {
			t.Fatal(err)
		}
		if got := apply(value.OfString(text)).Text(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", pattern, got, want)
		}
	}
}

// TestPatternsBetween puts personal data between random texts and checks that all of it is replaced.
func TestPatternsBetween(t *testing.T) {
	apply := insideAll(t)
	data := []string{"secretperson@example.com", "+49 171 7654321", "(555) 765-4321", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "192.168.77.66"}
	gaps := []string{" ", ", ", "\n", "; ", " – ", " / ", "\t", "> ", "\"", "'", " (", ") ", " @ ", " 12 items ", " order 77 ", " é ", " 你好 "}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range 1 + random.IntN(6) {
			b.WriteString(gaps[random.IntN(len(gaps))])
			b.WriteString(data[random.IntN(len(data))])
			b.WriteString(gaps[random.IntN(len(gaps))])
		}
		got := apply(value.OfString(b.String())).Text()
		for _, part := range []string{"secretperson", "7654321", "765-4321", "1111", "3704", "168.77"} {
			if strings.Contains(got, part) {
				t.Fatalf("%q leaves as %q", b.String(), got)
			}
		}
	}
}

// TestPieces checks pieces of masked texts.
func TestPieces(t *testing.T) {
	v := insideAll(t)(value.OfString("é ann@ex.com!"))
	for _, tt := range []struct {
		offset, length int64
		want           string
	}{{0, 4, "é [e"}, {4, 100, "mail]!"}, {10, 5, ""}, {0, 0, ""}} {
		if got := CutMaskedText(v, tt.offset, tt.length).Text(); got != tt.want {
			t.Errorf("%d, %d: %q, want %q", tt.offset, tt.length, got, tt.want)
		}
	}
	if got := MaskCharacters(v); got.Int() != 10 {
		t.Errorf("%v characters, want 10", got)
	}
	if !CutMaskedText(value.Value{}, 0, 1).IsNull() || !MaskCharacters(value.Value{}).IsNull() {
		t.Error("null has pieces")
	}
}
