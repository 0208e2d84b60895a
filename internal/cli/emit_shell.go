// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"lathe/emit/bench"
	"lathe/emit/shell"
	"lathe/emit/shell/host"
	"lathe/emit/verilog"
	"lathe/emit/vivado"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/sim"
)

// check refuses flags of emit-verilog that cannot be followed, before the work.
func (e *emitFlags) check(c *cobra.Command) error {
	if err := required(c, "output"); err != nil {
		return err
	}
	if e.vectors < 0 || e.vectors > maxVectors {
		return usagef("--vectors %d is outside 0 to %d", e.vectors, maxVectors)
	}
	if e.shell != "" && e.shell != "axi" {
		return usagef("--shell %q: it is axi; for a board: lathe board build", e.shell)
	}
	if err := driver.Verilog.Check(e.out); err != nil {
		return err
	}
	return e.metric.check(e.labels, e.inputs+e.source.Calibrate, "--inputs or --calibrate")
}

// addShell adds the AXI shell to a design, below axi/, with drivers and the samples that they compute in a simulated
// system: those of arrays, or random ones where it is nil. Errors are those of shell.Folder.
func addShell(ctx context.Context, hw *driver.Hardware, arrays *npz.File, samples []ref.Sample) error {
	d := hw.Design
	core, err := shell.Of(d)
	if err != nil {
		return err
	}
	files, err := shell.Folder(core, shell.Options{Version: d.Version})
	if err != nil {
		return err
	}
	given, err := driverSamples(ctx, hw, arrays, samples)
	if err != nil {
		return err
	}
	programs, err := host.Files(d, core, given)
	if err != nil {
		return err
	}
	d.Extra = slices.Concat(d.Extra, files, programs)
	if hw.Plan.Target.FPGA.Family.Vivado() {
		scripts, err := vivado.Systems(d, core)
		if err != nil {
			return err
		}
		d.Extra = append(d.Extra, scripts...)
	}
	if err := bench.AddCore(d); err != nil {
		return err
	}
	return verilog.Describe(d)
}

// driverSamples are the first samples of arrays as drivers take them, with the results of the reference. Where arrays
// is nil, the values of samples take their place.
func driverSamples(ctx context.Context, hw *driver.Hardware, arrays *npz.File, samples []ref.Sample) (
	s host.Samples, err error) {
	n := len(samples)
	if n == 0 {
		return s, nil
	}
	if arrays == nil {
		if arrays, err = valuesOf(hw.Scheduled, samples); err != nil {
			return s, err
		}
	}
	if samples, _, err = driver.Samples(hw.Scheduled, arrays); err != nil {
		return s, err
	}
	program, err := ref.New(hw.Scheduled)
	if err != nil {
		return s, err
	}
	results, err := program.Run(ctx, samples[:n])
	if err != nil {
		return s, err
	}
	s.Values = make([][]float32, n)
	for _, in := range hw.Scheduled.In {
		a, err := arrays.Get(in.Name)
		if err != nil {
			a = &arrays.Arrays[0]
		}
		values := a.Float32s()
		size := len(values) / len(samples)
		for i := range s.Values {
			s.Values[i] = append(s.Values[i], values[i*size:(i+1)*size]...)
		}
	}
	for i := range results {
		at := 0
		for _, p := range hw.Design.Ports {
			if !p.Input {
				s.Frames = append(s.Frames, sim.PackStream(p, results[i:i+1], at)...)
				at++
			}
		}
	}
	return s, nil
}

// valuesOf are the inputs of samples as arrays of the model.
func valuesOf(g *ir.Graph, samples []ref.Sample) (*npz.File, error) {
	inputs := &ir.Graph{Stage: g.Stage, Origin: g.Origin}
	for _, n := range g.In {
		out := ir.Output{Name: n.Name, Node: n}
		if perm := n.Attrs.(*ir.Input).Perm; perm != nil {
			out.Perm = make([]int, len(perm))
			for i, k := range perm {
				out.Perm[k] = i
			}
		}
		inputs.Out = append(inputs.Out, out)
	}
	arrays, err := driver.Arrays(inputs, samples, driver.Several(len(samples)), false)
	return &npz.File{Path: "random samples", Arrays: arrays}, err
}
