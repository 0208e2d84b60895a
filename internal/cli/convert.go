// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/format/array"
)

func (a *App) convert() *cobra.Command {
	var name, in, out string
	var decode bool
	c := &cobra.Command{Use: "convert --format F --in X.npz --out Y.npz",
		Short: "encode an array in a number format, or decode it",
		Long: "Encodes array x into codes and values (float64), and for block formats into scales, with blocks along\n" +
			"the last axis. With --decode, decodes codes (and scales) into values.",
		Example: "  lathe convert --format 'fixed(8,4)' --in x.npz --out y.npz", Args: exactly()}
	c.Flags().StringVar(&name, "format", "", "number format, such as fixed(8,4) or mxint8")
	c.Flags().StringVar(&in, "in", "", "input arrays (.npz)")
	c.Flags().StringVar(&out, "out", "", "output arrays (.npz)")
	c.Flags().BoolVar(&decode, "decode", false, "decode codes (and scales) into values")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := required(c, "format", "in", "out"); err != nil {
			return err
		}
		if err := writable(out, diag.ArrayWrite); err != nil {
			return err
		}
		f, err := format.Parse(name)
		if err != nil {
			return err
		}
		file, err := npz.Read(in)
		if err != nil {
			return err
		}
		return a.arrays(c.Context(), out, func() ([]npz.Array, error) { return convertArrays(f, file, decode) })
	}
	return a.withJSON(c)
}

// convertArrays encodes array x, or decodes arrays codes and scales.
func convertArrays(f format.Format, file *npz.File, decode bool) ([]npz.Array, error) {
	if !decode {
		x, err := only(file, "x")
		if err != nil {
			return nil, err
		}
		e, err := array.Encode(f, x.Shape, x.Float64s(), 0)
		if err != nil {
			return nil, diag.At(err, diag.DotOperands, file.Path)
		}
		out := []npz.Array{npz.Int64Array("codes", e.Shape, e.Codes), npz.Float64Array("values", e.Shape, e.Values())}
		if e.Scales != nil {
			shape := ir.Type{Shape: e.Shape, Format: f}.ScaleShape()
			out = append(out, npz.Int64Array("scales", shape, e.Scales))
		}
		return out, nil
	}
	codes, err := only(file, "codes")
	if err != nil {
		return nil, err
	}
	c, err := codes.Int64s()
	if err != nil {
		return nil, diag.At(err, diag.DotOperands, file.Path)
	}
	var scales []int64
	if s, err := file.Get("scales"); err == nil {
		if scales, err = s.Int64s(); err != nil {
			return nil, diag.At(err, diag.DotOperands, file.Path)
		}
	}
	e, err := array.FromCodes(f, codes.Shape, c, scales)
	if err != nil {
		return nil, diag.At(err, diag.DotOperands, file.Path)
	}
	return []npz.Array{npz.Float64Array("values", e.Shape, e.Values())}, nil
}

// only finds an array by name, or takes the single array of a file.
func only(f *npz.File, name string) (*npz.Array, error) {
	if len(f.Arrays) == 1 {
		return &f.Arrays[0], nil
	}
	return f.Get(name)
}

func (a *App) dot() *cobra.Command {
	var nameA, nameB, in, out string
	c := &cobra.Command{Use: "dot --a F --b F --in X.npz --out Y.npz", Short: "multiply and sum encoded arrays exactly",
		Long: "Encodes arrays a [r,n] and b [n] along the last axis, multiplies and sums exactly, and writes\n" +
			"y [r] (float64).",
		Example: "  lathe dot --a mxint8 --b 'fixed(8,7)' --in x.npz --out y.npz", Args: exactly()}
	c.Flags().StringVar(&nameA, "a", "", "number format of a")
	c.Flags().StringVar(&nameB, "b", "", "number format of b")
	c.Flags().StringVar(&in, "in", "", "input arrays a and b (.npz)")
	c.Flags().StringVar(&out, "out", "", "output array y (.npz)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := required(c, "a", "b", "in", "out"); err != nil {
			return err
		}
		if err := writable(out, diag.ArrayWrite); err != nil {
			return err
		}
		fa, err := format.Parse(nameA)
		if err != nil {
			return err
		}
		fb, err := format.Parse(nameB)
		if err != nil {
			return err
		}
		file, err := npz.Read(in)
		if err != nil {
			return err
		}
		return a.arrays(c.Context(), out, func() ([]npz.Array, error) { return dotArrays(fa, fb, file) })
	}
	return a.withJSON(c)
}

// dotArrays multiplies the rows of a by b.
func dotArrays(fa, fb format.Format, file *npz.File) ([]npz.Array, error) {
	x, err := file.Get("a")
	if err != nil {
		return nil, err
	}
	w, err := file.Get("b")
	if err != nil {
		return nil, err
	}
	if len(w.Shape) != 1 || len(x.Shape) < 1 || x.Shape[len(x.Shape)-1] != w.Shape[0] {
		return nil, diag.New(diag.DotOperands, file.Path, "a has shape %s and b %s; a is [r,n] and b [n]",
			ir.ShapeString(x.Shape),
			ir.ShapeString(w.Shape))
	}
	y, err := array.Dot(fa, x.Shape, x.Float64s(), fb, w.Float64s(), 0)
	if err != nil {
		return nil, diag.At(err, diag.DotOperands, file.Path)
	}
	return []npz.Array{npz.Float64Array("y", x.Shape[:len(x.Shape)-1], y)}, nil
}

// arrays computes arrays and writes them. A signal does not wait for the rest of a large one.
func (a *App) arrays(ctx context.Context, out string, compute func() ([]npz.Array, error)) error {
	p := progress{app: a}
	defer p.finish()
	p.Report("compute", 0, 0)
	var arrays []npz.Array
	if err := abandoned(ctx, func() (err error) {
		arrays, err = compute()
		return err
	}); err != nil {
		return err
	}
	p.finish()
	if err := a.writeArrays(ctx, out, arrays); err != nil {
		return err
	}
	return a.writeJSON(map[string]any{"output": out, "arrays": a.printArrays(out, arrays)})
}

// arrayFacts describe an array that was written.
type arrayFacts struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
	DType string `json:"dtype"`
}

// writeArrays writes a file of arrays.
func (a *App) writeArrays(ctx context.Context, path string, arrays []npz.Array) error {
	p := progress{app: a}
	defer p.finish()
	p.Report("write "+path, 0, 0)
	return abandoned(ctx, func() error { return npz.Write(path, arrays) })
}

// printArrays prints what was written.
func (a *App) printArrays(path string, arrays []npz.Array) (facts []arrayFacts) {
	for _, arr := range arrays {
		facts = append(facts, arrayFacts{arr.Name, arr.Shape, arr.DType})
		fmt.Fprintf(a.Out, "%s: %s %s -> %s\n", arr.Name, ir.ShapeString(arr.Shape), arr.DType, path)
	}
	return facts
}
