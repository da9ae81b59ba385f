package spec

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
)

// These are terms that indicate a class at the start of a name, a summary or a description. A term has one or two
// words.
var (
	// ruins are verbs that remove data, access or service.
	ruins = []string{"rebuild", "recreate", "reinstall", "reimage", "reformat", "rollback", "roll back", "rewind", "reset", "restore over", "poweroff", "power off", "power down", "powerdown",
		"power cycle", "powercycle", "shutdown", "shut down", "reboot", "halt", "detach", "transfer", "downgrade", "ban", "trash", "overwrite", "force", "forcibly", "flush", "clear", "empty", "discard",
		"expunge", "redact", "forget", "nuke", "drain", "evacuate", "recycle", "undeploy", "teardown", "tear down", "decommission", "deprovision", "deregister", "unregister", "disassociate", "dissociate",
		"unlink", "expel", "void", "expire", "invalidate", "close account", "factory reset", "turn off", "failover", "fail over", "switchover", "disband", "dissolve", "permanently"}
	// nouns are members of ruins that also name a thing that can be made: POST /transfers. For a GET, things are
	// nouns too.
	nouns  = []string{"transfer", "reset", "void", "force", "clear", "empty", "downgrade"}
	things = []string{"ban", "trash", "rollback", "reboot", "shutdown", "expire"}
	// harmless are verbs of operations that only query. The first nine are the most certain.
	harmless = []string{"get", "list", "show", "fetch", "read", "retrieve", "describe", "search", "query", "find", "count", "check", "validate", "verify", "preview", "estimate", "simulate", "calculate",
		"explain", "view", "test", "can", "is", "has", "download"}
	// makers are first verbs of operations that make or set a thing.
	makers = []string{"create", "add", "update", "set", "post", "put", "patch", "edit", "save", "record", "register", "configure", "enable", "insert", "new"}
	// performers are words before the term in a summary: perform a reboot.
	performers = []string{"perform", "trigger", "issue", "request", "initiate", "start", "execute", "run", "do", "schedule", "begin", "invoke", "immediately", "send",
		"a", "an", "the", "hard", "soft", "full", "graceful", "gracefully", "cold", "warm"}
	// gentle are verbs that change little, even if they apply to many things.
	gentle = []string{"create", "add", "insert", "import", "export", "get", "list", "read", "retrieve", "fetch", "upload", "send", "search", "check", "validate", "download", "invite", "query", "find", "parse", "lookup", "preview"}
	// doubles are names of things. A merge of two such things removes one.
	doubles = []string{"account", "company", "contact", "customer", "deal", "duplicate", "identity", "issue", "lead", "organization", "people", "person", "profile", "record", "tag", "ticket", "topic", "user", "visitor"}
)

// finally matches a description of an effect that can't be undone. overwrites matches a summary of an operation that
// replaces something.
var (
	finally    = regexp.MustCompile(`\bpermanently\b|\birrevers|\birrevocabl|\b(?:can ?not|can't|could not) be (?:undone|reversed|reverted|recovered|restored)\b|\b(?:is|are|be|gets?) (?:lost|wiped|erased|destroyed|purged|terminated)\b|\b(?:wipes|destroys|erases|purges) (?:all|any|every|the|its)\b`)
	overwrites = regexp.MustCompile(`\boverwrit(?:e|es|ing)\b|\bpowers? (?:\w+ ){0,4}off\b|\bpower(?:s|ing)? (?:off|down)\b|\bshut(?:s|ting)? down\b|\bto (?:the )?trash\b|\b(?:factory|hard)[ -]reset\b|\bfor(?:ce|cibly|cefully)[ -](?:\w+)|\bwip(?:e|es|ing)\b|^blocks? (?:an? |the )?(?:\w+ ){0,2}(?:users?|contacts?|members?|accounts?|senders?|visitors?|guests?|customers?|profiles?|devices?|callers?)\b|\brestores? .*\bover\b`)
	denied     = regexp.MustCompile(`\b(?:not|never|without|avoid|instead of|rather than|doesn't|don't|won't|isn't|aren't|only if|unless)\b(?:\W+\w+){0,3}\W*$|\bno \w+ $|\bnothing $`)
	fromCopy   = regexp.MustCompile(`\b(?:backup|snapshot|point[ -]in[ -]time|dump|earlier time|in[ -]place|over)\b`)
	asNew      = regexp.MustCompile(`\b(?:new|another|fresh|clone)\b`)
	sameRecord = regexp.MustCompile(`\b(?:metadata|settings?|config|configuration|labels|attributes|properties|preferences|patch)\b`) // a merge into these keeps both
	branch     = regexp.MustCompile(`\b(?:pull|merge requests?|merge_request|mergerequest|branch|branches|commit|change|pr|mr|fork|upstream|template)s?\b`)
)

