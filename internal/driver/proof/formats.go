// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/golden"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower"
	"lathe/lower/kernels"
	"lathe/lower/plan"
	"lathe/sim/gpu"
	"lathe/sim/nvrtc"
)

// Formats are a format of data and one of weights, and what else a plan says.
type Formats struct{ Data, Weight, Rest string }

// Plan is the plan. Errors are those of the formats.
func (f Formats) Plan() (*plan.Plan, error) {
	return plan.Parse("plan", fmt.Appendf(nil, "[quantize]\ndata = %q\nweight = %q\n%s", f.Data, f.Weight, f.Rest))
}

// Job is the hardware of an example, of a folder of examples, under the plan, with the stored samples.
func (f Formats) Job(ctx context.Context, examples, model string) (*driver.Job, error) {
	plan, err := f.Plan()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(examples, model) + "/"
	s := driver.Source{Model: dir + "model.onnx", Calibrate: dir + "calib.npz"}
	g, err := s.Import()
	if err != nil {
		return nil, err
	}
	q, err := s.QuantizeUnder(ctx, g, plan)
	if err != nil {
		return nil, err
	}
	j, _, err := stored(ctx, q, dir)
	return j, err
}

// Emulated is the engine that runs the kernels of a graph on the emulated device.
func Emulated(compiler *nvrtc.Compiler) func(context.Context, *ir.Graph, []ref.Sample) ([]ref.Sample, error) {
	return func(ctx context.Context, g *ir.Graph, samples []ref.Sample) ([]ref.Sample, error) {
		g, _, err := lower.Kernels(ctx, g, kernels.Precision{}, library.Portable(), kernels.Options{})
		if err != nil {
			return nil, err
		}
		d, err := cuda.Emit(g, cuda.Options{})
		if err != nil {
			return nil, err
		}
		binaries, err := driver.CompileCUDA(ctx, compiler, d, nil, nil)
		if err != nil {
			return nil, err
		}
		device := gpu.Emulated(gpu.EmulatedOptions{})
		defer device.Close()
		return golden.RunCUDA(ctx, device, d, driver.ProgramOf(d, binaries), samples, false, nil)
	}
}

// twice are formats of weights and data alike.
var twice = []string{
	"fixed(8)", "fixed(6,round=away,over=sym)", "int(8,z=3)*0.05", "uint(8,z=131,div=f32)*0.0235",
	"float(4,3)", "float(4,3,ieee)", "float(4,3,fnuz,over=nan)", "float(3,4,bias=4,round=floor)", "e4m3", "e5m2",
	"e3m2", "e2m3", "e2m1", "dfloat(4,3)", "dfloat(3,4,bias=2)", "log(5)", "log(6,bias=20,round=log)",
	"float(4,3,fn,bias=fit)", "float(3,2,bias=fit)", "float(2,3,bias=fit)", "float(2,1,bias=fit)",
	"dfloat(2,3,bias=fit)", "log(4,bias=fit)",
	"float(4,3,dialect=mase)", "dfloat(4,3,dialect=mase)", "log(6,dialect=mase)",
	"mxint8", "mxint(6,16)", "mxint(4,16)", "mxint(8,32,round=away)", "mxint(8,32,dialect=mase)",
	"mxfp8", "mxfp6", "mxfp4", "mxfp(e5m2,32)", "mxfp(e3m2,16)", "bfp(8,16,8)", "bfp(8,16,8,dialect=mase)",
	"bminifloat(3,2,16,8)", "blog(5,16,8)",
}

// tables are data of few values beside weights of their kind.
var tables = []Formats{
	{Data: "binary", Weight: "binary*[0]"},
	{Data: "ternary*0.5", Weight: "ternary*[0]"},
	{Data: "residual(4)*0.25", Weight: "residual(3)*[0]"},
	{Data: "codebook(-3:-1.5:-0.5:0:0.25:0.5:0.75:1:1.5:2:2.5:3:4:5:6:8)", Weight: "codebook(nf4)*[0]"},
	{Data: "fp16", Weight: "e4m3"},
	{Data: "ufixed(8)", Weight: "int(8)*[0]", Rest: "[[output]]\nname = \"logits\"\nformat = \"fixed(12)\"\n"},
}

// weighed are formats of weights beside data of 8 bits.
var weighed = []string{
	"int(4)*[0]", "binary*[0]", "binary*0.25", "ternary*[0]", "ternary(delta=0.05)*0.15", "residual(2)*[0]",
	"residual(3,scales=[0.5:0.2:0.1])", "codebook(nf4)*0.4", "codebook(-1:-0.5:-0.2:-0.1:0:0.1:0.2:0.5:1)*[0]",
	"float(8,7,ieee)", "fp16", "mxint(8,4x4)", "bfp(6,2x8,8)", "mxfp(e2m1,8x2)",
}

// FormatRows are all rows that docs/formats-exact.md shows.
func FormatRows() (rows []Formats) {
	for _, f := range twice {
		rows = append(rows, Formats{Data: f, Weight: f})
	}
	rows = append(rows, tables...)
	for _, f := range weighed {
		rows = append(rows, Formats{Data: "fixed(8)", Weight: f})
	}
	return rows
}

// FormatLists are all formats of data and all of weights in FormatRows, each once.
func FormatLists() (data, weights []string) {
	for _, f := range FormatRows() {
		if f.Rest == "" && !slices.Contains(data, f.Data) {
			data = append(data, f.Data)
		}
		if !slices.Contains(weights, f.Weight) {
			weights = append(weights, f.Weight)
		}
	}
	return data, weights
}
