// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lathe/golden/ref"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/lower/calib"
	"lathe/lower/own"
)

// maxAlike bounds the nodes of one operation that get an error each.
const maxAlike = 3

// refuseFloat lists the nodes whose operations have no exact integer meaning. Error L0410 for each; from four nodes of
// one operation on, the first stands for all.
func refuseFloat(s *State, g *ir.Graph) error {
	var errs diag.List
	var lost []*ir.Node
	alike := map[*ir.Op]int{}
	for _, n := range g.Nodes {
		if n.Op.Traits.FloatOnly {
			lost = append(lost, n)
			alike[n.Op]++
		}
	}
	said := map[*ir.Op]bool{}
	for _, n := range lost {
		if said[n.Op] && alike[n.Op] > maxAlike {
			continue
		}
		e := n.Errorf("L0410", "%s (node %q) has no integer form in this version", n.Op.Name, n.Name)
		if n.Op.Traits.RoundsOnce {
			e = e.WithNote("the operations that it consists of would each round, and lose small values")
		}
		if why := n.Op.Legal; why != nil {
			if err := why(n); err != nil && !errors.Is(err, column.ErrNoInteger) {
				e = e.WithNote("%s", message(err))
			}
		}
		if alike[n.Op] > maxAlike {
			e = e.WithNote("the same holds for %d more nodes", alike[n.Op]-1)
		}
		said[n.Op], errs = true, append(errs, e)
	}
	if len(errs) > 0 { // one way out, for all
		errs[0] = errs[0].WithHint("%s, or stay in float: run and emit-cuda do, without --plan and --calibrate",
			s.endAt(g, lost...))
	}
	return errs.Err()
}

// endAt says how to leave nodes of g out of the model: by ending it at the values in front of them and of all that
// needs them. Those go by their names in the imported graph, where a bias is a node of its own that lowering merges
// into another one.
func (s *State) endAt(g *ir.Graph, nodes ...*ir.Node) string {
	if s.imported != nil {
		there := make([]*ir.Node, len(nodes))
		for i, n := range nodes {
			if there[i] = s.imported.Find(n.Name); there[i] == nil || there[i].Op != n.Op {
				there = nil
				break
			}
		}
		if there != nil {
			g, nodes = s.imported, there
		}
	}
	front := frontOf(g, func(n *ir.Node) bool { return slices.Contains(nodes, n) })
	if flag := outputsFlag(front); flag != "" && len(front) <= maxKinds {
		return "end the model at what stands in front: " + flag
	}
	if len(nodes) > maxKinds {
		return fmt.Sprintf("leave these %d nodes out of the model", len(nodes))
	}
	var names []string
	for _, n := range nodes {
		names = append(names, strconv.Quote(n.Name))
	}
	return fmt.Sprintf("leave %s out of the model", strings.Join(names, ", "))
}

// frontOf are the values of g that refused nodes, and all that needs those, read from others.
func frontOf(g *ir.Graph, refused func(n *ir.Node) bool) (front []*ir.Node) {
	lost := map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		lost[n] = refused(n) || slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return lost[a] })
		for _, a := range n.Args {
			if lost[n] && !lost[a] {
				front = append(front, a)
			}
		}
	}
	return front
}

// outputsFlag is the flag that ends a model at what the nodes compute; "" where they are inputs and constants.
func outputsFlag(nodes []*ir.Node) string {
	var names []string
	for _, a := range nodes {
		for a.Op.Traits.Perm != nil { // inserted by lowering, for the most part
			a = a.Args[0]
		}
		if !a.IsConst() && !a.IsInput() && !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	list := strings.Join(names, ",")
	if strings.ContainsAny(list, " \"'$&;|<>()*?`\\#!~") {
		list = "'" + strings.ReplaceAll(list, "'", "'\\''") + "'"
	}
	return "--outputs " + list
}

// refuseInfinite names each constant that holds NaN or an infinity, at the first node that reads it: whatever is
// measured or bounded behind it would blame another one. Error L0408.
func refuseInfinite(g *ir.Graph) error {
	var errs diag.List
	seen := map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		for _, a := range n.Args {
			if !a.IsConst() || !a.Type.IsFloat() || seen[a] {
				continue
			}
			seen[a] = true
			if k, v := firstInfinite(a.Attrs.(*ir.Const).Data); k >= 0 {
				errs = append(errs, n.Errorf("L0408", "constant %q, of shape %s, holds %v at flat index %d", a.Name,
					ir.ShapeString(a.Type.Shape), v, k).WithHint("repair the weights of the model: no number format holds this"))
			}
		}
	}
	return errs.Err()
}