// isRuin reports whether the names, summary or description of op say that it removes something that doesn't come back
// by itself. For a GET, only the start of its names or summary counts, because its description is about the returned
// thing.
func isRuin(op *Operation, reads bool) bool {
	path, id := pathVerb(op), ""
	if op.Declared {
		id = ShortName(op.ID)
	}
	summary := strings.ToLower(op.Summary)
	said := start(summary)
	if reads && strings.HasPrefix(first(said), "return") {
		return false
	}
	names := [][]string{secretnames.Words(path), secretnames.Words(id)}
	for _, words := range append(slices.Clone(names), said) {
		if slices.Contains(harmless, strings.TrimSuffix(first(words), "s")) || slices.Contains(harmless, first(words)) {
			return false
		}
	}
	made := slices.Contains(makers, first(names[1])) || slices.Contains(makers, strings.TrimSuffix(first(said), "s"))
	switch {
	case beginsWith(names[1], ruins) || beginsWith(said, ruins):
		return true
	case beginsWith(names[0], ruins) || !reads && endsWithTerm(names[0], ruins):
		one := first(names[0])
		noun := slices.Contains(nouns, secretnames.Singular(one)) || reads && one != secretnames.Singular(one) && slices.Contains(things, secretnames.Singular(one)) || reads && one == "trash"
		return !(made || reads) || !noun
	case reads:
		return false
	case !made && (endsWithTerm(names[1], ruins) || endsWithTerm(names[1], []string{"bulk"})):
		return true
	}
	return isBulk(names, said) || restores(names, summary) || merges(names, summary) || says(overwrites, summary) || describesRuin(op)
}

// describesRuin reports whether the description of op begins with a term of ruins, or states that the effect is
// final.
func describesRuin(op *Operation) bool {
	about := strings.ToLower(op.Description)
	sentence, _, _ := strings.Cut(about, ". ")
	words := start(sentence)
	return beginsWith(words, ruins) || slices.Contains(destroys, first(words)) || slices.Contains(destroys, strings.TrimSuffix(first(words), "s")) ||
		says(finally, about) || says(finally, strings.ToLower(op.Summary))
}

// says reports whether text matches pattern. A match after a negation in the same sentence doesn't count.
func says(pattern *regexp.Regexp, text string) bool {
	for _, at := range pattern.FindAllStringIndex(text, -1) {
		if !denied.MatchString(text[:at[0]]) {
			return true
		}
	}
	return false
}

// isBulk reports whether op changes many things at once. An operation that only makes or fetches many things doesn't
// count, because it removes nothing.
func isBulk(names [][]string, summary []string) bool {
	bulk := false
	for i, words := range append(slices.Clone(names), summary) {
		bulk = bulk || slices.ContainsFunc(words, func(w string) bool { return w == "bulk" || w == "mass" })
		switch {
		case i == 0 && first(names[1]) != "": // a path may name things, such as export-templates
			continue
		case i == 1 && len(summary) > 1: // an id may begin with its group: imports_users_close
			continue
		case i == 2:
			words = words[:min(len(words), 4)]
		}
		if slices.ContainsFunc(words, func(w string) bool {
			return slices.Contains(gentle, w) || slices.Contains(gentle, strings.TrimSuffix(w, "s"))
		}) {
			return false
		}
	}
	return bulk
}

// restores reports whether op replaces the present state with a copy.
func restores(names [][]string, summary string) bool {
	verb := slices.ContainsFunc([]string{first(names[0]), first(names[1]), first(start(summary))}, func(w string) bool {
		w = strings.TrimSuffix(w, "s")
		return w == "restore" || w == "revert"
	})
	text := strings.Join(slices.Concat(names...), " ") + " " + summary
	return verb && fromCopy.MatchString(text) && !asNew.MatchString(text)
}

