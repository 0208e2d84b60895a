// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/emit/cuda/host"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir/ref"
	"lathe/lower/kernels"
)

// cudaFlags are the flags of emit-cuda.
type cudaFlags struct {
	sourceFlags
	out, name string
	archs     []string
	samples   int
	invariant bool
	precision precisionFlags
	explain   bool
	slow      bool
	hopper    bool
	kv        string
}

func (a *App) emitCUDA() *cobra.Command {
	var e cudaFlags
	c := &cobra.Command{Use: "emit-cuda MODEL -o DIR", Short: "compile a model to CUDA kernels",
		Long: "Compiles a model to a folder of CUDA kernels, each for as many nodes as it can take:\n" +
			"kernels.cu, constants, machine code for each architecture, PTX for every GPU from sm_80 on,\n" +
			"report.json with launches, buffers, registers and floors, and what runs them: a C library, a demo\n" +
			"and a Python module, which make builds without CUDA. Without --plan and --calibrate the model is\n" +
			"compiled in floats, bf16 unless --act says otherwise.",
		Example: "  emit-cuda model.onnx -o out/ --arch sm_90", Args: exactly("MODEL")}
	e.add(c, true)
	asImported(c)
	c.Flags().StringVarP(&e.out, "output", "o", "",
		"folder for the kernels; replaces those of an earlier emit-cuda")
	c.Flags().StringVar(&e.name, "name", "", "name of the C library and of its functions")
	c.Flags().StringSliceVar(&e.archs, "arch", library.ArchNames(), "GPU architectures")
	c.Flags().IntVar(&e.samples, "samples", 1, "choose kernels for this many samples at a time")
	c.Flags().BoolVar(&e.invariant, "batch-invariant", false, invariantUsage)
	e.addPrecision(c)
	c.Flags().BoolVar(&e.explain, "explain", false,
		"print for each kernel what it computes, its floor and predicted time, and why it ends where it ends")
	e.addHopper(c)
	c.Flags().BoolVar(&e.slow, "allow-slow", false, "emit sums of products that get one thread a result")
	c.RunE = func(c *cobra.Command, args []string) error { return a.emitKernels(c, &e, args[0]) }
	return a.withJSON(c)
}

// asImported says what --plan and --calibrate do in commands that compute in float without them.
func asImported(c *cobra.Command) {
	c.Flags().Lookup("plan").Usage = "plan file (TOML); it quantizes the model, and so does --calibrate"
	c.Flags().Lookup("calibrate").Usage = "calibration inputs (.npz); a plan without them uses interval analysis"
}

// invariantUsage is that of the flag --batch-invariant.
const invariantUsage = "give a sample the same bits in every batch"

// options are those of the emission; with a single architecture its sizes guide the choice of kernels.
func (e *cudaFlags) options() cuda.Options {
	o := cuda.Options{Version: Version, Name: e.name, Samples: e.samples, BatchInvariant: e.invariant, Hopper: e.hopper,
		AllowSlow: e.slow, KeepInputs: true}
	if len(e.archs) == 1 {
		o.Arch = e.archs[0]
	}
	return o
}

func (e *cudaFlags) addHopper(c *cobra.Command) {
	c.Flags().BoolVar(&e.hopper, "hopper", false,
		"take kernels for sm_90a alone (H100, H200) where they are expected to be faster")
}

// checkArchs is that of the architectures; with --hopper sm_90a alone is left of them. named says that --arch named
// them. A usage error for others.
func (e *cudaFlags) checkArchs(named bool) error {
	for i, name := range e.archs {
		e.archs[i] = strings.TrimSpace(name) // behind a comma, say
	}
	if err := checkArchs(e.archs); err != nil || !e.hopper {
		return err
	}
	for _, name := range e.archs {
		if a, err := library.FindArch(name); named && (err != nil || a.Capability != 90) {
			return usagef("--hopper: its kernels run on sm_90a alone, --arch names %s; emit two folders", name)
		}
	}
	e.archs = []string{library.HopperArch}
	return nil
}

