// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lathe/frontend/hf"
	"lathe/frontend/source"
	"lathe/internal/choose"
	"lathe/internal/choose/space"
	"lathe/internal/diag"
	"lathe/search"
	"lathe/search/picture"
)

// presetFlags are those of a search, and how often it is repeated.
type presetFlags struct {
	searchFlags
	seeds int
	dir   string
}

func (a *App) searchPreset() *cobra.Command {
	var f presetFlags
	var names, lines []string
	for _, p := range space.Presets() {
		names = append(names, p.Name)
		lines = append(lines, fmt.Sprintf("%-13s%s", p.Name, p.Short))
	}
	c := a.verb("preset KIND MODEL --data X.npz -o DIR",
		"compare searches: samplers, widths, families of formats, new models",
		func(c *cobra.Command, args []string) error {
			if err := required(c, "data", "output"); err != nil {
				return err
			}
			if !c.Flags().Changed("storage") {
				f.storage = filepath.Join(f.dir, "studies.log")
			}
			if err := oneOf("KIND", args[0], names...); err != nil {
				return err
			}
			switch {
			case f.trials < 1:
				return usagef("--trials %d: at least 1", f.trials)
			case f.seeds < 1:
				return usagef("--seeds %d: at least 1", f.seeds)
			}
			if err := f.checkJobs(); err != nil {
				return err
			}
			if err := makeFolder(f.dir); err != nil {
				return err
			}
			if err := f.check(c); err != nil {
				return err
			}
			defer f.end()
			preset := space.Presets()[slices.Index(names, args[0])]
			return a.runPreset(c.Context(), &f, &preset, args[1])
		}, "KIND", "MODEL")
	f.add(c)
	for _, hidden := range []string{"study", "sampler", "seed", "repair", "pruner", "isolate", "trial-time"} {
		c.Flags().Lookup(hidden).Hidden = true
	}
	c.Flags().Lookup("storage").Usage = "where the studies are kept; default: studies.log in the folder of -o"
	c.Flags().IntVar(&f.trials, "trials", 50, "trials of each search")
	c.Flags().IntVar(&f.seeds, "seeds", 3, "how often each search is repeated, with seeds from 0")
	f.addJobs(c)
	c.Flags().StringVarP(&f.dir, "output", "o", "", "folder for curves (.svg, .pdf, .csv), spaces, plans and studies")
	c.Long = "Runs several searches of one model, each with several seeds, and draws the best value so far of each as\n" +
		"a curve. The same command goes on where it was interrupted, also with more trials or seeds. Kinds:\n  " +
		strings.Join(lines, "\n  ")
	c.Example = "  lathe search preset formats model.onnx --data x.npz --labels y.npy -o build/formats"
	return c
}

// best is what a search of a preset has found over all its seeds.
type best struct {
	Curve  string  `json:"curve"`
	Seed   int     `json:"seed"`
	Trial  int     `json:"trial"`
	Value  float64 `json:"value"`
	File   string  `json:"file"`
	Trials int     `json:"trials"`
}

func (a *App) runPreset(ctx context.Context, f *presetFlags, preset *space.Preset, model string) error {
	var sizes source.NewModel
	if preset.New {
		var err error
		if sizes, err = hf.Sizes(model); err != nil {
			return err
		}
		if f.labels == "" {
			return usagef("preset %s trains new models: add --labels, the classes of the samples of --data", preset.Name)
		}
		f.transformer.New = &source.NewModel{Layers: space.Deepest(sizes)}
	}
	measured, err := a.measured(ctx, &f.searchFlags, model)
	if err != nil {
		return err
	}
	a.printFacts(measured)
	var curves []picture.Curve
	var found []best
	var objective string
	table := [][]string{{"search", "best value", "seed", "trial", "file"}}
	for _, curve := range preset.Curves(measured, sizes) {
		runs, b, err := a.runCurve(ctx, f, preset, &curve, measured, model)
		if err != nil {
			return err
		}
		objective = runs.objective
		curves = append(curves, picture.Curve{Label: curve.Label, Runs: runs.histories})
		row := []string{curve.Label, "-", "-", "-", "none kept its limits"}
		if b != nil {
			found = append(found, *b)
			row = []string{curve.Label, fmt.Sprintf("%.6g", b.Value), fmt.Sprint(b.Seed), fmt.Sprint(b.Trial), b.File}
		}
		table = append(table, row)
	}
	if err := a.table(table); err != nil {
		return err
	}
	drawn := picture.Compare(preset.Title+": "+modelName(model), objective, curves)
	if _, err := a.writePictures(f.dir, &drawn); err != nil {
		return err
	}
	return a.writeJSON(map[string]any{"preset": preset.Name, "model": model, "objective": objective, "best": found})
}

// curveRuns are the studies of one curve.
type curveRuns struct {
	objective string
	histories []*search.History
}

// runCurve runs the studies of a curve, one for each seed, and writes its space and its best trial; nil where no trial
// keeps the limits.
func (a *App) runCurve(ctx context.Context, f *presetFlags, preset *space.Preset, curve *space.Curve, t *choose.Meter,
	model string) (runs curveRuns, found *best, err error) {
	file := filepath.Join(f.dir, curve.Name+".space.toml")
	if err := writeFile(file, []byte(curve.Text)); err != nil {
		return runs, nil, err
	}
	s, err := space.Read(file, []byte(curve.Text), t)
	if err != nil {
		return runs, nil, err
	}
	runs.objective = s.Names()[0]
	for seed := range f.seeds {
		b, err := newSearchStudy(t, s, curve.Sampler, uint64(seed))
		if err != nil {
			return runs, nil, diag.At(err, diag.SpaceSize, file)
		}
		f.study = fmt.Sprintf("%s %s %s %d", modelName(model), preset.Name, curve.Name, seed)
		if err := b.join(ctx, &f.searchFlags, false); err != nil {
			return runs, nil, err
		}
		texts := map[int]string{}
		if err := a.runTrials(ctx, b, f.trials, f.jobs, texts); err != nil {
			return runs, nil, err
		}
		h, err := b.History(ctx)
		if err != nil {
			return runs, nil, err
		}
		runs.histories = append(runs.histories, h)
		list, err := b.Best(ctx)
		if err != nil {
			return runs, nil, err
		}
		for _, n := range list {
			if v := h.Values(n)[0]; found == nil || h.Better(v, found.Value) {
				found = &best{Curve: curve.Label, Seed: seed, Trial: n, Value: v, Trials: f.trials}
				if found.File, err = b.write(ctx, n, texts, filepath.Join(f.dir, curve.Name)); err != nil {
					return runs, nil, err
				}
			}
		}
		if err := b.Storage.Close(); err != nil {
			return runs, nil, err
		}
	}
	return runs, found, nil
}
