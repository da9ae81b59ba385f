// Command bailiwick-duckdb serves a configuration as "bailiwick serve" does, with sources in DuckDB: files of it, and
// folders of Parquet, CSV and JSON files.
//
//	bailiwick-duckdb -check bailiwick.yaml
//	bailiwick-duckdb -listen 127.0.0.1:8420 bailiwick.yaml
//
// It is a program of its own because DuckDB needs cgo. The command bailiwick does everything else: it makes tokens,
// asks, and reviews changes.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/bailiwick-dev/bailiwick/serve"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/duckdb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bailiwick-duckdb:", err)
		os.Exit(1)
	}
}

// run opens the configuration and serves it until ctx ends, or, with -check, lists its classes. Only loopback addresses are served.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bailiwick-duckdb", flag.ContinueOnError)
	listen := flags.String("listen", "", "the `address` at which agents and reviewers connect, in place of the configuration's listen. Only this machine can reach it (default 127.0.0.1:8420)")
	check := flags.Bool("check", false, "open everything, list the classes, and serve nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("name one configuration file: bailiwick-duckdb bailiwick.yaml")
	}
	s, err := serve.Open(ctx, flags.Arg(0), serve.Options{Open: open, Log: os.Stderr})
	if err != nil {
		return err
	}
	address := cmp.Or(*listen, s.Address(), "127.0.0.1:8420")
	if err := local(address); err != nil {
		return errors.Join(err, s.Close())
	}
	for _, w := range s.Warnings() {
		fmt.Fprintln(os.Stderr, "warning:", w)
	}
	if *check {
		for _, c := range s.Gateway().Catalogue() {
			fmt.Printf("%s.%s: %d fields\n", c.Source, c.Name, len(c.Fields))
		}
		return s.Close()
	}
	return errors.Join(served(ctx, s, address), s.Close())
}

// served answers requests until ctx ends, within the bounds on connections that "bailiwick serve" has.
func served(ctx context.Context, s *serve.Server, address string) (err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	at := "http://" + l.Addr().String()
	alive, stop := context.WithCancel(context.WithoutCancel(ctx)) // until the last call has ended
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	var running sync.WaitGroup
	running.Go(func() { s.Run(alive, at) })
	running.Go(func() { s.Watch(alive, hangup) })
	fmt.Fprintln(os.Stderr, "agents connect at", at+"/mcp")
	err = s.Serve(ctx, l)
	stop()
	running.Wait()
	return err
}

// local refuses an address that other machines can reach.
func local(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%s is not an address to listen on, such as 127.0.0.1:8420", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%s can be reached from other machines, and this program serves only its own. Listen at 127.0.0.1 (listen in the configuration, or -listen), and put a proxy that ends TLS in front", address)
	}
	return nil
}

// open implements serve.Options.Open.
func open(ctx context.Context, s serve.Source) (source.Adapter, error) {
	path, ok := strings.CutPrefix(s.URL, "duckdb:")
	if !ok {
		return nil, nil
	}
	opened, err := duckdb.Open(ctx, duckdb.Options{Name: s.Name, Path: path, LocalRows: s.LocalRows})
	if err != nil {
		return nil, err
	}
	return opened, nil
}
