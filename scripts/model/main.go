// Command model serves a scripted model, in the formats of all providers. "bailiwick chat" and "bailiwick ask" can use it
// with the demo's tracker instead of a real one.
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

	"github.com/bailiwick-dev/bailiwick/test/scripted"
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
