// Package health explains faults in words that an operator can act on.
//
//	an error of the network, TLS or a database → what is wrong, and what to do
//	the processes that share a store → which one differs: rules, audit key, program, clock
//
// Stores and sources use the package to classify their faults. The server reports the faults in its log, in /readyz
// and in its metrics. The command doctor prints them.
package health
