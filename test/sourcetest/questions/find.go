package questions

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// plain removes case, accents and spaces from texts of the shop.
var plain = strings.NewReplacer("à", "a", "å", "a", "è", "e", "é", "e", "ê", "e", "û", "u", "ï", "i", "ø", "o", " ", "", "-", "", "_", "")

// finds checks find_values. For some texts it must return the fields of the shop that contain the text, its spelling
// and the count.
func finds(t *testing.T, set *tool.Set) {
	for _, wanted := range []string{"SAVE10", "save10", "Save 10", "Crème brûlée", "creme brulee", "CREME", "Bjørn", "bjorn 1", "året", "API-1", "api 1", "naïve\\mug", "NO", "100% wool", "cancelled", "nothing of it", "Jp"} {
		res, err := set.Call(t.Context(), reader, tool.Request{Name: "find_values", Arguments: value.OfObject([]value.Member{{Name: "text", Value: value.OfString(wanted)}})})
		if err != nil {
			p := problem.Of(err)
			t.Fatal(wanted, p.Text(), p.Err)
		}
		doc, err := value.Read(res.Structured, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		found, _ := doc.Get("found")
		for _, h := range found.List() {
			words := make([]string, 4)
			for i, name := range []string{"class_name", "field", "match", "records"} {
				v, _ := h.Get(name)
				words[i] = strings.Trim(v.String(), `"`)
			}
			got = append(got, strings.Join(words, " "))
		}
		slices.Sort(got)
		if want := findText(t, wanted); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q\n%s", wanted, got, want, res.Text)
		}
	}
}

// findText searches the tables of the shop for a text. It returns lines "class field match records".
func findText(t *testing.T, wanted string) []string {
	counts := map[string]int{}
	tables, _ := mustRead(t, shop).Get("tables")
	for _, table := range tables.List() {
		name, _ := table.Get("name")
		columns, _ := table.Get("columns")
		rows, _ := table.Get("rows")
		for i, c := range columns.List() {
			is, _ := c.Get("type")
			field, _ := c.Get("name")
			if is.Text() != "text" {
				continue
			}
			for _, r := range rows.List() {
				cell := r.List()[i]
				if cell.IsNull() {
					continue
				}
				text, how := cell.Text(), ""
				folded, prefix := plain.Replace(strings.ToLower(text)), plain.Replace(strings.ToLower(wanted))
				switch {
				case text == wanted:
					how = "exact"
				case folded == prefix:
					how = "other spelling"
				case strings.HasPrefix(folded, prefix):
					how = "begins with it"
				}
				if how != "" {
					counts[name.Text()+" "+field.Text()+" "+how]++
				}
			}
		}
	}
	var out []string
	for at, n := range counts {
		out = append(out, fmt.Sprint(at, " ", min(n, 50)))
	}
	slices.Sort(out)
	return out
}
