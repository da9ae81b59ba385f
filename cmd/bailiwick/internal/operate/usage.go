package operate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/store"
)

// A sum is the usage of one owner, token, tool, class, conversation or day.
type sum struct {
	Name    string  `json:"name"`
	Calls   int64   `json:"calls"`   // including refused calls
	Refused int64   `json:"refused"` // including failed and cancelled calls
	Rows    int64   `json:"rows"`
	Bytes   int64   `json:"bytes"`
	Tokens  int64   `json:"tokens"`
	Cost    float64 `json:"cost_usd"`

	cost int64 // in millionths of the currency
}

// sumName returns the name of the sum to which a record is added. what is the kind of the sums. ok is false for an
// unknown kind.
func sumName(r audit.Record, what string) (name string, ok bool) {
	switch what {
	case "owner":
		return identity.Person(r.Owner), true // budgets use the same name
	case "token":
		// A sub-principal uses the budget of its origin, so it is counted there.
		parts := strings.Split(r.Principal, "/")
		return cmp.Or(r.TokenID, strings.Join(parts[:max(len(parts)-r.Depth, 1)], "/")), true
	case "tool":
		return r.Tool, true
	case "class":
		return r.Class, true
	case "conversation":
		return r.Correlation, true
	case "day":
		return r.Time.UTC().Format(time.DateOnly), true
	}
	return "", false
}

// auditUsage returns the command audit usage. Days are in UTC, like the days of budgets.
func auditUsage(t *terminal.Terminal) *cobra.Command {
	k := app.Keep{There: true, Reads: true}
	var what string
	var days int
	var people bool
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Sum up what calls have used: who, by which token, which tool",
		Long: "Usage reads the audit back and sums up the calls of agents in the last days of UTC, today among them. Calls are all that were\n" +
			"made. The daily budgets count only those that were admitted. Calls of people, such as the pages of the console, come with --people.",
		Args: terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, ok := sumName(audit.Record{}, what); !ok {
				return config.Usagef("--by must be owner, token, tool, class, conversation or day")
			}
			if days < 1 || days > 3650 {
				return config.Usagef("--days must be from 1 to 3650")
			}
			return k.WithStore(cmd.Context(), func(log app.Store) error {
				until := time.Now().UTC()
				since := until.Truncate(24*time.Hour).AddDate(0, 0, 1-days)
				sums, err := sumUp(cmd.Context(), log, what, since, people)
				if err != nil {
					return err
				}
				if t.JSON {
					return t.PrintJSON(sums)
				}
				printSums(t, what, sums)
				return printPeriod(cmd.Context(), t, log, since, until)
			})
		},
	}
	k.Flags(cmd.Flags())
	cmd.Flags().StringVar(&what, "by", "owner", "what to sum up by: `owner`, token, tool, class, conversation or day")
	cmd.Flags().IntVar(&days, "days", 1, "how many `DAYS` of UTC, today among them")
	peopleFlag(cmd.Flags(), &people)
	return cmd
}

// sumUp sums the records since a time, without those of people unless people is true. The sums with the most calls come
// first.
func sumUp(ctx context.Context, log store.BlockStore, what string, since time.Time, people bool) ([]sum, error) {
	sums := map[string]*sum{}
	err := log.Search(ctx, [2]time.Time{since, {}}, 0, nil, func(r *audit.Record) bool {
		if r.Step != "" || r.Checkpoint != "" || r.Person && !people {
			return true // a step isn't a call, and its time may be long ago
		}
		name, _ := sumName(*r, what)
		s := sums[name]
		if s == nil {
			s = &sum{Name: name}
			sums[name] = s
		}
		s.Calls++
		if !r.Well() {
			s.Refused++
		}
		s.Rows, s.Bytes, s.Tokens, s.cost = s.Rows+int64(r.Rows), s.Bytes+int64(r.Bytes), s.Tokens+int64(r.Tokens), s.cost+r.Cost
		return true
	})
	if err != nil {
		return nil, err
	}
	out := make([]sum, 0, len(sums))
	for _, s := range sums {
		s.Cost = float64(s.cost) / 1e6
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b sum) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name)) })
	return out, nil
}

// printPeriod prints which period the sums are of. They lack records that an archive has.
func printPeriod(ctx context.Context, t *terminal.Terminal, log store.BlockStore, since, until time.Time) error {
	base, err := log.Base(ctx)
	if err != nil {
		return err
	}
	t.Printf("\nfrom %s to %s UTC", since.Format(minute), until.Format(minute))
	if base.Seq > 0 {
		t.Printf(", without the records up to %d, which are in the archive", base.Seq)
	}
	t.Printf("\n")
	return nil
}

const minute = "2006-01-02 15:04"

// printSums prints a table of sums. The first column is as wide as its longest name.
func printSums(t *terminal.Terminal, what string, sums []sum) {
	wide := len(what)
	for _, s := range sums {
		wide = max(wide, len([]rune(terminal.Printable(s.Name))))
	}
	line := func(name string, cells ...string) {
		t.Printf("%-*s  %10s %10s %12s %14s %12s %12s\n", wide, name, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5])
	}
	line(what, "calls", "not ok", "rows", "bytes", "tokens", "US dollars")
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, s := range sums {
		line(cmp.Or(terminal.Printable(s.Name), "-"), number(s.Calls), number(s.Refused), number(s.Rows), number(s.Bytes), number(s.Tokens),
			fmt.Sprintf("%.4f", s.Cost))
	}
}