// merges reports whether op merges records so that one of them is gone. Merging the branches of a repository doesn't
// count.
func merges(names [][]string, summary string) bool {
	text := strings.Join(slices.Concat(names...), " ") + " " + summary
	verb := slices.ContainsFunc([]string{first(names[0]), first(names[1]), first(start(summary))}, func(w string) bool { return strings.TrimSuffix(w, "s") == "merge" })
	if !verb || branch.MatchString(text) || sameRecord.MatchString(text) {
		return false
	}
	return strings.Contains(summary, " into ") || slices.ContainsFunc(strings.Fields(text), func(w string) bool { return slices.Contains(doubles, secretnames.Singular(strings.Trim(w, ".,"))) })
}

// onlyAsks reports whether the declared id of op and its summary both begin with a verb that surely only queries:
// getResetOptions.
func onlyAsks(op *Operation) bool {
	says := func(text string) bool {
		verb := first(secretnames.Words(text))
		return slices.Contains(harmless[:9], verb) || slices.Contains(harmless[:9], strings.TrimSuffix(verb, "s"))
	}
	return op.Declared && says(ShortName(op.ID)) && says(op.Summary)
}

// plugs matches names of things that can be attached to something else. A terminal, for example, is not one.
var plugs = regexp.MustCompile(`(?i)\b(?:volume|disk|drive|network|interface|nic|iso|policy|address|ip|subnet|file|image|storage|payment|card|source|router|firewall|label|tag|user|server)s?\b`)

// plugsIn reports whether op attaches a volume or another thing, which doesn't open a channel.
func plugsIn(op *Operation, last string, reads bool) bool {
	return !reads && strings.EqualFold(last, "attach") && (plugs.MatchString(op.Path) || plugs.MatchString(op.Summary))
}

// pathVerb returns the part of op's path that can be a verb. This is the verb after a colon, or the last segment that
// isn't a parameter.
func pathVerb(op *Operation) string {
	path, _ := op.Target()
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i := len(segments) - 1; i >= 0; i-- {
		if at := strings.LastIndexByte(segments[i], ':'); at > 0 {
			return segments[i][at+1:]
		}
		if strings.HasPrefix(segments[i], "{") && (op.Method != "GET" && op.Method != "HEAD") && i > 0 {
			continue
		}
		if strings.HasPrefix(segments[i], "{") {
			return ""
		}
		segment := strings.TrimSuffix(strings.TrimSuffix(segments[i], ".json"), ".xml")
		return segment[strings.LastIndexByte(segment, '.')+1:]
	}
	return ""
}

// start returns the words of a sentence, beginning with its verb.
func start(sentence string) []string {
	words := secretnames.Words(sentence)
	for len(words) > 1 && slices.Contains(performers, strings.TrimSuffix(words[0], "s")) {
		words = words[1:]
	}
	return words
}

// first returns the first word, or "" if there is none.
func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// beginsWith reports whether words begin with one of the terms, also in the third person.
func beginsWith(words, terms []string) bool {
	for len(words) > 1 && slices.Contains(fillers, words[0]) && words[0] != "force" {
		words = words[1:]
	}
	one := first(words)
	third := strings.TrimSuffix(strings.TrimSuffix(one, "es"), "s")
	two := ""
	if len(words) > 1 {
		two = " " + words[1]
	}
	for _, w := range []string{one, strings.TrimSuffix(one, "s"), third} {
		if slices.Contains(terms, w) || two != "" && slices.Contains(terms, w+two) {
			return true
		}
	}
	return false
}

// endsWithTerm reports whether words end with one of the terms: dropletReboot. It returns false if the first word is
// a verb that makes a thing.
func endsWithTerm(words, terms []string) bool {
	n := len(words)
	if n < 2 || slices.Contains(makers, words[0]) || words[n-1] == "transfer" || words[n-1] == "void" {
		return false
	}
	return slices.Contains(terms, words[n-1]) || slices.Contains(terms, words[n-2]+" "+words[n-1])
}
