// SPDX-License-Identifier: Apache-2.0

// Package proof makes the lines of evidence: it compiles the examples under the plans, finds their circuits, chooses
// which to prove, and compares the engines on them.
package proof

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"lathe/emit/circuit"
	"lathe/emit/verilog"
	"lathe/internal/driver"
	"lathe/internal/evidence"
	"lathe/internal/npz"
	"lathe/internal/workers"
	"lathe/ir/ref"
)

// Default is the name of no plan.
const Default = "default"

// extra plans are shown on one file of each model.
var extra = []string{"mixed", "wrap", "pack", "serial", "unroll"}

// InHardware are the files of the examples below a folder that match a pattern, without those of transformers, which
// run in float, and of operators of its own, which are read with a file that declares them.
func InHardware(examples, pattern string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(examples, "*", pattern))
	return slices.DeleteFunc(files, func(f string) bool {
		return slices.Contains([]string{"bert-tiny-like", "digits-vit", "own-layers", "tiny-bert", "tiny-gpt2", "tiny-llama"},
			filepath.Base(filepath.Dir(f)))
	}), err
}

// Uses are all ONNX files of the examples under no plan and all plans, the extra plans on one file only.
func Uses(examples string) ([]evidence.Use, error) {
	files, err := InHardware(examples, "*.onnx")
	if err != nil {
		return nil, err
	}
	plans, err := filepath.Glob(filepath.Join(examples, "plans", "*.toml"))
	if err != nil || len(files) == 0 || len(plans) == 0 {
		return nil, fmt.Errorf("%s: %d model files, %d plans (%v)", examples, len(files), len(plans), err)
	}
	var all []evidence.Use
	for _, f := range files {
		model := filepath.Base(filepath.Dir(f))
		for _, p := range append([]string{Default}, plans...) {
			u := evidence.Use{Model: model, File: filepath.Base(f), Plan: strings.TrimSuffix(filepath.Base(p), ".toml")}
			tooWide := u.Plan == "wide" && slices.Contains([]string{"digits-lstm", "digits-gru"}, model) // 8 inputs, 16 lanes
			if (u.File == "model.onnx" || !slices.Contains(extra, u.Plan)) && !tooWide {
				all = append(all, u)
			}
		}
	}
	return all, nil
}

// answered is how many stored samples the digest of answers is made of.
const answered = 32

// Design is a use that is compiled.
type Design struct {
	evidence.Use
	Circuit *circuit.Circuit // nil where Use.Failure says why
	II      int              // cycles of a sample
	// job is what Verify takes, with the stored samples; nil after a survey.
	job *driver.Job
}

// Compile compiles a use of the examples in a folder. Failure says why it cannot be.
func Compile(ctx context.Context, examples string, u evidence.Use, proven []circuit.Edge) *Design {
	d := &Design{Use: evidence.Use{Model: u.Model, File: u.File, Plan: u.Plan}}
	if err := d.compile(ctx, examples, proven); err != nil {
		d.Failure, _, _ = strings.Cut(err.Error(), "\n")
	}
	return d
}

func (d *Design) compile(ctx context.Context, examples string, proven []circuit.Edge) error {
	j, err := jobOf(ctx, examples, d.Use)
	if err != nil {
		return err
	}
	c, err := circuit.Of(j.HW.Design)
	if err != nil {
		return err
	}
	samples := j.Samples[:min(answered, len(j.Samples))]
	outputs, err := driver.Evaluate(ctx, j.HW.Scheduled, samples)
	if err != nil {
		return err
	}
	h := sha256.New()
	hashSamples(h, samples)
	hashSamples(h, outputs)
	d.Answers = hex.EncodeToString(h.Sum(nil))[:16]
	d.job, d.Circuit, d.II, d.Use.Circuit = j, c, j.HW.Schedule.II(), c.Digest(nil)
	if as := c.Digest(proven); as != d.Use.Circuit {
		d.As = as
	}
	return nil
}

// jobOf is the hardware of a use, with the stored samples of its example.
func jobOf(ctx context.Context, examples string, u evidence.Use) (*driver.Job, error) {
	dir := filepath.Join(examples, u.Model) + "/"
	s := driver.Source{Model: dir + u.File, Calibrate: dir + "calib.npz"}
	if u.Plan != Default {
		s.Plan = filepath.Join(examples, "plans", u.Plan+".toml")
	}
	g, err := s.Import()
	if err != nil {
		return nil, err
	}
	q, err := s.Quantize(ctx, g)
	if err != nil {
		return nil, err
	}
	j, in, err := stored(ctx, q, dir)
	if err != nil {
		return nil, err
	}
	if j.Floats, _, err = driver.Samples(g, in); err != nil {
		return nil, err
	}
	j.Labels, err = driver.Labels(dir + "labels.npy")
	return j, err
}

// stored is the hardware of a quantized model with the samples of inputs.npz in a folder, and that file.
func stored(ctx context.Context, q *driver.Quantized, dir string) (*driver.Job, *npz.File, error) {
	hw, err := q.Emit(ctx, verilog.Options{Version: "test"})
	if err != nil {
		return nil, nil, err
	}
	in, err := npz.Read(dir + "inputs.npz")
	if err != nil {
		return nil, nil, err
	}
	j := &driver.Job{HW: hw}
	j.Samples, _, err = driver.Samples(hw.Scheduled, in)
	return j, in, err
}

// Survey compiles all uses; say, if not nil, hears of each.
func Survey(ctx context.Context, examples string, proven []circuit.Edge, say func(done, total int)) ([]*Design, error) {
	uses, err := Uses(examples)
	if err != nil {
		return nil, err
	}
	all := make([]*Design, len(uses))
	done := 0
	var lock sync.Mutex
	workers.Each(len(uses), func(i int) {
		all[i] = Compile(ctx, examples, uses[i], proven)
		all[i].job = nil
		lock.Lock()
		defer lock.Unlock()
		if done++; say != nil {
			say(done, len(uses))
		}
	})
	return all, ctx.Err()
}

func hashSamples(h hash.Hash, samples []ref.Sample) {
	for _, s := range samples {
		for _, v := range s {
			fmt.Fprintln(h, v.Codes, v.BlockScales, v.Floats)
		}
	}
}
