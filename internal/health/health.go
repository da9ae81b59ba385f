// Package health says why something does not work, in words that an operator can act on.
//
//	an error of the network, TLS or a database → what is wrong, and what to do
//	the processes that share a store           → which one differs: rules, audit key, program, clock
//
// Stores and sources classify their faults with it. The server writes them to its log, /readyz and its metrics, and the
// command doctor prints them.
package health
