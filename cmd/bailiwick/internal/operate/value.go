package operate

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// value returns the command changes value, which shows long values completely.
func (d commands) value() *cobra.Command {
	var item int
	var side, out string
	cmd := &cobra.Command{
		Use:   "value ID FIELD",
		Short: "Show a long value whole, which the approval of a change requires",
		Long: "Show a field whole, with what changes in it. A change is approved only by a person who has opened the values that show leaves out in part.\n" +
			"--side and --out write the exact value before or after to a file.",
		Example: "  bailiwick changes value 01m7 body\n  bailiwick changes value 01m7 body --side after --out body.txt",
		Args:    terminal.These(2, "the change's ID", "the field, as show names it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (out == "") != (side == "") {
				return config.Usagef("--side and --out go together: the side, before or after, and the file for its value")
			}
			sheet, _, err := d.sheet(cmd.Context(), http.MethodGet, args[0], "", nil)
			if err != nil {
				return err
			}
			q, err := placeOf(sheet, item, args[1])
			if err != nil {
				return err
			}
			if side != "" {
				q.Set("side", side)
				return d.download(cmd.Context(), "/api/changes/"+sheet.ID+"/value?"+q.Encode(), out)
			}
			return d.pages(cmd.Context(), sheet.ID, q)
		},
	}
	cmd.Flags().IntVar(&item, "item", 1, "the `NUMBER` of the record, of a change of several")
	cmd.Flags().StringVar(&side, "side", "", "before or after: the exact value")
	cmd.Flags().StringVar(&out, "out", "", "write the exact value to `FILE`")
	return cmd
}

// placeOf returns the request parameters for a field of a sheet.
func placeOf(sheet *review.Sheet, item int, field string) (url.Values, error) {
	if item < 1 || item > len(sheet.Items) {
		return nil, config.Usagef("--item must be from 1 to %d", len(sheet.Items))
	}
	var known []string
	for i, f := range sheet.Items[item-1].Fields {
		if f.Path == field {
			return url.Values{"item": {strconv.Itoa(item - 1)}, "field": {strconv.Itoa(i)}, "digest": {sheet.Digest}}, nil
		}
		known = append(known, f.Path)
	}
	return nil, config.Usagef("the change writes no field %q. It writes %s%s", field, oneLine(strings.Join(known, ", ")), problem.DidYouMean(problem.Nearest(field, known, 2)))
}

// pages prints all pages of a field.
func (d commands) pages(ctx context.Context, id string, q url.Values) error {
	for page, pages := 1, 1; page <= pages; page++ {
		q.Set("page", strconv.Itoa(page))
		var w review.Whole
		raw, err := d.ask(ctx, http.MethodGet, "/api/changes/"+id+"/value?"+q.Encode(), nil, &w)
		if err != nil {
			return err
		}
		if pages = w.Pages; d.t.JSON {
			d.t.Printf("%s\n", raw)
			continue
		}
		if page == 1 {
			d.t.Printf("%s\n", terminal.Style(terminal.Bold, oneLine(w.Path)))
			for _, side := range []struct {
				name string
				of   *review.Size
			}{{"before", w.Before}, {"after", w.After}} {
				if side.of != nil {
					d.t.Printf("  %-7s %d characters, SHA-256 %s\n", side.name, side.of.Length, oneLine(side.of.Digest))
				}
			}
		}
		d.t.Printf("%s", markChanges(w.Words))
	}
	if !d.t.JSON {
		d.t.Printf("\n")
	}
	return nil
}

// markChanges returns words as text. Removed and added words are marked by signs that don't depend on colour.
func markChanges(words []review.Word) string {
	var out strings.Builder
	for _, w := range words {
		switch text := sanitize(w.Text); w.Kind {
		case "removed":
			out.WriteString(styledLines(terminal.Red, "[-"+text+"-]"))
		case "added":
			out.WriteString(styledLines(terminal.Green, "{+"+text+"+}"))
		default:
			out.WriteString(text)
		}
	}
	return out.String()
}

// download writes an exact value to a file or to standard output.
func (d commands) download(ctx context.Context, path, out string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	res, err := d.open(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the value: %w", err)
	}
	if err := os.WriteFile(out, text, 0o600); err != nil {
		return fmt.Errorf("write the value: %w", err)
	}
	d.t.Notef("%d bytes, digest %s", len(text), oneLine(res.Header.Get("Repr-Digest")))
	return nil
}
