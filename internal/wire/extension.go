package wire

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/internal/once"
)

// An Extension adds tools and other features. The zero Extension adds nothing.
type Extension struct {
	Options func(*sdk.ServerOptions)   // modifies the SDK's options. May be nil
	Mount   func(*sdk.Server, RawTool) // adds features. May be nil

	// StateKey encrypts the requestState of tools that ask the client for input. It has 32 bytes and must be the same
	// on all replicas. With nil, a random key is generated.
	StateKey []byte

	// Used stores the requestStates that were already used, for all replicas with the same StateKey. It is required
	// with StateKey.
	Used once.Store
}

// A RawTool adds a tool written against the SDK after the server's own tools. Each run of its handler is admitted and
// audited as one call. Its requestState is encrypted. Of the SDK's tools, only those added with RawTool are listed
// and can be called.
type RawTool func(*sdk.Tool, sdk.ToolHandler)
