// want: v.layers undefined (type *policy.View has no field or method layers
package main

import "github.com/bailiwick-dev/bailiwick/policy"

func open(v *policy.View) { v.layers = nil }

func main() {}
