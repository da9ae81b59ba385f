// Command embed is an application that embeds Bailiwick: a small help desk over the demo tracker. It has its own
// sign-in and its own tools, and mounts the gateway at its own address.
//
//	go run ./examples/embed            serves http://127.0.0.1:8421, agents connect to /agents/mcp
//
// docs/embedding.md explains it step by step.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/bailiwick-dev/bailiwick/internal/demo"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8421", "where to serve")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *listen); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, listen string) error {
	dir, err := os.MkdirTemp("", "embed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder that stays is no harm
	path := filepath.Join(dir, "tracker.db")
	if err := demo.Create(ctx, path); err != nil {
		return err
	}
	d, err := newDesk(ctx, path)
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // it was only read
	l, err := d.server.Listen(listen)
	if err != nil {
		return err
	}
	fmt.Printf("agents connect to http://%s/agents/mcp as ana or bo, with that as the password too\n", listen)
	return d.server.Serve(ctx, l, d.handler()) // with limits on connections
}
