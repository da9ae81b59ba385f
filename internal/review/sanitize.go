package review

import (
	"regexp"
	"strings"
)

// Inert returns text without working links and images, for programs that show it as Markdown. Links and images can
// mislead people. Programs also fetch images automatically, which can leak data through their addresses. Lists,
// quotes and all other text stay unchanged.
func Inert(text string) string {
	text = entities.ReplaceAllString(text, "&amp;$1")
	return links.Replace(tags.ReplaceAllString(text, `\<$1`))
}

// entities matches character references that Markdown would decode. For example, "&colon;" can complete an address.
var entities = regexp.MustCompile(`&(#[0-9xX]|[A-Za-z][A-Za-z0-9]{0,31};)`)

// tags matches the beginning of an address or of an HTML element in angle brackets.
var tags = regexp.MustCompile(`<([A-Za-z/!?])`)

var links = strings.NewReplacer("](", `]\(`, "][", `]\[`, "]:", `]\:`, "![", `!\[`, "://", `\://`, "www.", `www\.`, "WWW.", `WWW\.`, "mailto:", `mailto\:`, "xmpp:", `xmpp\:`)

// inertBesideAddresses is Inert for words of a person. Web addresses that are written out stay as they are, so that the
// agent can use them. A Markdown program may make links of them, but these show where they lead, and it fetches nothing.
func inertBesideAddresses(text string) string {
	text = entities.ReplaceAllString(text, "&amp;$1")
	return bareLinks.Replace(tags.ReplaceAllString(text, `\<$1`))
}

var bareLinks = strings.NewReplacer("](", `]\(`, "][", `]\[`, "]:", `]\:`, "![", `!\[`)

// InertJSON disables links and images in JSON text. It only writes escapes within strings, so the values stay the
// same.
func InertJSON(text string) string {
	text = entities.ReplaceAllString(text, `\u0026$1`)
	return escapes.Replace(tags.ReplaceAllString(text, `\u003c$1`))
}

var escapes = strings.NewReplacer("](", `]\u0028`, "][", `]\u005b`, "]:", `]\u003a`, "![", `!\u005b`, "://", `:\/\/`, "www.", `www\u002e`, "WWW.", `WWW\u002e`, "mailto:", `mailto\u003a`, "xmpp:", `xmpp\u003a`)