// addPrecision declares how values are kept.
func (e *cudaFlags) addPrecision(c *cobra.Command) {
	e.precision.add(c, "bf16")
	c.Flags().StringVar(&e.kv, "kv", "", "keys and values in the caches of --max-seq: mxint8, or as --act says without it")
}

// read is the model that the flags name, and how its values are kept.
func (e *cudaFlags) read(a *App, model string) (source driver.Source, p kernels.Precision, err error) {
	if source, err = e.of(a, model); err != nil {
		return source, p, err
	}
	if p, err = e.precision.of(source.Plan != "" || source.Calibrate != ""); err != nil || e.kv == "" {
		return source, p, err
	}
	if source.Transformer.Room == 0 {
		return source, p, usagef("--kv %s: there are no caches without --max-seq", e.kv)
	}
	p, err = p.WithCache(e.kv)
	return source, p, err
}

// check refuses flags that say nothing that can be done.
func (e *cudaFlags) check(c *cobra.Command) error {
	if e.samples < 1 {
		return usagef("--samples %d: at least one sample is computed", e.samples)
	}
	if usable := host.Name(e.name); c.Flags().Changed("name") && usable != e.name {
		return usagef("--name %q is no name for a C library and the files of its folder; %s is one", e.name, usable)
	}
	return e.checkArchs(c.Flags().Changed("arch"))
}

func (a *App) emitKernels(c *cobra.Command, e *cudaFlags, model string) error {
	if err := required(c, "output"); err != nil {
		return err
	}
	if err := e.check(c); err != nil {
		return err
	}
	if err := driver.CUDA.Check(e.out); err != nil { // compiling takes long
		return err
	}
	source, precision, err := e.read(a, model)
	if err != nil {
		return err
	}
	m, err := a.emission(c.Context(), source, precision, e.options())
	if err != nil {
		return err
	}
	d := m.design
	if e.hopper && d.Only == "" {
		fmt.Fprintf(a.Err, "note: --hopper: no kernel for sm_90a alone is expected to be faster for this model\n")
	}
	binaries, err := a.compileKernels(c.Context(), d, e.archs, false)
	missing := ""
	if err != nil {
		var why *diag.Error
		if !errors.As(err, &why) || why.Code != diag.NoNVRTC {
			return err
		}
		fmt.Fprintf(a.Err, "note: sources only: %v\n", err)
		missing = why.Msg + ": " + why.Hint
	}
	samples, err := a.demoSamples(c.Context(), m, source.Calibrate)
	if err != nil {
		return err
	}
	if err := driver.WriteCUDA(d, binaries, missing, samples, e.out); err != nil {
		return err
	}
	if e.explain {
		a.explain(d, m.borders)
	}
	if e.explain && d.Step != nil {
		fmt.Fprintf(a.Out, "One more token:\n\n")
		a.explain(d.Step, m.stepBorders)
	}
	if err := a.printKernels(d, binaries, model, e.out); err != nil {
		return err
	}
	if len(binaries) > 0 {
		fmt.Fprintf(a.Out, "to run it on a GPU: cd %s && make && ./demo; from Python: import model (see README.md there)\n",
			e.out)
	}
	return nil
}

// demoSamples are what the demo runs: the first of the calibration samples, if there are any.
func (a *App) demoSamples(ctx context.Context, m emission, calibrate string) (s host.Samples, err error) {
	p := progress{app: a}
	defer p.finish()
	p.Report("samples", 0, 0)
	var given []ref.Sample
	if calibrate != "" {
		file, err := npz.Read(calibrate)
		if err != nil {
			return s, err
		}
		if given, _, err = driver.Samples(m.graph, file); err != nil {
			return s, err
		}
	}
	if m.step != nil {
		return driver.DemoSteps(ctx, m.graph, m.step)
	}
	return driver.DemoSamples(ctx, m.graph, given)
}

// checkArchs refuses architectures that there are not, or that are named twice.
func checkArchs(names []string) error {
	if len(names) == 0 {
		return usagef("--arch names no architecture")
	}
	for i, name := range names {
		if _, err := library.FindArch(name); err != nil {
			return &usageError{err}
		}
		if slices.Contains(names[:i], name) {
			return usagef("--arch names %s twice", name)
		}
	}
	return nil
}
