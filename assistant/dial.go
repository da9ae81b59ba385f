package assistant

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"github.com/bailiwick-dev/bailiwick/internal/client"
)

// Dial connects to the gateway at address, such as http://127.0.0.1:8420/mcp, with a token. "" means no token.
func Dial(ctx context.Context, address, token string) (Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the gateway's URL must be like http://127.0.0.1:8420/mcp")
	}
	c, err := client.Dial(ctx, u, token, version)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Stream connects to a gateway in the same program. mcp.Server.ServeStream writes to in and reads from out.
func Stream(ctx context.Context, in io.ReadCloser, out io.WriteCloser) (Client, error) {
	c, err := client.Stream(ctx, in, out, version)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// version is the client version sent to the gateway.
const version = "assistant"
