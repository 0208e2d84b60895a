// SPDX-License-Identifier: Apache-2.0

// Command digests prints a digest of all that is emitted for the examples, a line each: Verilog folders, CUDA folders
// without machine code, and StableHLO texts. Two commits that print the same lines emit the same bytes.
//
//	go run ./scripts/digests [-keep DIR] [EXAMPLE ...] >digests.txt
//
// With -keep what is digested is also written below DIR, for diff -r.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/emit/verilog"
	"lathe/golden"
	"lathe/internal/driver"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/hlo/text"
	"lathe/lower"
	"lathe/lower/kernels"
	"lathe/rtl"
)

func main() {
	keep := flag.String("keep", "", "folder for what is digested")
	flag.Parse()
	if err := run(context.Background(), flag.Args(), *keep, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "digests:", err)
		os.Exit(1)
	}
}

// run prints the digests of the named examples, or of all, in the order of their folders, files and plans.
func run(ctx context.Context, names []string, keep string, w io.Writer) error {
	models, err := filepath.Glob("examples/*/model*")
	if err != nil || len(models) == 0 {
		return fmt.Errorf("no examples here; run it in the root of the project (%v)", err)
	}
	folders, err := filepath.Glob("examples/*/hf")
	if err != nil {
		return err
	}
	plans, err := filepath.Glob("examples/plans/*.toml")
	if err != nil {
		return err
	}
	var jobs []driver.Source
	for _, model := range append(models, folders...) {
		if len(names) > 0 && !slices.Contains(names, filepath.Base(filepath.Dir(model))) {
			continue
		}
		jobs = append(jobs, driver.Source{Model: model})
		for _, plan := range append([]string{"default"}, plans...) {
			if whole := filepath.Base(model) == "model.onnx" || strings.HasSuffix(model, "model.stablehlo.mlir"); whole {
				jobs = append(jobs, driver.Source{Model: model, Plan: plan, Calibrate: samples(model)})
			}
		}
	}
	lines, errs := make([]string, len(jobs)), make([]error, len(jobs))
	workers.Each(len(jobs), func(i int) { lines[i], errs[i] = write(ctx, jobs[i], keep) })
	_, err = io.WriteString(w, strings.Join(lines, ""))
	return errors.Join(append(errs, err)...)
}

// write returns the lines of one model, and keeps what they digest below a folder if one is given.
func write(ctx context.Context, s driver.Source, keep string) (string, error) {
	var b strings.Builder
	for _, p := range products(ctx, s) {
		fmt.Fprintf(&b, "%x %s\n", sha256.Sum256(p.data), p.name)
		if keep == "" {
			continue
		}
		path := filepath.Join(keep, p.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, p.data, 0o644); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// samples is the file of calibration samples beside a model, or "".
func samples(model string) string {
	for _, name := range []string{"calib.npz", "inputs.npz"} {
		if path := filepath.Join(filepath.Dir(model), name); exists(path) {
			return path
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// product is something that is emitted, under the model, the plan and the kind that it has.
type product struct {
	name string
	data []byte
}

// products is all that is emitted for one model: in float without a plan, else quantized. An error is a product too.
func products(ctx context.Context, s driver.Source) (out []product) {
	name := s.Model + " float"
	if s.Plan != "" {
		name = s.Model + " " + filepath.Base(s.Plan)
	}
	add := func(kind string, data []byte, err error) {
		if err != nil {
			data, kind = []byte(err.Error()), kind+" refused"
		}
		out = append(out, product{name + " " + kind, data})
	}
	float := s.Plan == ""
	if s.Plan == "default" {
		s.Plan = ""
	}
	s.Arrays = samples(s.Model)
	g, err := s.Import()
	if err != nil {
		add("import", nil, err)
		return out
	}
	if float {
		text, err := stableHLO(g)
		add("hlo", text, err)
		source, err := cudaFolder(ctx, g)
		add("cuda", source, err)
		return out
	}
	q, err := s.Quantize(ctx, g)
	if err != nil {
		add("quantize", nil, err)
		return out
	}
	text, err := stableHLO(q.Graph)
	add("hlo", text, err)
	source, err := cudaFolder(ctx, q.Graph)
	add("cuda", source, err)
	design, err := folder(ctx, s, q)
	add("verilog", design, err)
	return out
}

// stableHLO is the text of a graph for three samples.
func stableHLO(g *ir.Graph) ([]byte, error) {
	p, err := golden.Print(g, 3, false)
	if err != nil {
		return nil, err
	}
	return []byte(text.Print(p)), nil
}

// cudaFolder is the CUDA folder of a graph without what NVRTC makes of it.
func cudaFolder(ctx context.Context, g *ir.Graph) ([]byte, error) {
	g, _, err := lower.Kernels(ctx, g, kernels.Precision{}, library.Portable(), kernels.Options{})
	if err != nil {
		return nil, err
	}
	d, err := cuda.Emit(g, cuda.Options{AllowSlow: true})
	if err != nil {
		return nil, err
	}
	files, err := d.Files(nil, "not compiled", cuda.Host{})
	if err != nil {
		return nil, err
	}
	return join(files), nil
}

// vectors is how many samples the digested testbenches hold.
const vectors = 2

// folder is the Verilog folder of a quantized graph.
func folder(ctx context.Context, s driver.Source, q *driver.Quantized) ([]byte, error) {
	hw, err := q.Emit(ctx, verilog.Options{})
	if err != nil {
		return nil, err
	}
	tests, err := hw.VectorSamples(nil, vectors, 1)
	if err != nil {
		return nil, err
	}
	if err := hw.Complete(ctx, s.Model, tests); err != nil {
		return nil, err
	}
	return join(hw.Design.All()), nil
}

func join(files []rtl.File) []byte {
	var all []byte
	for _, f := range files {
		all = fmt.Appendf(all, "%s %d\n", f.Name, len(f.Data))
		all = append(all, f.Data...)
	}
	return all
}
