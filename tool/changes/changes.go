// Package changes has the tools that propose and follow writes, for programs with their own gateway. A gateway from
// package serve already has them.
package changes

import (
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// Options configure a Toolset. Gateway is required. Link returns the address where people see the change with an id.
// Nil means its path in the console.
type Options = tools.ChangeOptions

// A Toolset makes the tools. Its method Tools returns those that create, update and delete records, and those that
// list, show, await and cancel changes. It also returns a tool for each action in force that is declared as a tool.
// ToolsOf is like Tools, for other actions.
type Toolset = tools.ChangeTools

// New returns the Toolset of o.
func New(o Options) *Toolset { return tools.NewChangeTools(o) }

// APIs returns the tools that search, read and call HTTP APIs: search_api, call_api_read and call_api_write. Calls of
// the last one become changes of t.
func APIs(t *Toolset) []tool.Tool { return tools.NewAPITools(t).Tools() }
