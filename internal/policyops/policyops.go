// Package policyops answers operators' questions about rules.
//
//	report:   what do the rules show of each class, and what may this principal do?
//	findings: what should somebody look at, although the rules work?
//	test:     do the rules do what the files of tests say?
//	diff:     which recorded calls would end in another way under other rules?
//
// It reads rules and catalogues, and never data. Each answer names the rule that decides. The commands are in
// cmd/bailiwick/internal/operate.
package policyops
