// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/search"
)

func (a *App) searchCopy() *cobra.Command {
	var f keptFlags
	var name string
	c := a.verb("copy TO", "copy a study into another storage: a journal, sqlite:///FILE or postgresql://...",
		func(c *cobra.Command, args []string) error {
			s, end, err := f.find(c.Context())
			if err != nil {
				return err
			}
			defer end()
			other := keptFlags{storage: args[0]}
			to, err := other.open(c.Context(), true)
			if err != nil {
				return err
			}
			defer to.Close()
			as := cmp.Or(name, s.Info.Name)
			n, err := search.Copy(c.Context(), s.Storage, s.Info, to, as)
			if err != nil {
				return diag.At(err, diag.StudyStorage, args[0])
			}
			fmt.Fprintf(a.Out, "copied study %s to %s: %s\n", as, args[0], diag.Amount(n, "trial"))
			return a.writeJSON(map[string]any{"study": as, "storage": args[0], "trials": n})
		}, "TO")
	f.add(c)
	c.Flags().StringVar(&name, "as", "", "name of the copy; default: that of the study")
	c.Long = "Copies a study with its trials, parameters, values and attributes, under the same numbers. A trial that\n" +
		"runs stays one that runs in the copy."
	c.Example = "  lathe search copy sqlite:///run.db --storage run.log"
	return c
}

func (a *App) searchDiff() *cobra.Command {
	var f keptFlags
	var other string
	c := a.verb("diff OTHER", "say where two studies differ first", func(c *cobra.Command, args []string) error {
		s, end, err := f.find(c.Context())
		if err != nil {
			return err
		}
		defer end()
		second := keptFlags{storage: args[0], study: cmp.Or(other, s.Info.Name)}
		o, endOther, err := second.find(c.Context())
		if err != nil {
			return err
		}
		defer endOther()
		return a.printStudyDiff(c.Context(), s, o, args[0])
	}, "OTHER")
	f.add(c)
	c.Flags().StringVar(&other, "other-study", "", "name of the study in OTHER; default: the same")
	c.Long = "Compares parameters, states, values and steps, trial by trial, and names the first difference; exit\n" +
		"status 1 where there is one. Times and attributes do not count."
	c.Example = "  lathe search diff again.log --storage run.log"
	return c
}

func (a *App) printStudyDiff(ctx context.Context, s, o *search.Study, where string) error {
	first, err := s.Storage.Trials(ctx, s.Info.ID, 0, nil)
	if err != nil {
		return err
	}
	second, err := o.Storage.Trials(ctx, o.Info.ID, 0, nil)
	if err != nil {
		return err
	}
	what := search.Differ(s.Info, o.Info, first, second)
	if err := a.writeJSON(map[string]any{"equal": what == "", "difference": what}); err != nil {
		return err
	}
	if what == "" {
		fmt.Fprintf(a.Out, "equal: %s\n", diag.Amount(len(first), "trial"))
		return nil
	}
	return diag.New(diag.StudyDiffers, where, "differs from study %q: %s", s.Info.Name, what)
}
