package console

// Routes returns the method and the pattern of each route.
func (c *Console) Routes() (all [][2]string) {
	for _, r := range c.routes() {
		all = append(all, [2]string{r.method, r.pattern})
	}
	return all
}
