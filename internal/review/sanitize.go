package review

import (
	"regexp"
	"strings"
)

// Inert returns text that a reader's program may show as Markdown, without links and images. Links and images can
// mislead people. Programs fetch images, which reveals the data in their addresses. Lists, quotes and everything else
// are unchanged.
func Inert(text string) string {
	text = entities.ReplaceAllString(text, "&amp;$1")
	return links.Replace(tags.ReplaceAllString(text, `\<$1`))
}

// entities matches character references that Markdown would decode. For example, "&colon;" can complete an address.
var entities = regexp.MustCompile(`&(#[0-9xX]|[A-Za-z][A-Za-z0-9]{0,31};)`)

// tags matches the beginning of an address or an element in angle brackets.
var tags = regexp.MustCompile(`<([A-Za-z/!?])`)

var links = strings.NewReplacer("](", `]\(`, "][", `]\[`, "]:", `]\:`, "![", `!\[`, "://", `\://`, "www.", `www\.`, "WWW.", `WWW\.`, "mailto:", `mailto\:`, "xmpp:", `xmpp\:`)

// InertJSON does the same for JSON. The values stay the same, because it only writes escapes within texts.
func InertJSON(text string) string {
	text = entities.ReplaceAllString(text, `\u0026$1`)
	return escapes.Replace(tags.ReplaceAllString(text, `\u003c$1`))
}

var escapes = strings.NewReplacer("](", `]\u0028`, "][", `]\u005b`, "]:", `]\u003a`, "![", `!\u005b`, "://", `:\/\/`, "www.", `www\u002e`, "WWW.", `WWW\u002e`, "mailto:", `mailto\u003a`, "xmpp:", `xmpp\u003a`)
