// want: cannot refer to unexported field plan in struct literal of type policy.Permit
package main

import "github.com/bailiwick-dev/bailiwick/policy"

func main() { _ = policy.Permit{plan: &policy.Plan{}} }
