// want: cannot use c (variable of type *schema.Class) as *policy.View value
package main

import (
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

func plan(c *schema.Class) policy.Plan { return policy.Plan{View: c} }

func main() {}
