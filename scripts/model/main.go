// Command model serves a model that goes by a script, in the formats of all providers: what "bailiwick chat" and
// "bailiwick ask" can talk to about the demo's tracker without a real one.
//
//	go run ./scripts/model
//	LLM_PROVIDER=compatible LLM_BASE_URL=http://127.0.0.1:8425/v1 LLM_MODEL=script bailiwick chat --url … --token …
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/assistant/scripted"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8425", "where to serve")
	flag.Parse()
	plans := scripted.Tracker()
	fmt.Printf("listening on http://%s/v1; it knows the answers to:\n", *listen)
	for _, p := range plans {
		fmt.Println("  " + p.Question)
	}
	s := &http.Server{Addr: *listen, Handler: &scripted.Server{Script: scripted.Rules(plans)}, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(s.ListenAndServe())
}
