// SPDX-License-Identifier: Apache-2.0

package sweeps

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"lathe/internal/diag"
	"lathe/internal/training"
	"lathe/ir/text"
	"lathe/lower/plan"
)

// floats are float models of seeds, in files of a folder that goes when the sweep ends.
type floats struct {
	options *Options
	folder  string
	known   map[int]string
}

// of is the file of the model of a seed.
func (f *floats) of(ctx context.Context, e *shared, seed int) (string, error) {
	o := f.options
	if o.Fresh == 0 {
		return o.Task.Source.Model, nil
	}
	if f.known == nil {
		f.known = map[int]string{}
		var err error
		if f.folder, err = os.MkdirTemp("", "lathe-floats-"); err != nil {
			return "", diag.New(diag.FileWrite, os.TempDir(), "cannot write: %v", err)
		}
	}
	if path, ok := f.known[seed]; ok {
		return path, nil
	}
	t := o.Task
	t.Folder, t.AtEnd, t.Engine, t.Eval, t.EvalLabels = "", true, e.engine, "", ""
	t.Adjust = func(p *plan.Plan) (*plan.Plan, error) {
		out := *p
		out.Train.Method, out.Train.Init, out.Train.Epochs, out.Train.Seed = "sft", "random", o.Fresh, uint64(seed)
		out.Prune, out.LoRA, out.Bits, out.Distill = plan.Prune{}, plan.LoRA{}, plan.Bits{}, plan.Distill{}
		return &out, nil
	}
	trained, err := training.Run(ctx, &t)
	if err != nil {
		return "", err
	}
	path := filepath.Join(f.folder, fmt.Sprintf("seed-%d.lathe", seed))
	f.known[seed] = path
	return path, text.Save(path, trained.Graph)
}

func (f *floats) remove() {
	if f.folder != "" {
		os.RemoveAll(f.folder)
	}
}
