package secretnames

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secretsInTexts returns a text for each form of a credential in public documentation. ⟦⟧ enclose the part that must
// not be shown. The texts are assembled here so that no scanner reports this file as a leak.
func secretsInTexts() []string {
	hex := strings.Repeat("0a1b2c3d4e5f6789", 8)
	mixed := "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY" + "Zz1Cc2Dd3Ee4Ff5Gg6Hh7Ii8Jj9Kk0Ll"
	of := func(prefix, rest string) string { return "use ⟦" + prefix + rest + "⟧ now" }
	out := []string{
		of("eyJ", mixed[:20]+"."+mixed[:30]+"."+mixed[:30]), of("AK"+"IA", "IOSFODNN7EXAMPLE"), of("AS"+"IA", "IOSFODNN7EXAMPLE"), of("AI"+"za", mixed[:35]), of("ya"+"29.", mixed[:40]), of("GOC"+"SPX-", mixed[:28]),
		of("gh"+"p_", mixed[:36]), of("gh"+"s_", mixed[:36]), of("github"+"_pat_", mixed[:40]), of("gl"+"pat-", mixed[:20]), of("gl"+"dt-", mixed[:20]), of("gl"+"rt-", mixed[:20]),
		of("xo"+"xb-", "123456789012-"+mixed[:24]), of("xa"+"pp-1-", mixed[:30]), of("sk"+"_live_", mixed[:24]), of("rk"+"_live_", mixed[:24]), of("wh"+"sec_", mixed[:32]),
		of("sk"+"-proj-", mixed[:48]), of("sk"+"-ant-", mixed[:48]), of("SG"+".", mixed[:22]+"."+mixed[:43]), of("ke"+"y-", hex[:32]), of("", hex[:32]+"-us"+"12"), of("S"+"K", hex[:32]),
		of("np"+"m_", mixed[:36]), of("py"+"pi-", mixed[:50]), of("rubygems"+"_", hex[:48]), of("dckr"+"_pat_", mixed[:27]), of("do"+"p_v1_", hex[:64]), of("shp"+"at_", hex[:32]), of("sq0"+"atp-", mixed[:22]),
		of("hv"+"s.", mixed[:40]), of("dp"+".pt.", mixed[:43]), of("lin"+"_api_", mixed[:40]), of("nt"+"n_", mixed[:46]), of("fig"+"d_", mixed[:40]), of("pat"+mixed[:14]+".", hex[:64]), of("PM"+"AK-", hex[:24]+"-"+hex[:34]),
		of("gl"+"sa_", mixed[:32]+"_"+hex[:8]), of("NR"+"AK-", "ABCDEFGHIJ0123456789ABCDEFG"), of("dt0"+"c01.", strings.ToUpper(mixed[:24])+"."+mixed[:64]), of("h"+"f_", mixed[:34]), of("r"+"8_", mixed[:37]), of("gs"+"k_", mixed[:52]),
		of("tskey"+"-auth-", mixed[:30]), of("dap"+"i", hex[:32]), of("AT"+"ATT3", mixed[:60]), of("", "123456789:"+"AA"+mixed[:33]), of("M"+mixed[:23]+".", mixed[:6]+"."+mixed[:27]), of("abc8"+"Q~", mixed[:34]), of("LT"+"AI", mixed[:20]),
		"https://hooks.slack.com/services/⟦T00000000/B00000000/" + mixed[:24] + "⟧", "https://discord.com/api/webhooks/123/⟦" + mixed[:60] + "⟧",
		"postgres://app:⟦hunter2⟧@db:5432/app", "redis://:⟦hunter2⟧@cache:6379", "https://⟦" + mixed[:30] + "⟧@git.example/x.git", "mongodb+srv://u:⟦p4ss⟧@c.example/db",
		"Server=db;User Id=sa;Password=⟦p4ss⟧;Timeout=3", "AccountName=x;AccountKey=⟦" + mixed[:40] + "==⟧;EndpointSuffix=y", "host=db user=app password=⟦hunter2⟧ sslmode=on", "jdbc:mysql://db/x?user=a&password=⟦hunter2⟧",
		"Authorization: Bearer ⟦" + mixed[:30] + "⟧", "authorization: Basic ⟦YWRtaW46aHVudGVyMg==⟧", `-H "Authorization: token ⟦` + hex[:40] + `⟧"`, "Authorization: ApiKey ⟦" + mixed[:40] + "⟧", "X-API-Key: ⟦" + mixed[:24] + "⟧", "Proxy-Authorization: Basic ⟦dXNlcjpwYXNz⟧",
		"Cookie: session=⟦" + mixed[:24] + "⟧; theme=dark", "Set-Cookie: sid=⟦" + mixed[:24] + "⟧; HttpOnly",
		"https://b.example/o?X-Amz-Signature=⟦" + hex[:64] + "⟧&X-Amz-Expires=60", "https://storage.example/o?X-Goog-Signature=⟦" + hex[:100] + "⟧", "https://x.blob.example/c?sv=2026&sig=⟦" + mixed[:20] + "%2B" + mixed[:20] + "%3D⟧&se=1", "https://cdn.example/v?Expires=1&Signature=⟦" + mixed[:40] + "⟧&Key-Pair-Id=K",
		"X-Hub-Signature-256: sha256=⟦" + hex[:64] + "⟧", "https://a.example/x?api_key=⟦abc123⟧&page=2", "https://a.example/cb?access_token=⟦" + mixed[:24] + "⟧",
		"STRIPE_KEY=⟦abc⟧", "export DB_PASSWORD='⟦a b⟧'", `{"user":"a","password":"⟦hunter2⟧"}`, `{\"client_secret\":\"⟦` + mixed[:20] + `⟧\"}`, "api_key: ⟦" + mixed[:24] + "⟧", "password: ⟦hunter2⟧", `{'token': '⟦abcd1234⟧'}`,
		"//registry.npmjs.org/:_authToken=⟦" + hex[:36] + "⟧", "machine x login ada password ⟦hunter2⟧", "curl -u ada:⟦hunter2⟧ https://x.example", "mysql --password=⟦hunter2⟧ -h db", "tool login --token ⟦" + mixed[:20] + "⟧",
		"CREATE USER a IDENTIFIED BY '⟦hunter2⟧'", "ALTER ROLE a PASSWORD '⟦hunter2⟧'", "<config><dbPassword>⟦hunter2⟧</dbPassword></config>",
		"-----BEGIN EC PRIVATE KEY-----⟦\nMHcCAQEE\n⟧-----END EC PRIVATE KEY-----", "-----BEGIN OPENSSH PRIVATE KEY-----⟦\nb3BlbnNz\n⟧-----END OPENSSH PRIVATE KEY-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----⟦\nlQdG\n⟧-----END PGP PRIVATE KEY BLOCK-----",
		"$2b$10$⟦" + mixed[:53] + "⟧", "$6$rounds=5000$⟦saltsalt$" + mixed[:60] + "⟧", "{SSHA}⟦" + mixed[:32] + "⟧", "otpauth://totp/a?secret=⟦JBSWY3DPEHPK3PXP⟧&issuer=b",
	}
	return out
}

