// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/search"
)

// replayFlag has search run try one trial again, see replayTrial.
const replayFlag = "replay-trial"

func (a *App) searchReplay() *cobra.Command {
	var f workerFlags
	var trial int
	c := a.verb("replay --trial N", "try a trial again, and compare what it is worth", func(c *cobra.Command,
		_ []string) error {
		if !c.Flags().Changed("trial") {
			return usagef("lathe search replay needs --trial")
		}
		r, study, err := f.remembered(c.Context())
		if err != nil {
			return err
		}
		if err := r.check(f.shown(), study); err != nil {
			return err
		}
		return a.again(c.Context(), &f, r, study, "--"+replayFlag+"="+strconv.Itoa(trial))
	})
	f.add(c)
	c.Flags().IntVar(&trial, "trial", 0, "number of the trial")
	c.Long = "Tries a finished trial of a study again, with model, samples and space of the command that made it, and\n" +
		"compares its state, values and figures with those that the study has. Exit status 1 where one differs."
	c.Example = "  lathe search replay --trial 12 --storage run.log"
	return c
}

// replayTrial tries a trial again, as far as it went.
func (a *App) replayTrial(ctx context.Context, b *searchStudy, number int) error {
	t, err := b.Trial(ctx, number)
	if err != nil {
		return diag.At(err, diag.StudyStorage, "")
	}
	if !t.State.Finished() {
		return diag.New(diag.TrialClosed, "", "trial %d is %s: only a finished one can be compared", number, t.State)
	}
	o, err := b.space.Try(ctx, b.model, t.Params, func(step int, _ float64) (bool, error) {
		return t.State == search.Pruned && len(t.Steps) > 0 && step >= t.Steps[len(t.Steps)-1].Step, nil
	})
	if err != nil {
		return err
	}
	var differs []string
	differ := func(what string, was, is any) {
		if fmt.Sprint(was) != fmt.Sprint(is) {
			differs = append(differs, fmt.Sprintf("%s was %v and is %v", what, was, is))
		}
	}
	differ("the state", t.State, o.State)
	for i, name := range objectiveNames(b.Info) {
		if i < len(t.Values) && i < len(o.Values) {
			differ(name, t.Values[i], o.Values[i])
		}
	}
	for _, attr := range o.Attrs {
		was := t.Attribute(attr.System, attr.Key)
		if was != nil && !slices.Contains(objectiveNames(b.Info), attr.Key) && !bytes.Equal(was, attr.Value) {
			differ(attr.Key, string(was), string(attr.Value))
		}
	}
	if err := a.writeJSON(map[string]any{"trial": number, "differs": differs}); err != nil {
		return err
	}
	if len(differs) > 0 {
		return diag.New(diag.StudyDiffers, "", "trial %d: %s", number, strings.Join(differs, "; "))
	}
	fmt.Fprintf(a.Out, "trial %d: the same again, %s\n", number, o.State)
	return nil
}
