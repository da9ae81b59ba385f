package operate

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
)

// policyExplain returns the command policy explain. A hypothetical call is checked in the order of a real call: tool,
// operation or class, field. The first refusal decides.
func policyExplain(t *terminal.Terminal) *cobra.Command {
	var from app.Setup
	var name, call, field string
	cmd := &cobra.Command{
		Use:   "explain (--call CALL | --as WHO TOOL [CLASS])",
		Short: "Tell why a call was refused, or whether one would be, and which rule decides",
		Long: "Tell why a call of the audit was refused, which rule decides, and whether it would be refused now. With --as, tell whether\n" +
			"a principal could call a tool on a class. Ends with code 1 when the call is refused by the rules in force.",
		Example: "  bailiwick policy explain --call 17\n  bailiwick policy explain --call 0c9f4e2a\n" +
			"  bailiwick policy explain --as support-bot query_class issues --field internal_note\n" +
			"  bailiwick policy explain --as support-bot call_api_read shop.listOrders",
		Args: terminal.These(0, "TOOL", "CLASS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case call != "" && (name != "" || field != "" || len(args) > 0):
				return config.Usagef("--call stands alone: the audit knows who called what")
			case call != "":
				return explainCall(cmd.Context(), t, &from, call)
			case len(args) == 0:
				return config.Usagef("which call? name one of the audit with --call, or a principal with --as and a TOOL")
			case field != "" && len(args) < 2:
				return config.Usagef("--field needs the CLASS that it is a field of")
			}
			s, p, err := loadScene(cmd.Context(), &from, name)
			if err != nil {
				return err
			}
			s.printSamplingNote(t)
			v := s.Regime.ToolVerdict(p, args[0])
			if v.Allowed && len(args) == 2 {
				if api, operation, ok := s.Regime.API(args[1]); ok {
					v = s.Regime.OperationVerdict(p, args[0], api, operation)
				} else {
					v = s.Regime.ClassVerdict(p, args[1])
				}
			}
			if v.Allowed && field != "" {
				v = s.Regime.FieldVerdict(p, args[1], field)
			}
			return s.printVerdict(t, p, v)
		},
	}
	from.Flags(cmd.Flags())
	f := cmd.Flags()
	f.StringVar(&call, "call", "", "`CALL` of the audit: its number, or its correlation id for the last one refused under it")
	f.StringVar(&name, "as", "", "`WHO` would call: a token by its ID or name, stdio or anonymous")
	f.StringVar(&field, "field", "", "a `FIELD` of the class")
	return cmd
}

// printVerdict prints v, the position of its rule for principal, and other rules that also refuse. It returns ErrSaid
// for a refusal.
func (s *scene) printVerdict(t *terminal.Terminal, principal identity.Principal, v policyops.Verdict) error {
	p := s.place(v.Rule, principal)
	if t.JSON {
		if err := t.PrintJSON(struct {
			policyops.Verdict
			Place   *place   `json:"place,omitempty"`
			Further []*place `json:"further,omitempty"`
		}{v, p, s.further(v)}); err != nil || v.Allowed {
			return err
		}
		return terminal.ErrSaid
	}
	printVerdict(t, v, p, s.further(v)...)
	if !v.Allowed {
		return terminal.ErrSaid
	}
	return nil
}

// explainCall explains a recorded call. The call is a number or a correlation id in the audit of the configured
// store.
func explainCall(ctx context.Context, t *terminal.Terminal, from *app.Setup, call string) error {
	c, err := from.Load()
	if err != nil {
		return err
	}
	s, err := policyLook(ctx, c)
	if err != nil {
		return err
	}
	if err := s.know(ctx, c.Store); err != nil {
		return err
	}
	s.printSamplingNote(t)
	var record *audit.Record
	if err := keeping(ctx, c.Store, func(store app.Store) (err error) { record, err = find(ctx, store, call); return err }); err != nil {
		return err
	}
	return s.printExplanation(t, record, policyops.ExplainCall(s.Regime, s.directory, record))
}

// find returns the call with this number, or the last call with this correlation id. It prefers a refused call.
func find(ctx context.Context, log audit.Reader, call string) (*audit.Record, error) {
	var found *audit.Record
	if n, err := strconv.ParseInt(call, 10, 64); err == nil {
		err := log.Records(ctx, n, func(r audit.Record) bool {
			if r.Seq == n {
				found = &r
			}
			return false
		})
		if found != nil || err != nil {
			return found, err
		}
	}
	err := log.Backwards(ctx, audit.Last, func(r audit.Record) bool {
		if r.Correlation == call && (found == nil || r.Outcome == audit.Refused) {
			found = &r
		}
		return found == nil || found.Outcome != audit.Refused
	})
	if err == nil && found == nil {
		err = fmt.Errorf("the audit has no call %s. The command \"bailiwick audit tail\" shows the last ones", strconv.Quote(call))
	}
	return found, err
}

// printExplanation prints how the call r ended, the deciding rule, and whether the current rules would also refuse
// the call. It returns ErrSaid only for a refused call that would still be refused. A corrected rule is not a
// failure.
func (s *scene) printExplanation(t *terminal.Terminal, r *audit.Record, e policyops.Explanation) error {
	principal, _ := s.directory.Of(r)
	p := s.place(e.Verdict.Rule, principal)
	var refused error
	if e.Refused && e.Still {
		refused = terminal.ErrSaid
	}
	if t.JSON {
		if err := t.PrintJSON(struct {
			Call *audit.Record `json:"call"`
			policyops.Explanation
			Place   *place   `json:"place,omitempty"`
			Further []*place `json:"further,omitempty"`
		}{r, e, p, s.further(e.Verdict)}); err != nil {
			return err
		}
		return refused
	}
	asker := r.Principal
	if r.Tenant != "" {
		asker += "@" + r.Tenant
	}
	t.Printf("call %d  %s  %s  %s  %s\n", r.Seq, day(r.Time), terminal.Printable(asker), terminal.Printable(r.Tool), strings.TrimSpace(r.Outcome+" "+r.Kind))
	printVerdict(t, e.Verdict, p, s.further(e.Verdict)...)
	if e.Refused {
		now := "now     it would be refused as well"
		if !e.Still {
			now = "now     the rules would not refuse it"
		}
		t.Printf("%s\n", now)
	}
	for _, n := range e.Notes {
		t.Printf("note    %s\n", n)
	}
	return refused
}

// printVerdict prints a verdict and the position of its rule. It also prints the positions of other rules that
// refuse.
func printVerdict(t *terminal.Terminal, v policyops.Verdict, p *place, further ...*place) {
	word := terminal.Style(terminal.Green, "allowed")
	if !v.Allowed {
		word = terminal.Style(terminal.Amber, "refused")
	}
	t.Printf("%s %s\n", word, v.Why)
	if v.Reason != "" {
		at := ""
		if v.DeniedAt != "" {
			at = ", denied at: " + v.DeniedAt
		}
		t.Printf("reason  %s%s\n", v.Reason, at)
	}
	if v.Class != "" {
		t.Printf("class   %s%s\n", v.Class, fieldSuffix(v.Field))
	}
	switch {
	case p != nil:
		t.Printf("rule    %s\n", p)
		if p.Excerpt != "" {
			t.Printf("%s\n", p.Excerpt)
		}
	case v.DeniedAt == policyops.AtField:
		t.Printf("rule    built in\n")
	}
	for _, other := range further {
		t.Printf("also    %s\n", other)
	}
}

func fieldSuffix(field string) string {
	if field == "" {
		return ""
	}
	return "." + field
}
