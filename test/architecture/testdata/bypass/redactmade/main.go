// want: cannot refer to unexported field seq in struct literal of type redact.Rows
package main

import "github.com/bailiwick-dev/bailiwick/internal/redact"

func main() { _ = redact.Rows{seq: nil} }