// TestSecretsInTexts checks that each form of a credential is masked completely.
func TestSecretsInTexts(t *testing.T) {
	all := secretsInTexts()
	if len(all) < 50 {
		t.Errorf("%d forms", len(all))
	}
	for _, marked := range all {
		_, rest, _ := strings.Cut(marked, "⟦")
		secret, _, _ := strings.Cut(rest, "⟧")
		text := strings.NewReplacer("⟦", "", "⟧", "").Replace(marked)
		if got := Mask(text, "[masked]"); strings.Contains(got, secret) || !strings.Contains(got, "[masked]") {
			t.Errorf("%s\n got %s", text, got)
		}
	}
}

// TestOrdinaryTexts checks that ordinary texts are not masked. It uses 2,000 sentences and values that mention
// credentials or look similar, and the sentences of this program's documentation.
func TestOrdinaryTexts(t *testing.T) {
	var all []string
	names := []string{"password", "token", "secret", "API key", "access token", "cookie", "session", "credential", "signature", "bearer token", "private key", "webhook", "connection string"}
	sentences := []string{"The %s is required.", "Your %s must have at least 12 characters.", "%s: required", "Error: invalid %s", "Reset the %s in Settings > Security.", "The %s expired on 2026-11-28 at 10:00.", "How do I rotate the %s?", "We never store your %s.",
		"field %s is missing", "Send the %s as a header, e.g. Authorization: Bearer <%[1]s>", "The %s was changed by ada@example.com", "%s=", "Use ${%[1]s} there", "set %s: null", "The %s is a string of letters", "Choose a %s (8-64 characters)", "\"%s\" is not allowed here",
		"see https://docs.example/%[1]s?page=2", "Basic authentication needs no %s", "Bearer authentication replaces the %s", "PATCH /users/7 changes the %s", "NOTE(ada): document the %s"}
	for _, n := range names {
		for _, s := range sentences {
			all = append(all, fmt.Sprintf(s, n))
		}
	}
	things := []string{"3f786850e387550fdab836ed7e6dc881de23001b", "550e8400-e29b-41d4-a716-446655440000", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "2026-11-28T10:00:00Z", "v1.24.3-rc.2+build.7", "https://example.com/a/b?c=d&e=f#g", "ada@example.com",
		"data:image/png;base64,iVBORw0KGgo=", "127.0.0.1:8080", "arn:aws:iam::123456789012:user/ada", "projects/p-1/locations/eu/keyRings/r", "cus_NffrFeUfNV2Hib", "price_1MoBy5LkdIwHu7ixZhnattbh", "task-1234", "sk-learn", "key-value store", "pat.smith", "Mon.day.morning", "io.example.app.MainActivity",
		"/usr/local/bin/tool", "a_b_c_d", "npm_config_registry", "x-request-id: 7f3a", "W/\"0815\"", "+49 30 1234567", "DE89 3704 0044 0532 0130 00", "978-3-16-148410-0", "#ff8800", "10:30-11:45", "SELECT a FROM b WHERE c = 'd'", "const token = getToken()", "if (password == other) return;", "key: name", "token: next", "fm2_radio", "ff_only", "hf_model"}
	frames := []string{"%s", "commit %s", "see %s for more", "id=%s", "The value is %s.", "(%s)", "before: %s, after: none", "[%s](https://example.com)", "`%s`", "name: %s"}
	for _, n := range things {
		for _, f := range frames {
			all = append(all, fmt.Sprintf(f, n))
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatal(err, pages)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); len(line) > 20 && !strings.Contains(line, "secret: ") && len(all) < 2600 {
				all = append(all, line)
			}
		}
	}
	if len(all) < 2000 {
		t.Errorf("%d texts", len(all))
	}
	for _, text := range all {
		if got := Mask(text, "[masked]"); got != text {
			t.Errorf("%s\n got %s", text, got)
		}
		if Value(text) {
			t.Errorf("%s: taken as a credential", text)
		}
	}
}
