package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

var updatePictures = flag.Bool("update-pictures", false, "write the pictures of docs/images and their text")

// pictures lists the pages of the demo that docs/images shows.
var pictures = []struct {
	name        string
	open        string // the path of the page, or the text of a link on the previous page
	of          string // selects the text to compare
	phone, dark bool
}{
	{name: "queue", open: "/console", of: "main"},
	{name: "change", open: "status InProgress → Review", of: "main"},
	{name: "audit", open: "/console/audit", of: "h1, h2, thead th"}, // its rows also count the browser's calls
	{name: "view-as", open: "/console/access", of: "main"},
	{name: "queue-phone-dark", open: "/console", of: "main", phone: true, dark: true},
}

// varies matches text that differs between two runs of the demo.
var varies = regexp.MustCompile(`\b[0-9a-z]{33,34}\b|\b[0-9A-Z]{26}\b|\bjust now\b|\b\d[\d.,:  -]*(ms|s|min|h|d)?\b`)

// TestPictures opens the console of the demo in a browser. It compares the text of each page, without ids and times,
// with the recorded text of its picture in docs/images. -update-pictures takes the pictures again.
func TestPictures(t *testing.T) {
	chromium := services.Chromium(t)
	link := startDemo(t)
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox,
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("font-render-hinting", "none"))
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), o...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	do := func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, actions...); err != nil {
			t.Fatal(err)
		}
	}
	ready := chromedp.WaitVisible(chromedp.CSS("nav[aria-label=Pages]"))
	do(chromedp.Navigate(link), chromedp.Click(chromedp.CSS("form button")), ready)
	base, _, _ := strings.Cut(link, "/console")
	ofUser := regexp.MustCompile(`\b` + regexp.QuoteMeta(app.LocalUser()) + `\b`) // the user who runs the test owns the demo's agents
	var pages strings.Builder
	for _, p := range pictures {
		scale := 1.0
		size := emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 860}
		if p.phone {
			size.Width, size.Height, scale = 390, 844, 2
		}
		size.DeviceScaleFactor, size.Mobile = scale, p.phone
		if _, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, size); err != nil {
			t.Fatal(err)
		}
		scheme := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: map[bool]string{true: "dark", false: "light"}[p.dark]}}}
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, scheme); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.open, "/") {
			do(chromedp.Navigate(base+p.open), ready)
		} else {
			click := fmt.Sprintf(`[...document.querySelectorAll("main a")].find((a) => a.innerText.includes(%q)).click()`, p.open)
			if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](click)); err != nil {
				t.Fatal(err)
			}
			do(chromedp.WaitVisible(chromedp.CSS("textarea")), ready)
		}
		text, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(`document.fonts.ready.then(() => [...document.querySelectorAll(%q)].map((e) => e.innerText).join("\n"))`, p.of), chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		pages.WriteString("== " + p.name + "\n" + strings.TrimSpace(ofUser.ReplaceAllString(varies.ReplaceAllString(text, "~"), "ann")) + "\n")
		if *updatePictures {
			png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
			if err == nil {
				err = os.WriteFile(filepath.Join("../../docs/images", p.name+".png"), png, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	const file = "testdata/pictures.txt"
	if *updatePictures {
		if err := os.WriteFile(file, []byte(pages.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := pages.String(); got != string(want) {
		t.Errorf("the pages of the demo are not those of docs/images: take the pictures again with -update-pictures\n%s", firstDifference(got, string(want)))
	}
}

// firstDifference returns the first differing lines of got and want.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return "one has more lines"
}

// startDemo starts the demo and returns the sign-in link of its reviewer.
func startDemo(t *testing.T) (link string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := &exec.Cmd{Path: self, Args: []string{"bailiwick", "demo", "--dir", filepath.Join(dir, "demo"), "--listen", "127.0.0.1:0"}, Dir: dir, Env: []string{"HOME=" + dir, "PATH=/usr/bin:/bin"}, Stderr: os.Stderr}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	})
	var all strings.Builder
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if m := oneTimeLink.FindString(lines.Text()); m != "" {
			go func() {
				for lines.Scan() {
				}
			}()
			return m
		}
	}
	t.Fatalf("the demo prints no link:\n%s", all.String())
	return ""
}

var oneTimeLink = regexp.MustCompile(`http://127\.0\.0\.1:\d+/console/sign-in\?link=\S+`)
