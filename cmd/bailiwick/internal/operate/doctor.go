// Package operate implements the commands with which operators inspect and maintain an installation.
//
//	flags ─terminal, app→ configuration, store, sources ─command→ report, exit code
//
// Health checks whether one running server is healthy. Doctor checks everything that a server needs: the
// configuration, the files, the store, certificates and sources.
//
// The audit commands read and verify the record of every call. If the audit was modified, verify reports the change
// and exits with code 1. The store commands back up, restore and check the gateway's own store.
//
// The policy commands print the results of package policyops. They show the permissions of a principal, the reason
// for a refusal, questionable rules, the results of tests, and the difference to another configuration. They reject
// an ambiguous principal. Only policy audit reads records, as samples.
//
// The token and people commands manage access. They require access to the store and no token. A token's secret is
// shown once, at its creation. The connect command writes the server into the configuration of an MCP client. It
// changes one entry of the client's file and keeps everything else: other servers, settings, comments and
// indentation.
//
// The review commands send requests to a running server and print the sheets of package review.
package operate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// patience is the maximum time for all of doctor's requests to one server.
const patience = 20 * time.Second

// Doctor returns the command doctor.
func Doctor(t *terminal.Terminal) *cobra.Command {
	var from app.Setup
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at all that a server needs, and say what to do about each fault",
		Long: "Doctor looks at the configuration, the store, its replicas, each source, certificates, secret files, disks and the server. It prints a\n" +
			"line for each: ok, warning or fault, and what to do. It ends with code 1 if there is a fault. It changes nothing, and works while servers\n" +
			"run and while none runs. It prints no secret and no value of a record.",
		Example: "  bailiwick doctor\n  bailiwick doctor --config /etc/bailiwick/bailiwick.yaml --json",
		Args:    terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := from.Load()
			if err != nil && config.IsUsage(err) {
				return err
			}
			found := configuration(c, from.Path(), err)
			if c != nil {
				found = append(found, examine(cmd.Context(), c)...)
			}
			return report(t, append(found, temporary()...))
		},
	}
	from.Flags(cmd.Flags())
	return cmd
}

// examine checks everything that the configuration names.
func examine(ctx context.Context, c *config.Config) []finding {
	found := checkStore(ctx, c)
	of, reached := sources(ctx, c)
	found = append(found, of...)
	if reached {
		found = append(found, rules(ctx, c)...)
	}
	found = append(found, certificates(ctx, c, time.Now())...)
	found = append(found, secrets(c)...)
	found = append(found, disks(c)...)
	return append(found, server(ctx, c)...)
}

// A state is the severity of a finding.
type state string

const (
	good    state = "ok"
	warning state = "warning"
	fault   state = "fault"
)

// A finding is one line of the report.
type finding struct {
	State state  `json:"state"`
	About string `json:"about"` // what the finding is about, such as "store" or "source app"
	Text  string `json:"text"`
	Do    string `json:"do,omitempty"` // the next step for the operator
}

// textOf returns an error on one line, without the parts that logs omit.
func textOf(err error) string {
	text := err.Error()
	if logged, ok := errors.AsType[interface {
		error
		LogText() string
	}](err); ok {
		text = logged.LogText()
	}
	return strings.TrimSpace(text)
}

// errorFinding returns a fault for an error. The advice is the text after the first sentence of the error.
func errorFinding(about string, err error) finding {
	text, do, _ := strings.Cut(textOf(err), ". ")
	return finding{fault, about, strings.TrimPrefix(strings.TrimPrefix(text, about+": "), about+" "), do}
}

// report prints the findings. It returns ErrSaid if there is a fault.
func report(t *terminal.Terminal, found []finding) error {
	count := map[state]int{}
	width := 0
	for i := range found {
		f := &found[i]
		f.Text, f.Do = problem.Sentences(strings.Split(f.Text, "\n")...), problem.Sentences(strings.Split(f.Do, "\n")...)
		count[f.State]++
		width = max(width, len(f.About))
	}
	if t.JSON {
		err := t.PrintJSON(struct {
			Faults   int       `json:"faults"`
			Warnings int       `json:"warnings"`
			Findings []finding `json:"findings"`
		}{count[fault], count[warning], found})
		if err == nil && count[fault] > 0 {
			err = terminal.ErrSaid
		}
		return err
	}
	styles := map[state]string{good: terminal.Green, warning: terminal.Amber, fault: terminal.Red}
	for _, f := range found {
		t.Printf("%s  %-*s  %s\n", terminal.Style(styles[f.State], fmt.Sprintf("%-7s", f.State)), width, f.About, terminal.Sanitize(f.Text))
		if f.Do != "" {
			t.Printf("%9s%-*s  do: %s\n", "", width, "", terminal.Sanitize(f.Do))
		}
	}
	if count[fault] > 0 {
		t.Printf("%s and %s\n", terminal.Count(count[fault], "fault"), terminal.Count(count[warning], "warning"))
		return terminal.ErrSaid
	}
	t.Printf("no fault and %s\n", terminal.Count(count[warning], "warning"))
	return nil
}

// configuration checks whether the configuration at path can be used. err is the error of reading it, or nil.
func configuration(c *config.Config, path string, err error) []finding {
	const about = "configuration"
	if err != nil {
		do := `correct it; "bailiwick check" shows the lines`
		if errors.Is(err, os.ErrNotExist) {
			do = "name it with --config"
		}
		return []finding{{fault, about, textOf(err), do}}
	}
	text := fmt.Sprintf("rules %s, %s", c.Rules.Version, terminal.Count(len(c.Sources), "source"))
	if path != "" {
		text = path + ": " + text
	}
	out := []finding{{State: good, About: about, Text: text}}
	for _, note := range c.Notes {
		out = append(out, finding{State: warning, About: about, Text: note})
	}
	return out
}

// server checks whether the configured server answers.
func server(ctx context.Context, c *config.Config) []finding {
	const about = "server"
	listen := c.Listen
	if listen == "" {
		listen = config.DefaultListen
	}
	at, err := probe(listen, true)
	if err != nil {
		return nil
	}
	status, text, err := look(ctx, at, 5*time.Second)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	switch {
	case err != nil:
		return []finding{{State: good, About: about, Text: "none answers at " + at.Host}}
	case lines[0] != "ready" && !strings.HasPrefix(lines[0], "not ready"):
		return []finding{{warning, about, fmt.Sprintf("what answers at %s is not a server of this program", at.Host), "set listen to a free address"}}
	case status != 200:
		return []finding{{fault, about, fmt.Sprintf("the one at %s is %s", at.Host, problem.Sentences(lines...)), "read its log"}}
	}
	out := []finding{{State: good, About: about, Text: fmt.Sprintf("the one at %s is ready", at.Host)}}
	for _, note := range lines[1:] {
		out = append(out, finding{warning, about, note, "read its log"})
	}
	return out
}
