package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A story is one conversation of an agent.
type story struct {
	Conversation string         `json:"conversation"`
	Records      []audit.Record `json:"records"` // calls, and the steps of changes that they proposed, in order
	Changes      []storyChange  `json:"changes"`
}

// A storyChange is a change that was proposed in a conversation.
type storyChange struct {
	ID    string       `json:"id"`
	Title string       `json:"title"`
	State change.State `json:"state"`
}

// auditConversation returns the command audit conversation.
func auditConversation(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true, Reads: true}
	cmd := &cobra.Command{
		Use:   "conversation ID",
		Short: "Tell what an agent did in one conversation",
		Long: "Conversation shows the calls of one conversation in order, with the sizes of their answers. Changes that were proposed in it are\n" +
			"shown with the decisions of people and with what became of them. The ID is the correlation id of the calls: audit usage\n" +
			"--by conversation lists them.",
		Args: terminal.These(1, "the ID of the conversation"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return k.WithStore(cmd.Context(), func(store app.Store) error {
				s, err := readStory(cmd.Context(), store, store, args[0])
				if err != nil {
					return err
				}
				if t.JSON {
					return t.PrintJSON(s)
				}
				s.print(t)
				return nil
			})
		},
	}
	k.Flags(cmd.Flags())
	return cmd
}

// readStory reads the records of a conversation, and the changes that were proposed in it.
func readStory(ctx context.Context, log audit.Reader, changes change.Store, id string) (*story, error) {
	s := &story{Conversation: id, Changes: []storyChange{}}
	err := log.Records(ctx, audit.First, func(r audit.Record) bool {
		if r.Correlation == id && id != "" && r.Checkpoint == "" {
			s.Records = append(s.Records, r)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if len(s.Records) == 0 {
		return nil, &problem.Error{Code: problem.NotFound, Detail: fmt.Sprintf("the audit has no call of the conversation %q", id),
			Suggestion: "list the conversations with bailiwick audit usage --by conversation --days 30"}
	}
	// The record of a call is written at its end. Its time is the start.
	slices.SortStableFunc(s.Records, func(a, b audit.Record) int { return a.Time.Compare(b.Time) })
	for _, r := range s.Records {
		if r.Change == "" || r.Step == "" || slices.ContainsFunc(s.Changes, func(c storyChange) bool { return c.ID == r.Change }) {
			continue
		}
		c, err := changes.Get(ctx, r.Change)
		if err != nil {
			return nil, err
		}
		s.Changes = append(s.Changes, storyChange{c.ID, c.Title, c.State})
	}
	return s, nil
}

// print prints one line for each call and each step of a change, and a summary.
func (s *story) print(t *terminal.Terminal) {
	first, last := s.Records[0], s.Records[len(s.Records)-1]
	who := first.Principal
	if first.Owner != "" {
		who += " for " + first.Owner
	}
	t.Printf("%s  %s, %s to %s\n", terminal.Printable(s.Conversation), terminal.Printable(who), first.Time.Local().Format(time.DateTime), last.Time.Local().Format(time.TimeOnly))
	var calls, refused, bytes, tokens int
	for _, r := range s.Records {
		at := r.Time.Local().Format(time.TimeOnly)
		if r.Step != "" {
			by := ""
			if decided(r) {
				by = " by " + terminal.Printable(r.Owner)
			}
			t.Printf("%s    %-26s %s%s  %s\n", at, terminal.Printable(strings.TrimPrefix(r.Tool, "changes/")), r.Outcome, by, r.Change)
			continue
		}
		calls, bytes, tokens = calls+1, bytes+r.Bytes, tokens+r.Tokens
		if !r.Well() {
			refused++
		}
		rest := strings.TrimSpace(r.Code + " " + reason(r))
		t.Printf("%s  %-28s %-9s %6d rows %9d bytes  %s\n", at, terminal.Printable(strings.TrimSpace(r.Tool+" "+r.Class)), r.Outcome, r.Rows, r.Bytes, terminal.Printable(rest))
	}
	t.Printf("calls %d, not ok %d, bytes of answers %d (about %d tokens), changes %d\n", calls, refused, bytes, tokens, len(s.Changes))
	for _, c := range s.Changes {
		t.Printf("  %-17s %s  %s\n", c.State, c.ID, terminal.Printable(c.Title))
	}
}

// decided reports whether a person took the step of r.
func decided(r audit.Record) bool {
	return r.Outcome == audit.Approved || r.Outcome == audit.Rejected || r.Tool == "changes/"+string(change.EventAsked)
}
