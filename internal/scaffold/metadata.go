package scaffold

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// A Cache is a connection with object descriptions on disk.
type Cache struct {
	Name       string   // the name of the source in the configuration
	Connection string   // the name of the connection in the project
	Roots      []string // the allowed folders, as written into the configuration
	Objects    int
}

// OfCaches returns a configuration for cached descriptions. It has one source for each connection.
func OfCaches(caches []Cache) (Draft, error) {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`# Written by "bailiwick init". What is marked "confirm" was guessed: read it before agents are let in.`)
	line(`#   bailiwick check                                          what agents would see`)
	line(`#   bailiwick token create --name my-agent                   a token for an agent`)
	line(`#   bailiwick serve                                          let it in`)
	line("listen: %s   # where agents connect. Only this machine can reach it", config.DefaultListen)
	line("store: %s   # Bailiwick's own memory: tokens and the audit", config.DefaultStore)
	line("sources:")
	objects := 0
	for _, c := range caches {
		objects += c.Objects
		line("  # confirm: agents see names, types and defaults of the fields of %d objects. No record can be read here.", c.Objects)
		line("  %s:", c.Name)
		line("    metadata:")
		line("      # Nothing outside of these folders is opened, or even asked about. Agents name projects in them.")
		line("      roots: %s", quotedList(c.Roots))
		line("      connection: %s", quoteYAML(c.Connection))
	}
	line("")
	line("# Descriptions are shown unless a rule says otherwise. A rule looks like this:")
	line("#classes:\n#  %s.Contact: {denied: [SSN__c]}\n#  %s.Salary__c: {hidden: true}", caches[0].Name, caches[0].Name)
	if _, err := config.Parse("bailiwick.yaml", []byte(b.String()), func(string) (string, bool) { return "", false }); err != nil {
		return Draft{}, fmt.Errorf("the configuration that was written is not right, which is a fault of this program: %w", err)
	}
	return Draft{Text: b.String(), Classes: objects, Confirm: strings.Count(b.String(), confirm)}, nil
}

func quotedList(texts []string) string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = quoteYAML(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}
