// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/lower"
	"lathe/lower/kernels"
	"lathe/lower/kernels/fuse"
	"lathe/lower/pass"
	"lathe/sim/nvrtc"
)

// emission is what emit-cuda emits: a graph, and one of one more token where the model has caches with room for it.
type emission struct {
	graph, step          *ir.Graph
	design               *cuda.Design
	borders, stepBorders []fuse.Border
}

// fusing is the target that groups of nodes are chosen for: that of kernels where they are for one architecture, else
// the least of all.
func fusing(o cuda.Options) (library.Target, error) {
	if o.Arch == "" && !o.Hopper {
		return library.Portable(), nil
	}
	return o.Target()
}

// emission imports a model and makes its kernels.
func (a *App) emission(ctx context.Context, s driver.Source, p kernels.Precision, o cuda.Options) (m emission,
	err error) {
	if s.Transformer.Room == 0 {
		m.graph, m.design, m.borders, err = a.kernels(ctx, s, p, o)
		return m, err
	}
	if s.Plan != "" || s.Calibrate != "" {
		return m, usagef("--max-seq: caches are kept in floats, not with --plan or --calibrate")
	}
	if _, ok := s.Dims["seq"]; ok || len(s.Shapes) > 0 {
		return m, usagef("--max-seq: --seq says how many tokens come first, not --dim seq, --shape or --example")
	}
	if s.Outputs != nil {
		return m, usagef("--max-seq: the caches are outputs besides, so that --outputs cannot choose: leave it out")
	}
	progress := progress{app: a}
	defer progress.finish()
	progress.Report("kernels", 0, 0)
	if m.graph, m.step, err = s.Steps(); err != nil {
		return m, err
	}
	progress.finish()
	target, err := fusing(o)
	if err != nil {
		return m, err
	}
	if m.graph, m.borders, err = a.grouped(ctx, m.graph, p, target, s.Passes); err != nil {
		return m, err
	}
	if m.step, m.stepBorders, err = a.grouped(ctx, m.step, p, target, s.Passes); err != nil {
		return m, err
	}
	m.design, err = cuda.EmitSteps(m.graph, m.step, o)
	return m, err
}

// kernels imports a model, quantizes it where a plan or calibration is given, and makes its kernels.
func (a *App) kernels(ctx context.Context, s driver.Source, precision kernels.Precision, o cuda.Options) (g *ir.Graph,
	d *cuda.Design, borders []fuse.Border, err error) {
	if g, err = a.prepared(ctx, s); err != nil {
		return nil, nil, nil, err
	}
	target, err := fusing(o)
	if err != nil {
		return nil, nil, nil, err
	}
	if g, borders, err = a.grouped(ctx, g, precision, target, s.Passes); err != nil {
		return nil, nil, nil, err
	}
	d, err = cuda.Emit(g, o)
	return g, d, borders, err
}

// grouped is the graph that kernels compute, with the borders between them; it prints what the passes report.
func (a *App) grouped(ctx context.Context, g *ir.Graph, precision kernels.Precision, target library.Target,
	o pass.Options) (*ir.Graph, []fuse.Border, error) {
	g, report, err := lower.Kernels(ctx, g, precision, target, kernels.Options{Options: o})
	if err != nil {
		return nil, nil, err
	}
	a.warn(&report.Report)
	return g, report.Borders, nil
}

// compileKernels compiles the kernels, with the lines of the source where asked for; what the compiler says of sources
// that it refuses is kept in a file.
func (a *App) compileKernels(ctx context.Context, d *cuda.Design, archs []string, lines bool) ([]cuda.Binary, error) {
	compiler, err := a.Env.nvrtc()
	if err != nil {
		return nil, err
	}
	compiler.Lines = lines
	p := progress{app: a}
	defer p.finish()
	binaries, err := driver.CompileCUDA(ctx, compiler, d, archs, p.Report)
	var refused *nvrtc.CompileError
	if errors.As(err, &refused) {
		text := []byte(refused.Log + "\n" + d.Source)
		name := fmt.Sprintf("refused-%.6x.log", sha256.Sum256(text)) // of its own: another run may fail too
		for _, dir := range []string{a.Env.toolchain(), os.TempDir()} {
			if writeFile(filepath.Join(dir, name), text) == nil { // else the first lines must do
				return nil, refused.Cause.WithNote("log and source are in %s", filepath.Join(dir, name))
			}
		}
	}
	return binaries, err
}

// printKernels prints a line for each launch, and what the numbers in it say.
func (a *App) printKernels(d *cuda.Design, binaries []cuda.Binary, model, out string) error {
	rows := [][]string{{"node", "op", "format", "blocks", "threads", "bytes", "flops", "registers", "kernel"}}
	for i, u := range d.All() {
		if i == len(d.Units) {
			rows = append(rows, []string{"one more token:"})
		}
		registers := "?" // not compiled to machine code
		if _, most := usage(binaries, u.Kernel); most > 0 {
			registers = fmt.Sprint(most)
		}
		rows = append(rows, []string{u.Node, u.Op, u.Format, fmt.Sprint(u.Grid(1)[0]), fmt.Sprint(u.Threads),
			fmt.Sprint(u.Bytes), fmt.Sprint(u.Flops), registers, u.Kernel})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	var archs []string
	files := []string{cuda.SourceFile}
	for _, b := range binaries {
		files = append(files, b.File)
		if len(b.Kernels) > 0 {
			archs = append(archs, b.Arch)
		}
	}
	legend := "blocks, bytes and flops of one sample, threads of a block"
	if len(archs) > 0 {
		legend += "; registers of a thread, the most of " + strings.Join(archs, ", ")
	}
	fmt.Fprintf(a.Out, "\n%s\n%s in %s: %s\n", legend, counted(len(d.All()), "kernel"), out, strings.Join(files, ", "))
	fmt.Fprintf(a.Out, "%d bytes of constants, %d bytes of buffers a sample\n", len(d.Tables), d.Total(1)-d.Size(0, 1))
	a.warnSpills(d, binaries)
	facts := map[string]any{"model": model, "folder": out, "kernels": d.Units, "binaries": binaries}
	if d.Step != nil {
		facts["step"] = d.Step.Units
	}
	return a.writeJSON(facts)
}

// usage is what a kernel takes on each architecture that has machine code, in their order, and its most registers.
func usage(binaries []cuda.Binary, kernel string) (list []archUsage, registers int) {
	for _, b := range binaries {
		for _, k := range b.Kernels {
			if k.Kernel == kernel {
				list = append(list, archUsage{b.Arch, k})
				registers = max(registers, k.Registers)
			}
		}
	}
	return list, registers
}

type archUsage struct {
	arch string
	cuda.Usage
}

// warnSpills names each kernel that keeps more than registers, once for all nodes that it serves.
func (a *App) warnSpills(d *cuda.Design, binaries []cuda.Binary) {
	seen := map[string]bool{}
	for _, u := range d.All() {
		list, _ := usage(binaries, u.Kernel)
		for _, k := range list {
			if k.Spill+k.Stack > 0 && !seen[u.Kernel] {
				fmt.Fprintf(a.Err, "warning: %s, kernel %s: for %s a thread spills %d bytes of registers and has %d bytes "+
					"of stack\n", u.Node, u.Kernel, k.arch, k.Spill, k.Stack)
			}
		}
		seen[u.Kernel] = true
	}
}
