package mcp

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// emptySchema is the input schema of a tool without arguments.
var emptySchema = json.RawMessage(`{"type":"object","additionalProperties":false}`)

func errInternal() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Internal error"}
}

// errUnknownTool returns the error for a tool that does not exist or that the caller may not see.
func errUnknownTool() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool", Data: unknownTool}
}
