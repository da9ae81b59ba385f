package scaffold

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// freeNames matches names of fields that contain texts written by people. The names are lower-case words joined by
// "_".
var freeNames = regexp.MustCompile(`(?:^|_)(?:notes?|messages?|msg|comments?|body|bodies|description|desc|text|content|contents|remarks?|memos?|details?|repl(?:y|ies)|questions?|answers?|feedback|complaints?|` +
	`reasons?|transcripts?|summary|instructions?|problem|symptom|resolution|solution|inquiry|enquiry|correspondence|conversation|history|minutes|letter|testimonial|observations?|about|bio|biography|statement|narrative|` +
	`notiz(?:en)?|bemerkung(?:en)?|anmerkung(?:en)?|kommentare?|beschreibung|nachricht(?:en)?|hinweise?|frage|antwort|begruendung|` +
	`notas?|comentarios?|mensajes?|mensagens?|mensagem|descripcion|descricao|observacion(?:es)?|observacao|observacoes|texto|respuesta|pregunta|` +
	`commentaires?|remarques?|texte|reponse|motif|messaggi(?:o)?|comment[oi]|descrizione|osservazioni|testo|` +
	`notities?|opmerking(?:en)?|bericht(?:en)?|omschrijving|toelichting|uwagi|notatk[ai]|opis|komentarz(?:e)?|wiadomosc|tresc|` +
	`anteckning(?:ar)?|beskrivning|meddelande(?:n)?|kommentar(?:er)?|notat(?:er)?|besked|poznamk[ay]|popis|aciklama|mesaj|yorum)` +
	`(?:_(?:md|html|text|txt|markdown|plain|raw|source|body|long|full|internal|external|public|private|other|[a-z]{2}))?$`)

// talk lists words in names of classes that contain texts which people write to or about each other.
var talk = []string{"ticket", "note", "message", "msg", "comment", "conversation", "mail", "email", "chat", "reply", "replie", "case", "issue", "complaint", "feedback", "inquiry", "inquirie", "enquiry", "enquirie", "sms", "letter",
	"correspondence", "memo", "interaction", "helpdesk", "incident", "thread", "utterance", "journal", "answer", "review", "notiz", "notizen", "kommentar", "nachricht", "nachrichten", "anfrage", "anfragen", "mensaje", "comentario", "nota", "mensagen", "commentaire", "messaggio", "messaggi", "bericht", "berichten", "opmerking", "opmerkingen"}

// talkParts lists last words of names of classes that describe such texts but don't contain them.
var talkParts = []string{"type", "types", "status", "statuses", "state", "states", "category", "categories", "template", "templates", "label", "labels", "tag", "tags", "setting", "settings", "priority", "priorities", "kind", "kinds",
	"reaction", "reactions", "field", "fields", "format", "formats", "queue", "queues", "rule", "rules", "config", "configs", "macro", "macros"}

// talks reports whether the name of a class suggests tickets, notes, messages or similar texts.
func talks(class string) bool {
	words := secretnames.Words(class)
	if len(words) == 0 || slices.Contains(talkParts, words[len(words)-1]) {
		return false
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(talk, w) || slices.Contains(talk, strings.TrimSuffix(w, "s"))
	})
}

// usualPatterns returns the patterns that init always proposes for texts.
func usualPatterns() []policy.Pattern {
	return []policy.Pattern{"email", "phone", "iban", "card"}
}

// inside masks the texts in which personal data was found. In a class of tickets, notes or messages, it also masks
// texts without samples. It lists other texts in a comment. The function seen returns the sample counts of a field.
func (g *guess) inside(seen func(field string) samples.Seen, targets map[string]bool) {
	for i := range g.class.Fields {
		f := &g.class.Fields[i]
		if !g.mayHold(f) || targets[g.class.Name+"."+f.Name] {
			continue
		}
		s, name := seen(f.Name), strings.Join(secretnames.Words(f.Name), "_")
		free := freeNames.MatchString(name) && longText(f)
		if in := form(g.class, f, s); in != "" && in != schema.JSONText {
			continue
		}
		switch found := inText(f, s, free, name); {
		case found != nil:
			g.masked = append(g.masked, noted{g.insideMask(f.Name, s.Patterns()), "personal data inside of texts, by their values: " + strings.Join(found, ", ")})
		case !free || f.Type.IsStructured():
		case s.Values > 0:
			g.texts = append(g.texts, noted{g.insideMask(f.Name, nil), fmt.Sprintf("free text: none of %d sampled values has such data", s.Values)})
		case talks(g.class.Name) && !g.keyless():
			g.masked = append(g.masked, noted{g.insideMask(f.Name, nil), "texts of people, and no value could be looked at"})
		default:
			g.texts = append(g.texts, noted{g.insideMask(f.Name, nil), "free text: no value could be looked at"})
		}
	}
}

// mayHold reports whether f may get a mask for personal data within its texts. The field must be visible and not
// masked. It must contain texts or JSON, and it must not be a key or a pointer.
func (g *guess) mayHold(f *schema.Field) bool {
	if f.Type != schema.String && f.Type != schema.Any && !f.Type.IsStructured() || f.Values != nil || !g.whole(f.Name) || isKeyField(g.class, f.Name) {
		return false
	}
	points := func(line string) bool { return strings.HasPrefix(line, yamlKey(f.Name)+": ") }
	return !slices.ContainsFunc(g.pointers, points) && !slices.ContainsFunc(g.doubts, points)
}

// longText reports whether a field may contain more than one line of text.
func longText(f *schema.Field) bool { return f.Length == 0 || f.Length >= 200 }

// inText returns the patterns of personal data that the sampled values of f contain. It counts telephone numbers only
// in texts written by people, because other numbers look like them. It never counts IP addresses, because they
// usually belong to machines.
func inText(f *schema.Field, s samples.Seen, free bool, name string) (found []string) {
	prose := s.Prose*2 >= s.Values && s.Values > 0
	if !free && !prose && (samples.Identifies(f) || technical.MatchString(name)) {
		return nil
	}
	for _, p := range s.Patterns() {
		if p == "ip" || p == "phone" && !prose && (!free || f.Type.IsStructured()) {
			continue
		}
		found = append(found, string(p))
	}
	return found
}

// insideMask returns the mask of a text field as a member of mask. The mask has the usual patterns and those found.
// For a class without a visible key, only the mask null is possible.
func (g *guess) insideMask(field string, found []policy.Pattern) string {
	if g.keyless() {
		return yamlKey(field) + ": null"
	}
	list := usualPatterns()
	for _, p := range found {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = string(p)
	}
	return yamlKey(field) + ": {pattern: [" + strings.Join(names, ", ") + "]}"
}
