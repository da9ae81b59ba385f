package demo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A prose generates the texts of one issue from templates. All texts have the same subject.
type prose struct {
	rng                                 *rand.Rand
	people                              []string
	actor, thing, other, system, screen string
}

// about chooses a random subject from d.
func about(rng *rand.Rand, d domain, people []string) prose {
	p := prose{rng: rng, people: people, actor: pick(rng, d.actors), system: pick(rng, d.systems), screen: pick(rng, d.screens)}
	at := rng.IntN(len(d.things))
	p.thing, p.other = d.things[at], d.things[(at+1+rng.IntN(len(d.things)-1))%len(d.things)]
	return p
}

// say fills a random template.
func (p *prose) say(templates []string) string {
	rest := pick(p.rng, templates)
	var b strings.Builder
	for {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, tail, _ := strings.Cut(after, "}")
		word := p.word(strings.ToLower(name))
		if name != strings.ToLower(name) {
			r, size := utf8.DecodeRuneInString(word)
			word = string(unicode.ToUpper(r)) + word[size:]
		}
		if strings.ContainsRune("aeiou", rune(word[0])) && endsWithArticle(b.String()) {
			text := b.String()
			b.Reset()
			b.WriteString(text[:len(text)-1] + "n ")
		}
		b.WriteString(word)
		rest = tail
	}
}

// endsWithArticle reports whether s ends with the article "a".
func endsWithArticle(s string) bool {
	return s == "A " || s == "a " || strings.HasSuffix(s, " a ") || strings.HasSuffix(s, " A ")
}

// word returns the text for a placeholder. It leaves an unknown placeholder unchanged so that a test can find it.
func (p *prose) word(name string) string {
	switch name {
	case "actor":
		return p.actor
	case "thing":
		return p.thing
	case "other":
		return p.other
	case "system":
		return p.system
	case "screen":
		return p.screen
	case "n":
		return strconv.Itoa(20 + 10*p.rng.IntN(48))
	case "small":
		return strconv.Itoa(2 + p.rng.IntN(8))
	case "percent":
		return strconv.Itoa(3 + p.rng.IntN(60))
	case "ref":
		return fmt.Sprintf("%c%c-%06d", 'A'+rune(p.rng.IntN(26)), 'A'+rune(p.rng.IntN(26)), p.rng.IntN(1_000_000))
	case "version":
		return fmt.Sprintf("%d.%d.%d", 1+p.rng.IntN(9), p.rng.IntN(20), p.rng.IntN(10))
	case "when":
		return pick(p.rng, months())
	case "customer":
		return pick(p.rng, customers())
	case "browser":
		return pick(p.rng, browsers())
	case "person":
		first, _, _ := strings.Cut(pick(p.rng, p.people), " ")
		return first
	}
	return "{" + name + "}"
}

func months() []string {
	return []string{"January", "February", "March", "April", "May", "June", "July", "August", "September"}
}

// title returns the title of an issue of type typ.
func (p *prose) title(typ string) string {
	switch typ {
	case "Epic":
		return p.say(epicTitles())
	case "Story":
		return p.say(storyTitles())
	case "Task":
		return p.say(taskTitles())
	}
	return p.say(bugTitles())
}

// body returns the Markdown description of an issue of type typ. It has 300 to 2,000 bytes. One bug in twenty also
// has a log of several kilobytes.
func (p *prose) body(typ string) string {
	var b strings.Builder
	b.WriteString("## Context\n\n")
	b.WriteString(strings.Join(p.several(contexts(), 1, 3), " "))
	b.WriteString("\n\n")
	switch typ {
	case "Bug":
		b.WriteString("## Steps\n\n")
		for i, step := range p.several(steps(), 3, 5) {
			fmt.Fprintf(&b, "%d. %s\n", i+1, step)
		}
		fmt.Fprintf(&b, "\n**Seen:** %s.\n\n**Expected:** the %s shows the %s once, with its own date.\n",
			p.say(outcomes()), p.screen, p.thing)
		if p.rng.IntN(20) == 0 {
			b.WriteString("\n## Log\n\n```\n" + p.log(40+p.rng.IntN(120)) + "```\n")
		}
	default:
		b.WriteString("## What we know\n\n")
		for _, detail := range p.several(details(), 2, 5) {
			b.WriteString("- " + detail + "\n")
		}
		b.WriteString("\n## Done when\n\n")
		for _, criterion := range p.several(criteria(), 2, 4) {
			b.WriteString("- [ ] " + criterion + "\n")
		}
	}
	return b.String()
}

// log returns n log lines of the prose's system.
func (p *prose) log(n int) string {
	var b strings.Builder
	name := strings.ReplaceAll(p.system, " ", "-")
	for i := range n {
		level := pick(p.rng, []string{"INFO", "INFO", "INFO", "WARN", "ERROR"})
		fmt.Fprintf(&b, "%02d:%02d:%02d.%03d %-5s %s try=%d ref=%s took=%dms\n",
			8+i/60%10, i%60, p.rng.IntN(60), p.rng.IntN(1000), level, name, 1+p.rng.IntN(3), p.word("ref"), p.rng.IntN(30_000))
	}
	return b.String()
}

// several fills a random number of templates between low and high. The templates are in order and without repetition.
func (p *prose) several(templates []string, low, high int) []string {
	order := p.rng.Perm(len(templates))[:low+p.rng.IntN(high-low+1)]
	slices.Sort(order)
	out := make([]string, len(order))
	for i, at := range order {
		out[i] = p.say(templates[at : at+1])
	}
	return out
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }
