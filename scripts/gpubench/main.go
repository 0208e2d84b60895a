// SPDX-License-Identifier: Apache-2.0

// Command gpubench checks the kernel library on a GPU and times it. What needs a compiler happens before, elsewhere:
//
//	gpubench build -toolchain DIR -pack DIR     compiles the kernels of all cases
//	gpubench run -pack DIR -out DIR             checks and times; needs the pack and a GPU
//	gpubench list                               the cases
//	gpubench predict -out DIR -commit TEXT      adds to predictions.json what is not predicted yet
//	gpubench fit                                fits the model of times to measurements, writes its constants
//
// scripts/gpu-bench calls it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"lathe/cuda"
	"lathe/cuda/cases"
	"lathe/cuda/ptx"
	"lathe/internal/diag"
	"lathe/sim/gpu"
	"lathe/sim/gpu/bench"
	"lathe/sim/nvrtc"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

// flags of all commands.
type flags struct {
	toolchain, cache, pack, archs, commit string
	out, match, library, baselines        string
	limit, caseLimit                      time.Duration
	check, emulated, json                 bool
}

// run returns the exit status: 0 done, 1 something is wrong, 2 wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var f flags
	set := flag.NewFlagSet("gpubench", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&f.toolchain, "toolchain", "", "folder of NVRTC")
	set.StringVar(&f.cache, "cache", "", "folder that keeps compiled modules")
	set.StringVar(&f.pack, "pack", "build/gpu-bench", "folder of the compiled kernels")
	set.StringVar(&f.archs, "archs", strings.Join(cuda.ArchNames(), ","), "architectures to compile for")
	set.StringVar(&f.commit, "commit", "unknown", "state of the sources, for the records")
	set.StringVar(&f.out, "out", "docs/measurements", "folder of the results")
	set.StringVar(&f.match, "match", "", "only cases whose names hold this")
	set.StringVar(&f.baselines, "baselines", "", "times of PyTorch, from baselines.py")
	set.BoolVar(&f.json, "json", false, "list as JSON lines")
	set.StringVar(&f.library, "library", "", "the driver, if not libcuda.so.1")
	set.DurationVar(&f.limit, "limit", 7*time.Minute, "time after which no case is begun")
	set.DurationVar(&f.caseLimit, "case-limit", time.Minute, "time after which a case is given up")
	set.BoolVar(&f.emulated, "emulated", false, "check the cases that are not timed without a GPU")
	set.BoolVar(&f.check, "check", false, "do not time")
	commands := []struct {
		name string
		do   func(ctx context.Context, f *flags, cases []cuda.Case, stdout io.Writer) error
	}{{"build", build}, {"run", measure}, {"list", list}, {"predict", predict}, {"fit", fit}}
	for _, c := range commands {
		if len(args) == 0 || args[0] != c.name {
			continue
		}
		if err := set.Parse(args[1:]); err != nil || set.NArg() > 0 {
			return 2
		}
		cases, err := selected(f.match)
		if err == nil {
			err = c.do(ctx, &f, cases, stdout)
		}
		if err != nil {
			fmt.Fprintln(stderr, "gpubench:", err)
			return 1
		}
		return 0
	}
	fmt.Fprintln(stderr, "usage: gpubench build|run|list|predict|fit [flags]")
	return 2
}

// selected are the cases of all families whose names hold a text; none where that is the name of a layer.
func selected(match string) ([]cuda.Case, error) {
	all, err := cases.All()
	if err != nil {
		return nil, err
	}
	var out []cuda.Case
	names := map[string]bool{}
	for _, c := range all {
		if names[c.Name] {
			return nil, fmt.Errorf("two cases are called %s", c.Name)
		}
		if names[c.Name] = true; strings.Contains(c.Name, match) {
			out = append(out, c)
		}
	}
	if len(out) == 0 && len(passes(match)) == 0 {
		return nil, fmt.Errorf("no case has %q in its name", match)
	}
	return out, nil
}

