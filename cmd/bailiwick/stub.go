package main
import "github.com/spf13/cobra"
func initCommand(t *terminal) *cobra.Command { return &cobra.Command{Use:"init"} }
