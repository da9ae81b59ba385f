package console

import (
	"embed"

	"github.com/bailiwick-dev/bailiwick/problem"
)

//go:embed assets
var assetFiles embed.FS

// asset serves one file that pages reference.
func (c *Console) asset(v *visit) error {
	a, ok := c.assets[v.r.PathValue("name")]
	if !ok {
		return problem.New(problem.NotFound, "No page has this address.")
	}
	a.ServeHTTP(v.w, v.r)
	return nil
}