// withLayers are cases and, behind them, the passes whose names hold a text. Making one takes seconds.
func withLayers(ctx context.Context, cases []cuda.Case, match string) ([]cuda.Case, error) {
	for _, p := range passes(match) {
		c, _, err := p.made(ctx, true)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// listed is what baselines.py reads of a case.
type listed struct {
	Case    string `json:"case"`
	Kernel  string `json:"kernel"`
	Shape   string `json:"shape"`
	Formats string `json:"formats"`
	Timed   bool   `json:"timed"`
}

func list(_ context.Context, f *flags, cases []cuda.Case, stdout io.Writer) error {
	lines := json.NewEncoder(stdout)
	for _, p := range passes(f.match) {
		cases = append(cases, p.described(true))
	}
	for i, c := range cases {
		if f.json {
			one := listed{c.Name, bench.Templates(&cases[i]), c.Shape, c.Formats, c.Timed}
			if err := lines.Encode(one); err != nil {
				return err
			}
			continue
		}
		what := "checked"
		if c.Timed {
			what = "timed"
		}
		fmt.Fprintf(stdout, "%-40s %-8s %s, %s\n", c.Name, what, c.Formats, c.Shape)
	}
	return nil
}

func build(ctx context.Context, f *flags, cases []cuda.Case, stdout io.Writer) error {
	nv, err := nvrtc.Open(f.toolchain, f.cache)
	if err != nil {
		return err
	}
	if cases, err = withLayers(ctx, cases, f.match); err != nil {
		return err
	}
	p, err := bench.Compile(ctx, nv, cases, strings.Split(f.archs, ","), f.pack, f.commit)
	if err == nil {
		fmt.Fprintf(stdout, "%d programs for %d cases in %s, commit %s\n", len(p.Programs), len(cases), f.pack, p.Commit)
	}
	return err
}

// measure checks and times on a GPU and keeps records, or checks on the emulated device and keeps none.
func measure(ctx context.Context, f *flags, cases []cuda.Case, stdout io.Writer) error {
	pack, err := bench.OpenPack(f.pack)
	if err != nil {
		return err
	}
	o := bench.Options{Program: pack.Program, Cases: cases, Commit: pack.Commit, Limit: f.limit, CaseLimit: f.caseLimit,
		Protocol: bench.Standard, CheckOnly: f.check, Note: func(line string) { fmt.Fprintln(stdout, line) }}
	path := "emulated: no records are kept"
	if f.emulated {
		o.Open = func() (gpu.Device, error) {
			return gpu.Emulated(gpu.EmulatedOptions{Options: ptx.Options{Workers: runtime.NumCPU()}}), nil
		}
		o.Cases = slices.DeleteFunc(cases, func(c cuda.Case) bool { return c.Timed })
		o.Append = func(*bench.Record) error { return nil }
	} else if path, err = f.onGPU(&o); err != nil {
		return err
	} else if o.Cases, err = withLayers(ctx, cases, f.match); err != nil {
		return err
	}
	sum, err := bench.Run(ctx, o)
	fmt.Fprintf(stdout, "%s\n%s\n", sum, path)
	if err == nil && sum.Wrong+sum.Failed > 0 {
		err = errors.New("some kernels are wrong or failed on this device")
	}
	return err
}

// onGPU completes the options for a GPU, and returns the file of the results.
func (f *flags) onGPU(o *bench.Options) (path string, err error) {
	o.Open = func() (gpu.Device, error) { return gpu.OpenDriver(gpu.DriverOptions{Library: f.library}) }
	d, err := o.Open() // for its name
	if err != nil {
		return "", err
	}
	path = filepath.Join(f.out, slug(d.Name())+".jsonl")
	if err := d.Close(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return "", diag.New(diag.BenchmarkFiles, f.out, "the folder of the results: %v", err)
	}
	results, err := bench.OpenResults(path)
	if err != nil {
		return "", err
	}
	if f.baselines != "" {
		if o.Compared, err = bench.ReadCompared(f.baselines); err != nil {
			return "", err
		}
	}
	commit := o.Commit
	o.Done = func(device string, c *cuda.Case) bool { return results.Done(commit, device, c) }
	o.Append, o.Clocks = results.Append, bench.ReadClocks
	return path, nil
}

// slug is a name as a file name: "NVIDIA H200" as nvidia-h200.
func slug(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}
