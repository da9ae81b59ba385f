package config

import (
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/oidc"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// signIn returns the shape of the sign-in of people at the issuer.
func (c *Config) signIn(into **oidc.SignInOptions) yamlconf.Shape {
	s := &oidc.SignInOptions{}
	return yamlconf.Object([]yamlconf.Key{
		{Name: "client_id", Doc: "What the issuer calls this gateway. Register the address of the gateway and /console/sign-in/callback there", Must: true, Shape: yamlconf.Words(&s.ClientID)},
		{Name: "client_secret", Doc: "The client's secret. A client without one is public, and PKCE alone protects its codes", Shape: yamlconf.Secret("a secret, as ${NAME}", func(_, text string) string {
			s.Secret = text
			return ""
		})},
		{Name: "name", Doc: "What the button of the sign-in page calls the issuer. Default its host", Shape: yamlconf.Words(&s.Name)},
		{Name: "scopes", Doc: "What to ask the issuer for beside openid. Default profile and email", Shape: yamlconf.List(&s.Scopes, "scopes", nil)},
		{Name: "claims", Doc: "What the claims of a person mean, such as which groups have which rights. All who sign in are humans unless kind says otherwise. " +
			"Default those of auth.oidc.claims. Owner is email, which the issuer must have verified", Shape: mapping(&s.Claims)},
		{Name: "step_up", Doc: "What breaking the glass takes", Shape: yamlconf.Object([]yamlconf.Key{
			{Name: "max_age", Doc: "The longest time since the person proved who they are. Default 15m", Shape: yamlconf.Span(&c.Auth.Fresh, time.Minute, 24*time.Hour)},
			{Name: "acr", Doc: "The levels of the issuer that prove enough, such as one with two factors. Those who came with less sign in again. Default any", Shape: yamlconf.List(&s.Levels, "levels", nil)},
		}, yamlconf.NotEmpty)},
	}, func(*yamlconf.Reader, yamlconf.Node, string) { *into = s })
}
