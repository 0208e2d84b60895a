// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"cmp"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
)

// Calibration is data that formats are chosen from.
type Calibration struct {
	// Samples lists float tensors by input name, one a sample, in the layout of the model; all inputs have equally many.
	// Empty: ranges come from interval analysis.
	Samples map[string][]*ir.Tensor
	// Labels are the classes of samples, one for each place of output 0; nil where they are not known.
	Labels [][]int64
}

// arrange checks calibration data against the inputs of the imported graph and turns it into samples: errors L0403 for
// unknown or missing inputs, L0404 for shapes and values that cannot be used.
func (c Calibration) arrange(g *ir.Graph) ([]ref.Sample, error) {
	if len(c.Samples) == 0 {
		return nil, nil
	}
	var names []string
	for _, n := range g.In {
		names = append(names, n.Name)
	}
	var errs diag.List
	for name := range c.Samples {
		if !slices.Contains(names, name) {
			e := diag.New(diag.UnknownEndpoint, g.Name, "calibration data for %q, which is not an input of the model", name)
			errs = append(errs, plan.Nearest(e, name, names))
		}
	}
	slices.SortFunc(errs, func(a, b *diag.Error) int { return cmp.Compare(a.Msg, b.Msg) })
	var samples []ref.Sample
	for k, n := range g.In {
		list := c.Samples[n.Name]
		if k == 0 {
			samples = make([]ref.Sample, len(list))
		}
		if len(list) == 0 || len(list) != len(samples) {
			errs = append(errs, n.Errorf(diag.CalibrationData, "%d calibration samples for input %q, %d for input %q",
				len(list), n.Name,
				len(samples), names[0]).WithHint("give every input as many samples"))
			continue
		}
		for i, t := range list {
			if ir.IsWhole(t.Type.Format) {
				t = asFloats(t)
			}
			if e := usable(n, i, t); e != nil {
				errs = append(errs, e)
				break
			}
			samples[i] = append(samples[i], t)
		}
	}
	if len(errs) == 0 && c.Labels != nil && len(c.Labels) != len(samples) {
		errs = append(errs, diag.New(diag.CalibrationData, g.Name, "%d labels for %d calibration samples", len(c.Labels),
			len(samples)).
			WithHint("give every sample its label"))
	}
	return samples, errs.Err()
}

// asFloats is a tensor of whole numbers as values.
func asFloats(t *ir.Tensor) *ir.Tensor {
	f := ir.NewTensor(ir.Float(t.Type.Shape...))
	for i, c := range t.Codes {
		f.Floats[i] = float32(c)
	}
	return f
}

// usable checks sample i of input n.
func usable(n *ir.Node, i int, t *ir.Tensor) *diag.Error {
	if !t.Type.IsFloat() || !slices.Equal(t.Type.Shape, n.Type.Shape) {
		return n.Errorf(diag.CalibrationData, "calibration sample %d of input %q has shape %s, the model takes %s", i, n.Name,
			ir.ShapeString(t.Type.Shape), ir.ShapeString(n.Type.Shape)).
			WithHint("calibration arrays have the shape of the input, after one leading sample axis")
	}
	if k := calib.InfiniteAt(t.Floats); k >= 0 {
		return n.Errorf(diag.CalibrationData, "calibration sample %d of input %q holds %v at element %d", i, n.Name,
			t.Floats[k], k).
			WithHint("take the sample out of the calibration data, or repair it")
	}
	return nil
}
