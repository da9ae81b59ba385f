// Package extension adds tools and features made with the SDK alone to the MCP transport: the fixtures of the official
// conformance suites (test/conformance), and nothing that is served to agents.
package extension

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/internal/once"
)

// An Extension adds tools and features. The zero Extension adds none.
type Extension struct {
	Options func(*sdk.ServerOptions) // modifies the SDK's options; may be nil
	Mount   func(*sdk.Server, Raw)   // adds features; may be nil

	// StateKey seals the requestState of tools that ask back: 32 bytes, the same on all replicas. Nil generates a
	// random one.
	StateKey []byte

	// Used stores which requestStates were used, for all replicas with the same StateKey; required with StateKey.
	Used once.Store
}

// A Raw adds a tool made with the SDK behind the server's tools: each run of its handler is admitted and audited as
// one call, and its requestState is sealed. Of the SDK's tools, only those added with Raw are listed and can be
// called.
type Raw func(*sdk.Tool, sdk.ToolHandler)
