package console_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// hostile returns texts with which an agent could attack a reader.
func hostile() map[string]string {
	return map[string]string{
		"script":   `</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'"><svg onload="document.title='owned'">`,
		"markdown": "[approve](javascript:document.title='owned') ![x](https://evil.example/pixel.png) <https://evil.example>",
		"quotes":   `" onmouseover="document.title='owned'" x='" ' autofocus onfocus="document.title='owned'" hx-get="/console/sign-out" hx-trigger="load`,
		"bidi":     "pay \u202e0001\u202c to \u2066alice\u2069 \u200fnow\u200b\u00ad\ufeff",
		"ansi":     "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \x9b2J",
		"nul":      "a\x00b\x01c\x7fd\ufffde\u2028f\u2029g\U000e0041h",
		"template": "{{.Mark}} {{template \"mark\"}} ${7*7} <!--#exec cmd=\"id\"-->",
		"lines":    strings.Repeat("\n", 5000) + "below",
		"long":     strings.Repeat("W", 1<<20),
		"marks":    "Z" + strings.Repeat("\u0335\u0489", 4000),
		"wide":     strings.Repeat("ﷺ", 3000),
	}
}

// hostileSheet returns a change with text in every field that an agent or a person can write.
func hostileSheet(n int, text string) *review.Sheet {
	s := sample(n, text)
	s.Classes, s.Fields, s.Agent, s.Owner, s.Reason, s.Source = []string{text}, []string{text}, text, text, text, text
	s.Tool, s.Action, s.Rule, s.Policy, s.Correlation, s.Outcome, s.Op = text, text, text, text, text, text, text
	shown := review.Shown{Kind: "text", Text: text}
	s.Items = []review.Item{{Op: text, Class: text, Key: text, Fields: []review.Field{{Path: text, Type: text, Before: shown, After: shown, Now: &shown},
		{Path: text, Type: text, Before: shown, After: shown, Words: []review.Word{{Text: text, Kind: "same"}, {Text: text, Kind: "removed"}, {Text: text, Kind: "added"}, {Text: text, Kind: "cut"}}}}}}
	s.Cascades = []change.Cascade{{Class: text, Effect: text, Records: 3}}
	s.Checks = []review.Check{{Name: text, OK: false, Detail: text}}
	s.Thread = []review.Said{{By: text, Event: change.EventKind(text), Text: text, Loud: text, At: time.Now()}, {By: text, Event: change.EventAsked, Text: text, Agent: true, Version: 2, At: time.Now()}}
	s.Since, s.Replaces, s.ReplacedBy = s.Items, text, text
	s.History = []change.Step{{State: change.Pending, Event: change.EventKind(text), By: text, Comment: text, At: time.Now()}}
	s.Trail = []review.Read{{Tool: text, Class: text, Outcome: text, At: time.Now()}}
	s.After, s.Reverts = []string{text}, text
	return s
}

// TestHostile checks that the pages of a change are small and without harmful characters, regardless of the change's
// content.
func TestHostile(t *testing.T) {
	d := newDrawers()
	n := 100
	for _, text := range hostile() {
		d.put(hostileSheet(n, text))
		n++
	}
	w := newWorld(t, d, nil)
	b := w.signedIn(t, "rosa")
	paths := []string{"/console/changes"}
	for i := 100; i < n; i++ {
		paths = append(paths, "/console/changes/"+id(i), "/console/batch?id="+id(i), "/console/changes/"+id(i)+"/print")
	}
	for _, path := range paths {
		got := b.get(path)
		if got.status != 200 || len(got.body) > 400_000 {
			t.Errorf("%s: %d, %d bytes", path, got.status, len(got.body))
		}
		for _, r := range got.body {
			if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e || r == 0x200b || r == 0xfeff || r == 0x2028 || r == 0x2066 || r >= 0xe0000 && r < 0xe0080 {
				t.Errorf("%s holds U+%04X", path, r)
				break
			}
		}
		for _, tag := range []string{"<script>", "<img", "onerror=\"", "<svg onload", `href="javascript:`, `href="https://evil`, `hx-get="/console/sign-out"`} {
			if strings.Contains(got.body, tag) {
				t.Errorf("%s holds %s", path, tag)
			}
		}
	}
	if got := b.get("/console/changes?q=" + "%3Cscript%3Edocument.title%3D1%3C%2Fscript%3E&class=%22%20onfocus%3D%22x").body; strings.Contains(got, "<script>d") || strings.Contains(got, `" onfocus`) {
		t.Error("the filter is not escaped")
	}
}

// TestBrowserHostile shows the same in a real browser. It checks that no script runs and that nothing overflows.
func TestBrowserHostile(t *testing.T) {
	d := newDrawers()
	n := 100
	names := map[int]string{}
	for name, text := range hostile() {
		d.put(hostileSheet(n, text))
		names[n] = name
		n++
	}
	w := newWorld(t, d, nil)
	_, rosa := w.token(t, "rosa", identity.Human, identity.Review)
	b := w.tab(t, chrome(t), rosa)
	b.size(360, 740, true)
	check := func(name string) {
		t.Helper()
		for script, what := range map[string]string{
			`document.title === "owned"`: "a script ran",
			`[...document.images].length > 0 || performance.getEntriesByType("resource").some(r => new URL(r.name).host !== location.host)`: "something was loaded from elsewhere",
			`[...document.querySelectorAll("main a")].some(a => a.origin !== location.origin)`:                                              "a link leads elsewhere",
			`document.scrollingElement.scrollWidth > innerWidth + 1`:                                                                        "it is wider than the screen",
			`document.scrollingElement.scrollHeight > 60000`:                                                                                "it is endless",
			`[...document.querySelectorAll("*")].some(e => [...e.attributes].some(a => a.name.startsWith("on") || a.name === "style"))`:     "an element has a handler or a style",
			`[...document.querySelectorAll("form")].some(f => new URL(f.action).origin !== location.origin)`:                                "a form leads elsewhere",
		} {
			if eval[bool](b, script) {
				t.Errorf("%s: %s\n%s", name, what, eval[string](b, look))
			}
		}
	}
	b.open("/console/changes")
	check("queue")
	b.shoot("hostile-queue", true)
	for i := 100; i < n; i++ {
		b.open("/console/changes/" + id(i))
		check(names[i])
		b.shoot("hostile-"+names[i], false)
	}
	// Content that arrives live is as harmless as the original page.
	b.open("/console/changes")
	d.put(hostileSheet(99, hostile()["script"]))
	b.waitFor(`document.querySelector("#news a") !== null`)
	if _, err := (desk{d, identity.Principal{Owner: hostile()["script"], Kind: identity.Human}}).Reject(t.Context(), id(100), hostile()["script"]); err != nil {
		t.Fatal(err)
	}
	b.waitFor(`document.querySelector(".resolved") !== null`)
	check("live")
}
