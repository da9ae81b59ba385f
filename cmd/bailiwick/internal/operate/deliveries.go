package operate

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/reviewapi"
)

// deliveries returns the command changes deliveries. It lists notifications, the newest first.
func (d commands) deliveries() *cobra.Command {
	var asked filter
	cmd := &cobra.Command{
		Use:     "deliveries",
		Short:   "List notifications about changes: sent, waiting and dead",
		Example: "  bailiwick changes deliveries --state dead\n  bailiwick changes redeliver 17",
		Args:    terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var page reviewapi.DeliveryPage
			if done, err := d.fetchList(cmd.Context(), "/api/deliveries", asked, &page); done || err != nil {
				return err
			}
			if len(page.Deliveries) == 0 {
				d.t.Notef("no deliveries")
				return nil
			}
			return d.printDeliveries(page)
		},
	}
	help := map[string]string{"state": "waiting, sent, dead or all (the default)", "webhook": "only to this `WEBHOOK`", "change": "only about the change with this `ID`",
		"before": "only those older than this `ID`", "limit": "at most so many, up to 200"}
	asked = filterFlags(cmd.Flags(), reviewapi.DeliveryParameters(), help, "")
	return cmd
}

// printDeliveries prints a page as a table. The column LAST is the failure of the last attempt, or else the HTTP
// status. Texts may come from other systems, so they are made printable and put on one line.
func (d commands) printDeliveries(page reviewapi.DeliveryPage) error {
	w := d.t.Table()
	fmt.Fprintln(w, "ID\tWEBHOOK\tCHANGE\tEVENT\tSTATE\tATTEMPTS\tAGE\tLAST")
	for _, x := range page.Deliveries {
		last := oneLine(x.Failure)
		if last == "" && x.Status > 0 {
			last = strconv.Itoa(x.Status)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", x.ID, oneLine(x.Hook), oneLine(x.Event.Change), oneLine(string(x.Event.Kind)), oneLine(string(x.State)), x.Attempts,
			age(time.Since(x.Event.At)), last)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if page.More {
		d.t.Notef("more: --before %d", page.Deliveries[len(page.Deliveries)-1].ID)
	}
	return nil
}

// redeliver returns the command changes redeliver. It checks the id because the id becomes part of a path.
func (d commands) redeliver() *cobra.Command {
	return &cobra.Command{
		Use:   "redeliver ID",
		Short: "Send a notification again that is dead, or was sent",
		Args:  terminal.These(1, "the delivery's ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := strconv.ParseUint(args[0], 10, 63); err != nil {
				return config.Usagef("%q is not the id of a delivery", args[0])
			}
			var done map[string]int64
			raw, err := d.ask(cmd.Context(), http.MethodPost, "/api/deliveries/"+args[0]+"/redeliver", map[string]any{}, &done)
			if err != nil {
				return err
			}
			if d.t.JSON {
				d.t.Printf("%s\n", raw)
				return nil
			}
			d.t.Printf("Delivery %s waits again.\n", args[0])
			return nil
		},
	}
}
