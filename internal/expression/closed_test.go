package expression

import "testing"

// TestClosed checks that a comparison with a text that a field never has is a fault, with the near text.
func TestClosed(t *testing.T) {
	const ops = "It is one of create, update, delete, action, call, schema, group"
	c := NewCompiler()
	for text, want := range map[string]string{
		`change.op == "delete"`:                                                "",
		`change.op == "deleted"`:                                               `character 14 of the expression: change.op is never "deleted". Did you mean delete? ` + ops,
		`"destroyed" != change.op`:                                             `character 1 of the expression: change.op is never "destroyed". ` + ops,
		`change.op in ["create", "updat"]`:                                     `character 25 of the expression: change.op is never "updat". Did you mean update? ` + ops,
		`change["op"] == "x"`:                                                  `character 1 of the expression: change is followed by a field, such as change.op or change.rows`,
		`change.rows > 1 && (change.risk == "High" || change.rows > 3)`:        `character 36 of the expression: change.risk is never "High". Did you mean high? It is one of low, medium, high`,
		`change.risk == "high" ? true : change.risk == ""`:                     `character 47 of the expression: change.risk is never "". It is one of low, medium, high`,
		`principal.kind == "robot"`:                                            `character 19 of the expression: principal.kind is never "robot". It is one of agent, human, service`,
		`"operater" in principal.scopes`:                                       `character 1 of the expression: principal.scopes is never "operater". Did you mean operator? It is one of read, write, delete, schema, review, audit, operator, explain`,
		`principal.scopes.exists(s, s == "raed")`:                              `character 33 of the expression: principal.scopes is never "raed". Did you mean read? It is one of read, write, delete, schema, review, audit, operator, explain`,
		`principal.scopes.exists(s, s in ["read", "write"])`:                   "",
		`principal.scopes.all(s, s != "read") && principal.id == "any"`:        "",
		`principal.claims.roles.exists(s, s == "raed")`:                        "",
		`change.op == principal.claims.op || change.op.startsWith("d")`:        "",
		`principal.scopes.exists(s, s == "read") && ["x"].exists(s, s == "x")`: "",
	} {
		_, err := c.CompileChange(text)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestCheckNames checks comparisons with names of the configuration.
func TestCheckNames(t *testing.T) {
	known := map[string][]string{"change.class": {"app.issues", "app.users"}, "change.classes": {"app.issues", "app.users"}, "change.source": {"app"}, "change.tool": {"propose_changes"}}
	c := NewCompiler()
	for text, want := range map[string]string{
		`change.class == "app.issues" || change.class == ""`:                         "",
		`change.class == "app.isues"`:                                                `character 17 of the expression: change.class is never "app.isues". Did you mean app.issues or app.users?`,
		`change.class == "issues"`:                                                   `character 17 of the expression: change.class is never "issues". Did you mean app.issues?`,
		`"app.user" in change.classes`:                                               `character 1 of the expression: change.classes is never "app.user". Did you mean app.users?`,
		`change.classes.exists(c, c == "users")`:                                     `character 31 of the expression: change.classes is never "users". Did you mean app.users?`,
		`change.source in ["app", "shop"]`:                                           `character 26 of the expression: change.source is never "shop"`,
		`change.tool != "propose_change"`:                                            `character 16 of the expression: change.tool is never "propose_change". Did you mean propose_changes?`,
		`change.action == "anything" || change.class == change.source`:               "",
		`change.classes.exists(c, principal.claims.classes.exists(c, c == "users"))`: "",
	} {
		condition, err := c.CompileChange(text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := condition.CheckNames(known); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s\n%s\nwant\n%s", text, got, want)
		}
	}
}
