package console_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/bailiwick-dev/bailiwick/test/services"
)

// patience is the maximum time for a page on a busy machine.
const patience = 3 * time.Minute

// A tab is a window of a real browser. A warning in its console, such as one about the content policy, fails the
// test.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string
}

// chrome starts a separate browser for the test.
func chrome(t *testing.T) context.Context {
	t.Helper()
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(services.Chromium(t)), chromedp.NoSandbox,
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("font-render-hinting", "none"))
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), o...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal("start the browser:", err)
	}
	return ctx
}

// tab opens a new window with its own cookies. It signs in with secret, unless secret is "".
func (w *world) tab(t *testing.T, browser context.Context, secret string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	b := &tab{t, ctx, w.url}
	said := chromedp.Console(ctx)
	read := make(chan struct{})
	t.Cleanup(func() { cancel(); <-read })
	go func() {
		defer close(read)
		for m, err := range said {
			if err != nil {
				return
			}
			// The test checks response statuses itself, and that the page reports the end of its session.
			if ended := strings.Contains(m.String(), "SSE reconnect failed with status 401"); !ended && (m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning || m.IsException()) && m.Source != "network" {
				t.Errorf("the browser says %s (%s:%d)", m, m.URL, m.Line)
			}
		}
	}()
	b.size(1280, 860, false)
	if secret != "" {
		b.open("/console/sign-in")
		b.do(chromedp.SendKeys(chromedp.CSS("#credential"), secret+"\r"), chromedp.WaitVisible(chromedp.CSS("nav[aria-label=Pages]")))
	}
	return b
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatalf("%v\n%s", err, eval[string](b, "location.href + \"\\n\" + document.body?.innerText"))
	}
}

func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.url+path), chromedp.WaitReady(chromedp.CSS("body")))
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

func (b *tab) visible(selector string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(selector)))
}

func (b *tab) typed(selector, text string) {
	b.t.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// key presses a key.
func (b *tab) key(keys string) {
	b.t.Helper()
	// The page's script is ready.
	b.waitFor(`document.readyState === "complete" && ![...document.querySelectorAll("[data-keys]")].some((b) => b.hidden)`)
	b.do(chromedp.KeyEvent(keys))
}

// readOn scrolls until every part of the difference was on the screen, so that Approve opens.
func (b *tab) readOn() {
	b.t.Helper()
	b.settled()
	b.waitFor(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => { // the page has noted what is on the screen
		const left = document.querySelector("[data-left]") !== null, end = scrollY + innerHeight >= document.scrollingElement.scrollHeight - 1;
		if (left) scrollTo(0, end ? 0 : scrollY + innerHeight / 2);
		done(!left);
	})))`)
}

// size sets the window size in CSS pixels. A phone has a higher pixel density.
func (b *tab) size(width, height int64, phone bool) {
	b.t.Helper()
	scale := 1.0
	if phone {
		scale = 2
	}
	p := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: scale, Mobile: phone}
	if _, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, p); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) dark(on bool) {
	b.t.Helper()
	scheme := "light"
	if on {
		scheme = "dark"
	}
	p := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, p); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns the result of a script.
func eval[T any](b *tab, script string) T {
	b.t.Helper()
	out, err := evaluated[T](b, script)
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return out
}

func evaluated[T any](b *tab, script string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// is evaluates a script that returns a Boolean. It returns false if the page is left during that time.
func (b *tab) is(script string) bool {
	b.t.Helper()
	yes, err := evaluated[bool](b, script)
	if err != nil && !strings.Contains(err.Error(), "Inspected target navigated") && !strings.Contains(err.Error(), "context was destroyed") {
		b.t.Fatalf("%s: %v", script, err)
	}
	return yes && err == nil
}

// waitFor waits until a script returns true on a completely loaded page. It returns how long that took.
func (b *tab) waitFor(script string) time.Duration {
	b.t.Helper()
	start := time.Now()
	for !b.is(`document.readyState !== "loading" && (` + script + `)`) {
		if time.Since(start) > patience {
			b.shoot("failed", false)
			b.t.Fatalf("still not so: %s\n%s\n%s", script, eval[string](b, `"hidden " + document.hidden + ", live " + JSON.stringify(document.getElementById("live")?._htmx?.sse ?? null, ["attempt", "lastEventId", "status", "cancelled"])`),
				eval[string](b, "document.body?.innerText"))
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(start)
}

// shoot saves a screenshot if BAILIWICK_SHOTS names a folder.
func (b *tab) shoot(name string, whole bool) {
	b.t.Helper()
	dir := os.Getenv("BAILIWICK_SHOTS")
	if dir == "" {
		return
	}
	eval[bool](b, "document.fonts.ready.then(() => true)")
	action := chromedp.CaptureScreenshot()
	if whole {
		action = chromedp.FullScreenshot(100)
	}
	png, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
