package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
)

// policyDescribe returns the command policy describe. It prints everything that one principal sees, or one class with
// its fields and conditions.
func policyDescribe(t *terminal.Terminal) *cobra.Command {
	var from app.Setup
	var name string
	cmd := &cobra.Command{
		Use:   "describe --as WHO [CLASS]",
		Short: "Tell what a principal may see and do",
		Long: "Tell what a principal may see and do. It lists tools, gates and where they were set, actions, classes, visible and hidden fields,\n" +
			"and the conditions on every record. Values of filters and tenants are shown as the first 8 hex digits of their SHA-256.",
		Example: "  bailiwick policy describe --as support-bot\n  bailiwick policy describe --as stdio tracker.issues",
		Args:    terminal.These(0, "CLASS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, p, err := loadScene(cmd.Context(), &from, name)
			if err != nil {
				return err
			}
			s.printSamplingNote(t)
			if len(args) == 1 {
				return s.printClass(t, p, args[0])
			}
			return s.printAll(t, p)
		},
	}
	from.Flags(cmd.Flags())
	cmd.Flags().StringVar(&name, "as", "", "`WHO`: a token by its ID or name, stdio or anonymous")
	return cmd
}

// loadScene loads the configuration that the flags name, and returns the principal with this name.
func loadScene(ctx context.Context, from *app.Setup, name string) (*scene, identity.Principal, error) {
	c, err := from.Load()
	if err != nil {
		return nil, identity.Principal{}, err
	}
	s, err := policyLook(ctx, c)
	if err != nil {
		return nil, identity.Principal{}, err
	}
	if err := s.know(ctx, c.Store); err != nil {
		return nil, identity.Principal{}, err
	}
	p, err := s.as(name)
	return s, p, err
}

// printAll prints what p sees and may do: tools, gates, actions, APIs, and a line for each class with the numbers of
// its fields. Classes that p doesn't see are listed with the reason, because only an operator reads this output.
func (s *scene) printAll(t *terminal.Terminal, p identity.Principal) error {
	d := s.Regime.Describe(p)
	if t.JSON {
		return t.PrintJSON(described{d, s.config.Gates(), s.actions(p)})
	}
	t.Printf("%s  %s\n", terminal.Style(terminal.Bold, principalName(p)), principalText(p))
	t.Printf("tools  %s\n", orNone(strings.Join(d.Tools, ", ")))
	if err := s.printWrites(t, p); err != nil {
		return err
	}
	if err := PrintAPIs(t, d.APIs); err != nil {
		return err
	}
	if len(d.Classes)+len(d.Hidden) == 0 && len(d.APIs) > 0 {
		return nil
	}
	w := t.Table()
	fmt.Fprintln(w, "CLASS\tFIELDS\tHIDDEN\tMASKED\tRECORDS")
	for _, c := range d.Classes {
		masked := 0
		for _, f := range c.Fields {
			if f.Mask != "" {
				masked++
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", c.Class, len(c.Fields), len(c.Hidden), masked, records(c.Layers))
	}
	for _, v := range d.Hidden {
		fmt.Fprintf(w, "%s\t-\t-\t-\t%s\n", v.Class, s.reason(v, p))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	t.Printf("\n%d of %d classes can be seen\n", len(d.Classes), len(d.Classes)+len(d.Hidden))
	return nil
}

// PrintAPIs prints how many parts of HTTP APIs are visible. It prints nothing if there are no APIs.
func PrintAPIs(t *terminal.Terminal, all []policyops.API) error {
	if len(all) == 0 {
		return nil
	}
	w := t.Table()
	fmt.Fprintln(w, "API\tREAD\tWRITE\tDESTRUCTIVE\tEXCLUDED\tFORBIDDEN\tUNSEEN\tHIDDEN FIELDS AND SCHEMAS")
	for _, a := range all {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", a.API, a.Read, a.Write, a.Destructive, a.Excluded, a.Forbidden, a.Unseen, orNone(strings.Join(a.Hidden, ", ")))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	t.Printf("\n")
	return nil
}

// printClass prints one class as p sees it, the hidden fields with the rules that hide them, and the conditions on
// its records. For a class that isn't visible, it prints the reason. A class that no source has is a usage error.
func (s *scene) printClass(t *terminal.Terminal, p identity.Principal, class string) error {
	view, verdict := s.Regime.DescribeClass(p, class)
	if verdict.Reason == "unknown_class" {
		return config.Usagef("%s", verdict.Why)
	}
	if t.JSON {
		return t.PrintJSON(struct {
			policyops.Verdict
			View  *policyops.View `json:"view,omitempty"`
			Place *place          `json:"place,omitempty"`
		}{verdict, visibleView(view, verdict), s.place(verdict.Rule, p)})
	}
	if !verdict.Allowed {
		t.Printf("%s is not seen by %s: %s\n", verdict.Class, principalName(p), s.reason(verdict, p))
		return nil
	}
	t.Printf("%s  seen by %s as %s\n\n", terminal.Style(terminal.Bold, view.Class), principalName(p), view.Name)
	w := t.Table()
	fmt.Fprintln(w, "FIELD\tTYPE")
	for _, f := range view.Fields {
		var notes []string
		if f.Mask != "" {
			notes = append(notes, "masked: "+string(f.Mask))
		}
		if f.Large {
			notes = append(notes, "large")
		}
		fmt.Fprintln(w, strings.TrimSuffix(f.Name+"\t"+f.Type+"\t"+strings.Join(notes, ", "), "\t"))
	}
	for _, v := range view.Hidden {
		fmt.Fprintf(w, "%s\t-\t%s\n", v.Field, s.reason(v, p))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	t.Printf("\nrecords: %s\n", records(view.Layers))
	return nil
}

// visibleView returns the view for JSON, or nil if the class is not visible.
func visibleView(v policyops.View, verdict policyops.Verdict) *policyops.View {
	if !verdict.Allowed {
		return nil
	}
	return &v
}

// reason returns why something is not visible, and the position of the rule.
func (s *scene) reason(v policyops.Verdict, principal identity.Principal) string {
	p := s.place(v.Rule, principal)
	switch {
	case p == nil:
		return v.Why + " (built in)"
	case p.File == "":
		return v.Why + " (" + p.Path + ")"
	}
	return fmt.Sprintf("%s (%s:%d)", v.Why, p.File, p.Line)
}

// records describes the conditions that limit the records of a view.
func records(layers []policyops.Layer) string {
	parts := make([]string, len(layers))
	for i, l := range layers {
		parts[i] = l.Name + " " + l.Where
		if l.Through != "" {
			parts[i] = l.Name + " through " + l.Through + " " + l.Where
		}
	}
	if len(parts) == 0 {
		return "all"
	}
	return strings.Join(parts, "; ")
}

func principalName(p identity.Principal) string {
	if p.Name == "" || p.Name == p.ID {
		return p.ID
	}
	return p.ID + " (" + terminal.Printable(p.Name) + ")"
}

// principalText describes the kind, owner, tenant and scopes of a principal.
func principalText(principal identity.Principal) string {
	parts := []string{string(principal.Kind)}
	for _, p := range [][2]string{{"owner", principal.Owner}, {"tenant", principal.Tenant}} {
		if p[1] != "" {
			parts = append(parts, p[0]+" "+terminal.Printable(p[1]))
		}
	}
	scopes := make([]string, len(principal.Scopes))
	for i, s := range principal.Scopes {
		scopes[i] = string(s)
	}
	slices.Sort(scopes)
	return strings.Join(append(parts, "scopes "+orNone(strings.Join(scopes, ","))), ", ")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
