package wire

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/internal/once"
)

// An Extension adds tools and features. The zero Extension adds none.
type Extension struct {
	Options func(*sdk.ServerOptions)   // modifies the SDK's options. It may be nil
	Mount   func(*sdk.Server, RawTool) // adds features. It may be nil

	// StateKey seals the requestState of tools that ask back: 32 bytes, the same on all replicas. Nil generates a
	// random one.
	StateKey []byte

	// Used stores which requestStates were used, for all replicas with the same StateKey. It is required with StateKey.
	Used once.Store
}

// A RawTool adds a tool made with the SDK behind the server's tools. Each run of its handler is admitted and audited as
// one call, and its requestState is sealed. Of the SDK's tools, only those added with RawTool are listed and can be
// called.
type RawTool func(*sdk.Tool, sdk.ToolHandler)
