package app

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/prompt"
)

// Prompts returns the prompts that c serves: the built-in prompts and the configured ones. Faults in a template are
// reported at its position in the file.
func Prompts(c *config.Config) ([]prompt.Prompt, error) {
	all := prompt.Builtin()
	faults := &config.Error{}
	for _, own := range c.Prompts {
		if slices.ContainsFunc(all, func(p prompt.Prompt) bool { return p.Name == own.Name }) {
			faults.Faults = append(faults.Faults, c.Wrong("is the name of a built-in prompt", "prompts", own.Name))
			continue
		}
		p := prompt.Prompt{Name: own.Name, Title: own.Title, Description: own.Description}
		for _, a := range own.Arguments {
			p.Arguments = append(p.Arguments, prompt.Argument{Name: a.Name, Description: a.Description, Required: a.Required})
		}
		p, err := prompt.FromTemplate(p, own.Template)
		if err != nil {
			faults.Faults = append(faults.Faults, c.Wrong("in its text, "+err.Error(), "prompts", own.Name, "template"))
			continue
		}
		all = append(all, p)
	}
	if faults.Faults != nil {
		return nil, faults
	}
	return all, nil
}

// openPrompts sets the prompts for the gateway and its tools.
func (p *App) openPrompts() error {
	all, err := Prompts(p.Config)
	if err != nil {
		return err
	}
	p.Prompts, err = prompt.NewSet(p.Gateway, p.Tools, all...)
	return err
}

// Announce makes s notify its clients of every change of the gateway, until stop is called.
func (p *App) Announce(s *mcp.Server) (stop func()) {
	return p.Gateway.Subscribe(func(e bailiwick.Event) {
		if e != bailiwick.WithheldChanged { // agents' views have already changed with other events
			s.NotifyAll()
		}
	})
}
