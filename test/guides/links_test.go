package guides

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinks checks that each relative link of the documentation leads to a file, and to a heading of it.
func TestLinks(t *testing.T) {
	t.Chdir("../..")
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	n := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range link.FindAllStringSubmatch(outsideOfBlocks(string(text)), -1) {
				if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
					continue
				}
				n++
				path, heading, _ := strings.Cut(m[1], "#")
				if path = filepath.Join(filepath.Dir(page), path); strings.HasPrefix(m[1], "#") {
					path = page
				}
				target, err := os.ReadFile(path)
				if info, failed := os.Stat(path); failed != nil || err != nil && !info.IsDir() {
					t.Errorf("%s: the link %s leads to no file", page, m[1])
				} else if heading != "" && !headings(string(target))[heading] {
					t.Errorf("%s: the link %s leads to no heading", page, m[1])
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d links", n)
	}
}

// outsideOfBlocks returns a text without its fenced blocks and code.
func outsideOfBlocks(text string) string {
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(text, "")
}

// headings returns the anchors of the headings of a page.
func headings(text string) map[string]bool {
	anchors := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127:
				b.WriteRune(r)
			}
		}
		anchors[b.String()] = true
	}
	return anchors
}
