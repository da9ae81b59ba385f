// Package policyops explains and tests rules for operators.
//
//	policy.Policy, tools ─NewRegime→ Regime
//	Regime ─Findings, RunTests, ExplainCall→ report
//	recorded calls ─Trial: old Side, new Side→ DiffReport
//
// It reads rules, catalogues and audit records. It never reads records of a class. Each answer names the deciding
// rule. Callers pass the results of sampled values in FieldValues.
//
// Report returns, for each class, the visible fields and the reasons. Findings returns questionable parts of a
// configuration. RunTests runs the tests that operators write for their rules. ExplainCall returns why a recorded
// call was refused, and whether the current rules would still refuse it. A Trial judges recorded calls under two
// configurations and returns the differences.
//
// The commands are in cmd/bailiwick/internal/operate. Package console shows the same answers. Package scaffold uses
// Floor, which returns the fields that are visible without any rule.
package policyops
