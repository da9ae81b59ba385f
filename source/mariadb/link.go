package mariadb

import (
	"context"

	"github.com/go-sql-driver/mysql"

	"github.com/bailiwick-dev/bailiwick/source"
)

// parseLinkURL parses a URL for connections over a link.
func parseLinkURL(rawURL string, link source.Link) (*mysql.Config, error) {
	cfg, err := parseURL(rawURL)
	if err != nil {
		return nil, err
	}
	if link.Dial != nil {
		cfg.DialFunc = link.Dial
	}
	account := link.Account(rawURL)
	err = cfg.Apply(mysql.BeforeConnect(func(_ context.Context, c *mysql.Config) error {
		if user, password, ok := account(); ok {
			c.User, c.Passwd = user, password
		}
		return nil
	}))
	return cfg, err
}