// mostRead is how many weights InfiniteWeights reads, so that a look at a large model stays quick.
const mostRead = 1 << 26

// InfiniteWeights tells, a line each, of the weights of a float graph that hold NaN or an infinity, among the first
// mostRead of them.
func InfiniteWeights(g *ir.Graph) []string {
	var lines []string
	read := 0
	seen := map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		if !n.Op.Traits.Weighted {
			continue
		}
		for _, a := range n.Args[1:] {
			if !a.IsConst() || !a.Type.IsFloat() || seen[a] {
				continue
			}
			seen[a] = true
			if read += a.Type.Elems(); read > mostRead {
				return lines
			}
			if k, v := firstInfinite(a.Attrs.(*ir.Const).Data); k >= 0 {
				lines = append(lines, fmt.Sprintf("constant %q, of shape %s, holds %v at flat index %d", a.Name,
					ir.ShapeString(a.Type.Shape), v, k))
			}
		}
	}
	return lines
}

// firstInfinite finds the first element of b that is NaN or infinite; k is -1 where there is none.
func firstInfinite(b *ir.Blob) (k int, v float32) {
	const piece = 1 << 16
	buf := make([]float32, min(piece, b.Len()))
	for from := 0; from < b.Len(); from += piece {
		part := buf[:min(piece, b.Len()-from)]
		b.FloatsAt(part, from)
		if i := infiniteAt(part); i >= 0 {
			return from + i, part[i]
		}
	}
	return -1, 0
}

// infiniteAt is the index of the first element that is NaN or infinite, -1 where there is none.
func infiniteAt(x []float32) int {
	return slices.IndexFunc(x, func(v float32) bool { return v-v != 0 })
}

// bound finds out which values are possible behind the formats of a quantized model, whatever the samples.
func (s *State) bound(g *ir.Graph) error {
	model, err := own.Of(g)
	if err != nil || !model.Quantized || s.Plan.Quantize.Data.Given {
		return err
	}
	bounds, err := calib.Intervals(g, func(n *ir.Node) (lo, hi float64) {
		if f, ok := model.Format(n); ok {
			return f.Limits()
		}
		return s.values[n].Min, s.values[n].Max
	})
	if err == nil { // else there are operations whose values nothing bounds, and samples have to do
		s.bounds = bounds
	}
	return nil
}

// calibrate finds out which values each node takes: from samples, or from the declared ranges of the inputs.
func calibrate(s *State, g *ir.Graph) error {
	err := refuseInfinite(g)
	if err != nil {
		return err
	}
	if len(s.Samples) > 0 {
		in := make([]ref.Sample, len(s.Samples))
		for i, sample := range s.Samples {
			in[i] = enter(g, sample)
		}
		if s.values, err = calib.Observe(s.runner.ctx, g, in); err != nil {
			return err
		}
		err = s.bound(g)
	} else {
		var model *own.Model
		if model, err = own.Of(g); err != nil {
			return err
		}
		s.values, err = calib.Intervals(g, func(n *ir.Node) (lo, hi float64) {
			lo, hi, declared := s.Plan.rangeOf(n)
			if f, ok := model.Format(n); ok && !declared && n.IsInput() {
				return f.Limits() // the model quantizes it: nothing lies beyond
			}
			if n.IsInput() && !declared { // Cut looks at the whole graph
				if f, ok := model.Cut(g, n); ok {
					return own.Format{Format: f}.Limits() // nothing beyond makes a difference
				}
			}
			if size := positionsOf(g, n); !declared && size > 0 && n.IsInput() {
				return 0, float64(size - 1) // what it looks up
			}
			if declared {
				s.Report.note("no calibration data: formats come from interval analysis, input %q in [%s, %s] by %s", n.Name,
					diag.Number(lo, -1), diag.Number(hi, -1), s.Plan.input(n.Name).From)
			} else {
				s.Report.note("no calibration data: formats come from interval analysis, input %q taken as [-1, 1]; "+
					"declare its range in the plan, or give samples", n.Name)
			}
			return lo, hi
		})
	}
	if err != nil {
		return err
	}
	for _, n := range g.Nodes {
		if v := s.values[n]; v != nil {
			n.Stats = ir.Stats{Known: true, Min: v.Min, Max: v.Max, Samples: len(s.Samples)}
		}
	}
	return nil
}
