// want: cannot use q (variable of type *query.Find) as policy.Permit value
package main

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
)

func read(s source.Source, q *query.Find) { s.Read(context.Background(), q) }

func main() {}
