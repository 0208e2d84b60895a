// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/lower"
	"lathe/lower/kernels"
	"lathe/sim/gpu"
	"lathe/sim/gpu/bench"
)

// passFacts are what bench-cuda tells: times in microseconds for one sample. Measured times are there where GPU is.
type passFacts struct {
	Model     string      `json:"model"`
	GPU       string      `json:"gpu,omitempty"`
	Predicted string      `json:"predicted_for"`
	Kernels   []unitFacts `json:"kernels"`
	Floor     float64     `json:"floor_us"`
	Expected  float64     `json:"predicted_us"`
	Measured  *float64    `json:"measured_us,omitempty"`
	Unfused   *passFacts  `json:"unfused,omitempty"` // the same model, each operation in kernels of its own
}

// unitFacts are those of a kernel.
type unitFacts struct {
	Node     string   `json:"node"`
	Op       string   `json:"op"`
	Kernel   string   `json:"kernel"`
	Floor    float64  `json:"floor_us"`
	Expected float64  `json:"predicted_us"`
	Measured *float64 `json:"measured_us,omitempty"`
}

func (a *App) benchCUDA() *cobra.Command {
	var e cudaFlags
	c := &cobra.Command{Use: "bench-cuda MODEL", Short: "measure the CUDA kernels of a model, or predict their times",
		Long: "Measures each kernel of a model and a whole pass of one sample on the GPU of this machine, beside the\n" +
			"floor and the prediction of each, and beside the same model with each operation in kernels of its own.\n" +
			"Without a GPU it prints floors and predictions, and says so.",
		Example: "  lathe bench-cuda model.onnx --json times.json", Args: exactly("MODEL")}
	e.add(c, true)
	asImported(c)
	e.addPrecision(c)
	e.addHopper(c)
	c.RunE = func(c *cobra.Command, args []string) error { return a.benchModel(c.Context(), &e, args[0]) }
	return a.withJSON(c)
}

func (a *App) benchModel(ctx context.Context, e *cudaFlags, model string) (err error) {
	source, precision, err := e.read(a, model)
	if err != nil {
		return err
	}
	if t := source.Transformer; t.Room > 0 && t.Seq > 1 {
		fmt.Fprintln(a.Err, "note: these are the first tokens; --seq 1 is one more, with --max-seq")
	}
	o := cuda.Options{Version: Version, Samples: 1, AllowSlow: true, Hopper: e.hopper}
	device, err := gpu.OpenDriver(gpu.DriverOptions{})
	code := diag.CodeOf(err)
	switch {
	case err == nil:
		defer func() {
			if e := device.Close(); err == nil {
				err = e
			}
		}()
		arch, err := library.FindArch(device.Arch())
		if e.hopper && arch.Capability != 90 {
			return usagef("--hopper: its kernels run on sm_90a alone, and %s is %s", device.Name(), device.Arch())
		}
		if err == nil {
			o.Arch = arch.Name // the configurations of other GPUs are those of the default
		}
		if e.hopper {
			o.Arch = library.HopperArch
		}
	case code != diag.NoGPU && code != diag.OldDriver:
		return err
	}
	g, err := a.prepared(ctx, source)
	if err != nil {
		return err
	}
	facts, err := a.passesOf(ctx, device, g, source, precision, o)
	if err != nil {
		return err
	}
	if err := a.printPass(facts); err != nil {
		return err
	}
	return a.writeJSON(facts)
}

// passesOf are the facts of a graph, and of the same in which each operation has kernels of its own; measured where
// there is a device.
func (a *App) passesOf(ctx context.Context, device *gpu.Driver, g *ir.Graph, s driver.Source, p kernels.Precision,
	o cuda.Options) (*passFacts, error) {
	target, err := fusing(o)
	if err != nil {
		return nil, err
	}
	var passes [2]*passFacts
	for i, unfused := range []bool{false, true} {
		computed, report, err := lower.Kernels(ctx, g, p, target, kernels.Options{Options: s.Passes, Unfused: unfused})
		if err != nil {
			return nil, err
		}
		if !unfused { // once
			a.warn(&report.Report)
		}
		d, err := cuda.Emit(computed, o)
		if err != nil {
			return nil, err
		}
		passes[i] = predictions(d, s.Model)
		if device == nil {
			continue
		}
		if err := a.measurePass(ctx, device, d, o.Arch, passes[i]); err != nil {
			return nil, err
		}
	}
	passes[0].Unfused = passes[1]
	return passes[0], nil
}

// predictions are the facts of a design of which nothing is measured.
func predictions(d *cuda.Design, model string) *passFacts {
	f := &passFacts{Model: model, Predicted: d.GPU}
	for _, u := range d.Units {
		k := unitFacts{Node: u.Node, Op: u.Op, Kernel: u.Template, Floor: u.Floor * 1e6, Expected: u.Predicted * 1e6}
		if k.Kernel == "" {
			k.Kernel = u.Kernel
		}
		f.Kernels = append(f.Kernels, k)
		f.Floor, f.Expected = f.Floor+k.Floor, f.Expected+k.Expected
	}
	return f
}

// measurePass adds to facts what the GPU says.
func (a *App) measurePass(ctx context.Context, device *gpu.Driver, d *cuda.Design, arch string, f *passFacts) error {
	var archs []string
	if arch != "" {
		archs = []string{arch}
	}
	binaries, err := a.compileKernels(ctx, d, archs, false)
	if err != nil {
		return err
	}
	pass, err := bench.Standard.Pass(device, d, driver.ProgramOf(d, binaries))
	if err != nil {
		return err
	}
	f.GPU, f.Measured = device.Name(), &pass.Whole
	for i := range pass.Units {
		f.Kernels[i].Measured = &pass.Units[i]
	}
	return nil
}

// printPass prints a line for each kernel, and what the times are.
func (a *App) printPass(f *passFacts) error {
	time := func(us float64) string { return fmt.Sprintf("%.3g", us) }
	head := []string{"node", "op", "floor us", "predicted us"}
	total := []string{"together", "", time(f.Floor), time(f.Expected)}
	if f.Measured != nil {
		head, total = append(head, "measured us"), append(total, time(*f.Measured))
	}
	rows := [][]string{append(head, "kernel")}
	for _, k := range f.Kernels {
		row := []string{k.Node, k.Op, time(k.Floor), time(k.Expected)}
		if k.Measured != nil {
			row = append(row, time(*k.Measured))
		}
		rows = append(rows, append(row, k.Kernel))
	}
	if err := a.table(append(rows, append(total, ""))); err != nil {
		return err
	}
	u := f.Unfused
	unfused := fmt.Sprintf("each operation in kernels of its own: %d launches in place of %d, predicted %s us",
		len(u.Kernels), len(f.Kernels), time(u.Expected))
	if u.Measured != nil {
		unfused += fmt.Sprintf(", measured %s us", time(*u.Measured))
	}
	fmt.Fprintf(a.Out, "\n%s\n", unfused)
	if f.Measured == nil {
		fmt.Fprintf(a.Out, "one sample; predicted for %s: nothing is measured, as this machine has no GPU\n",
			f.Predicted)
		return nil
	}
	fmt.Fprintf(a.Out, "one sample, measured on %s: each kernel alone, and together the whole pass, in CUDA graphs; "+
		"predicted for %s\n", f.GPU, f.Predicted)
	return nil
}
