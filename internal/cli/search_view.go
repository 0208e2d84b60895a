// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/search"
)

// objectiveNames are those that a study has, or numbers.
func objectiveNames(info *search.StudyInfo) []string {
	var names []string
	if json.Unmarshal(info.System[search.NamesKey], &names) == nil && len(names) == len(info.Directions) {
		return names
	}
	names = nil
	for i := range info.Directions {
		names = append(names, fmt.Sprintf("value %d", i))
	}
	return names
}

// shown is a trial as status, best and front print it.
type shown struct {
	Trial  int                        `json:"trial"`
	State  string                     `json:"state"`
	Values map[string]float64         `json:"values,omitempty"`
	Params map[string]json.RawMessage `json:"params"`
	Attrs  search.Attributes          `json:"attributes,omitempty"`
	trial  *search.Trial
}

// show reads trials by their numbers; of those with the same parameters the first.
func show(ctx context.Context, s *search.Study, numbers []int) ([]shown, error) {
	all, err := s.Storage.Trials(ctx, s.Info.ID, 0, nil)
	if err != nil {
		return nil, err
	}
	names := objectiveNames(s.Info)
	var out []shown
	for _, n := range numbers {
		t := all[n]
		if _, same := s.Same(t); same {
			continue
		}
		v := shown{Trial: n, State: t.State.String(), Values: map[string]float64{}, Params: values(t.Params),
			Attrs: t.User, trial: t}
		v.correct(s)
		for i := range v.trial.Values {
			v.Values[names[i]] = v.trial.Values[i]
		}
		out = append(out, v)
	}
	return out, nil
}

// correct puts what was measured of the trial in place of what was predicted.
func (v *shown) correct(s *search.Study) {
	m, ok := s.Measured(v.Trial)
	if !ok {
		return
	}
	v.trial = v.trial.Clone()
	v.trial.Values = m.Values
	v.Attrs = v.trial.User
	for name, figure := range m.Figures {
		v.Attrs[name] = search.Encode(figure)
	}
	v.Attrs["simulated"], v.Attrs["mismatches"] = search.Encode(m.Samples), search.Encode(m.Mismatches)
}

// printTrials prints trials as a table: objectives, further figures, parameters.
func (a *App) printTrials(ctx context.Context, s *search.Study, numbers []int) error {
	list, err := show(ctx, s, numbers)
	if err != nil {
		return err
	}
	facts := map[string]any{"study": s.Info.Name, "objectives": objectiveNames(s.Info), "best": list}
	if len(list) == 0 {
		fmt.Fprintln(a.Out, "no trial has completed without breaking a limit")
		return a.writeJSON(facts)
	}
	if err := a.table(trialTable(s.Info, list)); err != nil {
		return err
	}
	return a.writeJSON(facts)
}

// trialTable is trials as rows of text, the heads first: objectives, further figures, parameters.
func trialTable(info *search.StudyInfo, list []shown) [][]string {
	names := objectiveNames(info)
	more := map[string]bool{}
	for _, v := range list {
		for key, raw := range v.Attrs {
			var number float64
			if json.Unmarshal(raw, &number) == nil && !slices.Contains(names, key) && !strings.HasPrefix(key, "lathe:") {
				more[key] = true
			}
		}
	}
	keys := slices.Sorted(maps.Keys(more))
	rows := [][]string{slices.Concat([]string{"trial"}, names, keys, []string{"parameters"})}
	for _, v := range list {
		row := []string{fmt.Sprint(v.Trial)}
		for i := range names {
			row = append(row, diag.Number(v.trial.Values[i], 6))
		}
		for _, key := range keys {
			var number float64
			text := ""
			if json.Unmarshal(v.Attrs[key], &number) == nil {
				text = diag.Number(number, 6)
			}
			row = append(row, text)
		}
		var params []string
		for _, p := range v.trial.Params {
			params = append(params, p.Name+"="+p.Dist.Text(p.Value))
		}
		rows = append(rows, append(row, strings.Join(params, " ")))
	}
	return rows
}

// watch is a command that looks at a study.
func (a *App) watch(words, short string, run func(ctx context.Context, s *search.Study) error) *cobra.Command {
	var f keptFlags
	c := a.verb(words, short, func(c *cobra.Command, _ []string) error {
		s, end, err := f.find(c.Context())
		if err != nil {
			return err
		}
		defer end()
		return run(c.Context(), s)
	})
	f.add(c)
	c.Example = "  lathe search " + words + " --storage run.log"
	return c
}

func (a *App) searchBest() *cobra.Command {
	return a.watch("best", "print the best trial of a study of one objective", func(ctx context.Context,
		s *search.Study) error {
		if n := len(s.Info.Directions); n > 1 {
			return usagef("study %q has %d objectives: lathe search front prints the trials that nothing beats", s.Info.Name, n)
		}
		best, err := s.Best(ctx)
		if err != nil {
			return err
		}
		return a.printTrials(ctx, s, best)
	})
}

func (a *App) searchFront() *cobra.Command {
	return a.watch("front", "print the trials of a study that no other one beats", func(ctx context.Context,
		s *search.Study) error {
		best, err := s.Best(ctx)
		if err != nil {
			return err
		}
		return a.printTrials(ctx, s, best)
	})
}

func (a *App) searchStatus() *cobra.Command {
	return a.watch("status", "say how far a study is", func(ctx context.Context, s *search.Study) error {
		h, err := s.History(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "study %s: %s\n", s.Info.Name, diag.Amount(h.Len(), "trial"))
		states := map[string]int{}
		for i, name := range search.States {
			if n := h.Count(search.State(i)); n > 0 {
				states[name] = n
				fmt.Fprintf(a.Out, "  %d %s\n", n, name)
			}
		}
		names := objectiveNames(s.Info)
		for i, name := range names {
			fmt.Fprintf(a.Out, "objective: %s, %s\n", name, strings.ToLower(s.Info.Directions[i].String()))
		}
		for _, key := range []string{search.SamplerKey, search.SeedKey} {
			if raw, ok := s.Info.User[key]; ok {
				fmt.Fprintf(a.Out, "%s: %s\n", strings.TrimPrefix(key, "lathe:"), strings.Trim(string(raw), `"`))
			}
		}
		return a.writeJSON(map[string]any{"study": s.Info.Name, "trials": h.Len(), "states": states, "objectives": names})
	})
}
