package endtoend

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSeedsDrawTheSame checks that worlds, rules and calls depend only on a seed. Otherwise a detected difference
// could not be reproduced.
func TestSeedsDrawTheSame(t *testing.T) {
	for name, draw := range map[string]func(*rand.Rand) (worlds []world, of string){
		"worlds": func(r *rand.Rand) ([]world, string) {
			m := &maker{r, profiles()[r.IntN(3)]}
			seen := m.visible()
			return []world{seen, m.whole(seen), m.whole(seen)}, m.who.ID
		},
		"policies": func(r *rand.Rand) ([]world, string) {
			d := (&drawer{r}).policy()
			m := &maker{Rand: r}
			w := m.any()
			other, _ := m.unnoticed(w, &d)
			return []world{w, other}, d.observation(w)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(10) {
				var first string
				for range 3 { // small maps sometimes have the same order by chance
					r := rand.New(rand.NewPCG(seed, 2))
					worlds, of := draw(r)
					text := of
					for _, w := range worlds {
						text += strings.Join(w.load(false), "\n")
					}
					a := &asker{Rand: r}
					for range 20 {
						c := a.call()
						text += fmt.Sprint(c.Name, c.Arguments)
					}
					if first == "" {
						first = text
					}
					if text != first {
						at := 0
						for at < min(len(first), len(text)) && first[at] == text[at] {
							at++
						}
						t.Fatalf("seed %d draws %.100q and %.100q", seed, first[at:], text[at:])
					}
				}
			}
		})
	}
}
