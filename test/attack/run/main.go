// Command run makes the attacks of package attack on a server. It prints each that succeeded, and a table.
//
//	go run ./test/attack/run -world > world.sql          # then: sqlite3 world.db < world.sql, and serve world.db to an agent of the tenant acme
//	go run ./test/attack/run -url http://127.0.0.1:8420/mcp -token bw_… -sql query_sql:sql
//	go run ./test/attack/run -sql execute_sql:sql -- npx @bytebase/dbhub --transport stdio --dsn sqlite:///path/of/world.db
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/test/attack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	world := flag.Bool("world", false, "print the SQL of the database to attack")
	url := flag.String("url", "", "the `URL` of the MCP endpoint. Without it a command follows, which is served over stdio")
	token := flag.String("token", os.Getenv("ATTACK_TOKEN"), "the agent's token (default $ATTACK_TOKEN)")
	sql := flag.String("sql", "query_sql:sql", "the `TOOL:ARGUMENT` that takes SQL")
	state := flag.String("state", "", "a shell `COMMAND` that prints what the database holds. Without it attacks that write are not made")
	only := flag.String("only", "", "make only the attacks of sections that match this `EXPRESSION`")
	flag.Parse()
	sections, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if *world {
		fmt.Print(attack.World())
		return nil
	}
	t := attack.Target{Token: *token}
	t.SQLTool, t.SQLName, _ = strings.Cut(*sql, ":")
	if *state != "" {
		t.State = func() (string, error) {
			out, err := exec.CommandContext(ctx, "sh", "-c", *state).Output()
			return string(out), err
		}
	}
	switch {
	case *url != "":
		w, err := attack.Dial(ctx, *url, *token)
		if err != nil {
			return err
		}
		t.Server, t.Web = w, strings.TrimSuffix(*url, "/mcp")
	case flag.NArg() > 0:
		p, err := attack.Start(ctx, flag.Args())
		if err != nil {
			return err
		}
		defer p.Close()
		t.Server = p
	default:
		return errors.New("give -url, or a command")
	}
	all, err := attack.Run(ctx, t, slices.DeleteFunc(attack.Cases(), func(c attack.Case) bool { return !sections.MatchString(c.Section) }))
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Outcome == attack.Fell {
			fmt.Printf("%s\n  %s\n  %s\n", r.Section, r.Name, r.Why)
		}
	}
	fmt.Print(attack.Table(all))
	return nil
}
