// Package policyops answers operators' questions about rules.
//
//	policy.Policy, tools ─NewRegime→ Regime
//	Regime ─Findings, RunTests, ExplainCall→ report
//	recorded calls ─Trial: old Side, new Side→ DiffReport
//
// It reads rules, catalogues and audit records, and never records of a class. Each answer names the rule that decides.
// Its callers pass samples of values in FieldValues.
//
// Report says, for each class, which fields are visible and why. Findings are questionable places of a configuration.
// RunTests runs the tests that operators write for their rules. ExplainCall says why a recorded call was refused, and
// whether it still would be. A Trial judges recorded calls under two configurations and returns the differences.
//
// The commands are in cmd/bailiwick/internal/operate. Package console shows the same answers, and package scaffold
// takes the Floor from it: the fields visible without any rule.
package policyops
