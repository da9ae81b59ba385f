package app

// SecretsOf returns the credentials of all sources.
var SecretsOf = secretsOf
