// want: cannot use rows (variable of func type source.Rows) as redact.Rows value
package main

import (
	"github.com/bailiwick-dev/bailiwick/internal/result/shape"
	"github.com/bailiwick-dev/bailiwick/source"
)

func show(rows source.Rows) { shape.Rows(rows, 1) }

func main() {}
