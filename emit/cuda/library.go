// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"lathe/cuda"
	"lathe/cuda/predictor"
	"lathe/internal/diag"
	"lathe/ir"
)

// library makes the units of g by kernels of the library, as the CUDA column of its anchor says. ok is false, with the
// reason if there is one, where it has none.
func (e *emitter) library(g *ir.Group) (ok bool, why string, err error) {
	column := g.Anchor.Op.CUDA
	if column == nil || e.generic {
		return false, "", nil
	}
	u, err := column(g, e.target)
	var refusal *cuda.Refusal
	if errors.As(err, &refusal) {
		return false, refusal.Why, nil
	}
	if err != nil {
		return false, "", g.Anchor.Diag(diag.ReferenceOnly, err)
	}
	for _, in := range u.InPlace {
		n := g.Inputs[in]
		if e.keepInputs {
			return false, fmt.Sprintf("the kernel changes %s, which is the caller's", n.Name), nil
		}
		if !n.IsInput() || e.readers[n] != 1 {
			return false, fmt.Sprintf("%s is read by others than the kernel that changes it", n.Name), nil
		}
	}
	for i, n := range g.Outputs {
		if in, ok := u.InPlace[i]; ok {
			e.at[n] = e.at[g.Inputs[in]]
			continue
		}
		e.at[n] = e.place(n)
	}
	operands := make([]Arg, len(u.Operands))
	for i, o := range u.Operands {
		operands[i] = e.operand(g, o)
	}
	for i, c := range u.Calls {
		unit, err := e.call(g, c, operands)
		if err != nil {
			return false, "", err
		}
		if i == 0 {
			unit.Notes, unit.Flops = slices.Clone(u.Notes), cmp.Or(c.Flops, flops(g, nil))
		}
		if err := e.predict(&unit, &c.Instance, g); err != nil {
			return false, "", err
		}
		e.d.Units = append(e.d.Units, unit)
	}
	return true, "", nil
}

// operand gives an operand of a unit of g its place.
func (e *emitter) operand(g *ir.Group, o cuda.Operand) Arg {
	switch o.Kind {
	case cuda.Input:
		return Arg{Buffer: e.at[g.Inputs[o.Index]].codes}
	case cuda.InputScales:
		return Arg{Buffer: e.at[g.Inputs[o.Index]].scales}
	case cuda.Output:
		return Arg{Buffer: e.at[g.Outputs[o.Index]].codes}
	case cuda.OutputScales:
		return Arg{Buffer: e.at[g.Outputs[o.Index]].scales}
	case cuda.Scratch:
		return Arg{Buffer: e.buffer(g.Anchor.Name+" parts", o.Bytes)}
	}
	return Arg{Offset: e.table(o.Data())} // cuda.Table
}

// call is one launch of g, and makes its kernel known.
func (e *emitter) call(g *ir.Group, c cuda.Call, operands []Arg) (Unit, error) {
	threads, err := c.Instance.Threads()
	if err != nil {
		return Unit{}, err
	}
	shared, err := c.Instance.Shared()
	if err != nil {
		return Unit{}, err
	}
	u := unitOf(g, c.Instance.Kernel)
	u.Template, u.Threads, u.Shared = c.Instance.String(), threads, shared
	u.Blocks, u.Rows, u.Tile, u.MaxSamples, u.Bytes = c.Blocks, c.Rows, c.Tile, int(c.Samples()), c.Bytes
	for _, a := range c.Args {
		if a.Buffer < 0 {
			u.Args = append(u.Args, Arg{Buffer: scalar, Size: a.Size, Value: a.Bits, PerSample: a.PerSample,
				Multiple: a.Multiple})
			continue
		}
		at := operands[a.Buffer]
		at.Offset += a.Offset
		at.Tensor, at.PerSample = a.Map, a.PerSample
		u.Args = append(u.Args, at)
	}
	if !slices.ContainsFunc(e.instances, func(i cuda.Instance) bool { return i.Kernel == c.Instance.Kernel }) {
		e.instances = append(e.instances, c.Instance)
		if archs := c.Instance.Template.Archs; len(archs) > 0 {
			e.d.Only = archs[0]
		}
	}
	for _, n := range g.Members {
		user := fmt.Sprintf("// %s = %s: %s", describe(n), n.Op.Name, c.Instance.Kernel)
		if n.Pos != "" {
			user += "\n//     " + printable(n.Pos)
		}
		e.users = append(e.users, user)
	}
	return u, nil
}

// predict says how long a unit takes on the samples for which kernels are chosen; of is nil where the kernel was made
// for its group.
func (e *emitter) predict(u *Unit, of *cuda.Instance, g *ir.Group) error {
	peak, tables := cuda.PeakOf(e.target.Arch), int64(0)
	for _, a := range u.Args {
		if a.Buffer == 0 {
			tables += e.lengths[a.Offset]
		}
	}
	tables = min(tables, u.Bytes)
	samples := e.target.Samples
	n := min(samples, u.MaxSamples) // of a launch
	bytes, flops := tables+(u.Bytes-tables)*int64(n), u.Flops*int64(n)
	c := peak.Scalar()
	model, err := predictor.Fitted()
	if err != nil {
		return err
	}
	grid := u.Grid(n)
	blocks := int64(grid[0]) * int64(grid[1])
	var work *predictor.Work
	if of != nil {
		if c, err = peak.CeilingOf(*of, e.target.Arch); err != nil {
			return err
		}
		work, err = predictor.WorkOf(e.target.Arch, predictor.Launch{Instance: *of, Blocks: blocks, Bytes: bytes,
			Sizes: predictor.SizesOf(*of, e.d.launch(*u, 0, n).Args, n)})
		if err != nil {
			return err
		}
	} else {
		sum := slices.ContainsFunc(g.Members, sums)
		if sum {
			c = peak.Single()
		}
		work = predictor.Made(blocks, u.Threads, bytes, flops, sum)
	}
	launches := float64(samples) / float64(n)
	u.Ceiling, u.Floor = c.Instruction, launches*peak.Floor(bytes, flops, c)
	u.Predicted = launches * model.Seconds(e.target.Arch, work)
	return nil
}
