// Command supportbot answers questions about an application, one per line, through a gateway that limits what it can
// see.
//
//	LLM_PROVIDER=ollama go run ./examples/supportbot -url http://127.0.0.1:8420/mcp -token bw_…
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/bailiwick-dev/bailiwick/assistant"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:8420/mcp", "the gateway")
	token := flag.String("token", os.Getenv("BAILIWICK_TOKEN"), "its token")
	flag.Parse()
	if err := run(context.Background(), *url, *token); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url, token string) error {
	gateway, err := assistant.Dial(ctx, url, token)
	if err != nil {
		return err
	}
	defer gateway.Close() //nolint:errcheck // it was only read
	bot, err := assistant.New(assistant.Options{
		Client:    gateway,
		Provider:  assistant.FromEnvironment(os.LookupEnv),
		System:    "You are on the support desk. Answer in at most three sentences.",
		CompactAt: 50_000,
	})
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		answer, err := bot.Reply(ctx, lines.Text())
		if err != nil {
			return err
		}
		fmt.Printf("%s\n(%d calls, %s)\n", answer.Text, len(answer.Calls), answer.Usage)
	}
	return nil
}
