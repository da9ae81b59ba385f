package scaffold

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// TestCaches parses generated configurations with unusual names of connections and folders.
func TestCaches(t *testing.T) {
	d, err := OfCaches([]Cache{{"MyOrg", `My: "Org" ${HOME} #1`, []string{"../a b", "c: [d]"}, 3}, {"org_2", "true", []string{"."}, 4}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("f.yaml", []byte(d.Text), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	if one, two := c.Sources[0], c.Sources[1]; one.Name != "MyOrg" || one.Metadata.Connection != `My: "Org" ${HOME} #1` || strings.Join(one.Metadata.Roots, "|") != "../a b|c: [d]" ||
		two.Name != "org_2" || two.Metadata.Connection != "true" || d.Classes != 7 || d.Confirm != 2 {
		t.Errorf("%+v %+v\n%s", one.Metadata, two.Metadata, d.Text)
	}
}
