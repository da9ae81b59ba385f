package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/agentcmd"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/docs"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// docsCommand returns the command docs, which serves, searches and prints the documentation of this version.
func docsCommand(t *terminal.Terminal) *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:     "docs",
		Short:   "Serve the documentation of this version, search it, or print a page",
		Long:    "Serve the documentation of this version as a site until Ctrl-C. Nothing is fetched from the network.",
		Example: "  bailiwick docs\n  bailiwick docs search tenant filter\n  bailiwick docs show policy",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return terminal.UnknownCommand(cmd, args[0])
			}
			site, err := docs.New()
			if err != nil {
				return err
			}
			return serveDocs(cmd.Context(), t, site, listen)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "`ADDR` to listen on. Port 0 chooses a free one")
	cmd.AddCommand(docsSearchCommand(t), docsShowCommand(t))
	return cmd
}

// serveDocs serves the documentation site at the address listen until ctx ends.
func serveDocs(ctx context.Context, t *terminal.Terminal, site *docs.Site, listen string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return config.Usagef("can't listen on %s. Choose another address with --listen", listen)
	}
	url := "http://" + l.Addr().String() + "/"
	if t.JSON {
		err = t.PrintJSON(struct {
			URL string `json:"url"`
		}{url})
	} else {
		t.Printf("Documentation: %s\n", url)
		t.Notef("Ctrl-C ends it.")
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	server := &http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// foundByCommand is the maximum number of sections that docs search prints.
const foundByCommand = 10

// docsSearchCommand returns the command docs search.
func docsSearchCommand(t *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "search WORDS...",
		Short:   "Find the sections of the documentation that hold all words",
		Example: "  bailiwick docs search search_path",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return config.Usagef("the words to search for are missing")
			}
			site, err := docs.New()
			if err != nil {
				return err
			}
			query := strings.Join(args, " ")
			found, all := site.Search(query, foundByCommand)
			if len(found) == 0 {
				return fmt.Errorf("no section holds any word of %s. Try other words, or see all pages with \"bailiwick docs show README\"", terminal.Printable(query))
			}
			if t.JSON {
				return t.PrintJSON(struct {
					All      bool         `json:"all_words"` // the sections contain every word
					Sections []docs.Found `json:"sections"`
				}{all, found})
			}
			if !all {
				t.Notef("No section holds every word. These hold some of them.")
			}
			for _, f := range found {
				t.Printf("%s#%s\n    %s\n", strings.TrimSuffix(f.Page, ".md"), f.Anchor, f.Excerpt)
			}
			t.Notef("\nbailiwick docs show PAGE#SECTION prints one.")
			return nil
		},
	}
}

// docsShowCommand returns the command docs show.
func docsShowCommand(t *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "show PAGE[#SECTION]",
		Short:   "Print a page of the documentation, or one section of it",
		Example: "  bailiwick docs show guides/your-database\n  bailiwick docs show limits#memory",
		Args:    terminal.These(1, "the page, such as policy or guides/your-api,"),
		RunE: func(_ *cobra.Command, args []string) error {
			site, err := docs.New()
			if err != nil {
				return err
			}
			text, err := site.Markdown(args[0])
			if err != nil {
				return config.Usage(err)
			}
			if t.JSON {
				return t.PrintJSON(struct {
					Page     string `json:"page"`
					Markdown string `json:"markdown"`
				}{args[0], string(text)})
			}
			if !t.OutIsTerminal() {
				_, err = t.Out.Write(text)
				return err
			}
			out := agentcmd.Markdown{Out: t.Out}
			out.Write(string(text))
			out.Close()
			return nil
		},
	}
}
