package console

import "cmp"

// A sourcesPage lists the connected systems.
type sourcesPage struct {
	Sources []Source
	Ill     int
}

// sources shows the current status of the connected systems.
func (c *Console) sources(v *visit) error {
	p := sourcesPage{Sources: c.options.Sources(v.ctx())}
	for i, s := range p.Sources {
		if !s.Well {
			p.Ill++
			p.Sources[i].Detail = cmp.Or(s.Detail, "It doesn't answer. The log says why.")
		}
	}
	return c.render(v, "sources", frame{Title: "Sources", At: Path + "/sources", Page: p})
}
