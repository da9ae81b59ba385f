// want: cannot use rows (variable of func type source.Rows) as redact.Rows value
package main

import (
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/source"
)

func show(rows source.Rows) { result.NewPage(rows, 1) }

func main() {}
