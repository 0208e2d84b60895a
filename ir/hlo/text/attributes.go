// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"strconv"
	"strings"

	"lathe/ir/hlo"
)

// attributes is the text between the braces of an operation's properties, "" where it has none.
func attributes(o *hlo.Operation, operands []hlo.Type) string {
	a := &o.Attrs
	switch o.Kind {
	case hlo.KindConstant:
		return "value = dense<" + literal(a.Value, o.Type) + "> : " + o.Type.String()
	case hlo.KindIota:
		return fmt.Sprintf("iota_dimension = %d : i64", a.Axes[0])
	case hlo.KindCompare:
		return "comparison_direction = #stablehlo<comparison_direction " + string(a.Dir) +
			">, compare_type = #stablehlo<comparison_type " + compareType(operands[0].DType) + ">"
	case hlo.KindTranspose:
		return "permutation = " + ints(a.Axes)
	case hlo.KindBroadcast:
		return "broadcast_dimensions = " + ints(a.Axes)
	case hlo.KindReduce, hlo.KindReverse:
		return "dimensions = " + ints(a.Axes)
	case hlo.KindSlice:
		return fmt.Sprintf("limit_indices = %s, start_indices = %s, strides = %s", ints(a.Limit), ints(a.Start),
			ints(a.Stride))
	case hlo.KindConcatenate:
		return fmt.Sprintf("dimension = %d : i64", a.Axes[0])
	case hlo.KindPad:
		return fmt.Sprintf("edge_padding_high = %s, edge_padding_low = %s, interior_padding = %s", ints(a.High),
			ints(a.Low), ints(a.Inner))
	case hlo.KindGather:
		return gather(operands[0], operands[1])
	case hlo.KindScatter:
		return scatter(operands[0])
	case hlo.KindDynamicSlice:
		return "slice_sizes = " + ints(o.Type.Dims)
	case hlo.KindDot:
		return dot(a.Dot)
	case hlo.KindConvolution:
		return convolution(a.Conv)
	case hlo.KindReduceWindow:
		return window(a.Window)
	}
	return ""
}

// argumentAttributes are those of the function that say which results take over the memory of arguments, and which
// parts of them each of several devices gets.
func argumentAttributes(args []hlo.Argument, devices int) string {
	some := devices > 1
	list := make([]string, len(args))
	for i, a := range args {
		var parts []string
		if devices > 1 {
			parts = append(parts, sharding(a.Type, a.Split))
		}
		if a.Becomes > 0 {
			some = true
			parts = append(parts, fmt.Sprintf("tf.aliasing_output = %d : i32", a.Becomes-1))
		}
		list[i] = "{" + strings.Join(parts, ", ") + "}"
	}
	if !some {
		return ""
	}
	return "arg_attrs = [" + strings.Join(list, ", ") + "], "
}

// sharding says that axis split, counted from 1, is divided among the devices; 0: each has the whole.
func sharding(t hlo.Type, split int) string {
	axes := make([]string, t.Rank())
	for i := range axes {
		if axes[i] = "{}"; i == split-1 {
			axes[i] = "{\"devices\"}"
		}
	}
	return "sdy.sharding = #sdy.sharding<@mesh, [" + strings.Join(axes, ", ") + "]>"
}

// wholeResults are the attributes of results that each device has.
func wholeResults(results []hlo.Type) string {
	list := make([]string, len(results))
	for i, t := range results {
		list[i] = "{" + sharding(t, 0) + "}"
	}
	return "res_attrs = [" + strings.Join(list, ", ") + "], "
}

// compareType is how elements of d are compared.
func compareType(d hlo.DType) string {
	switch {
	case d.IsFloat():
		return "FLOAT"
	case !d.IsSigned():
		return "UNSIGNED"
	}
	return "SIGNED"
}

// gather takes rows of a table.
func gather(table, idx hlo.Type) string {
	offsets, row := "", table.Dims[1:]
	if len(row) > 0 {
		offsets = fmt.Sprintf("offset_dims = [%s], ", intList(seq(idx.Rank(), len(row))))
	}
	return fmt.Sprintf("dimension_numbers = #stablehlo.gather<%scollapsed_slice_dims = [0], start_index_map = [0], "+
		"index_vector_dim = %d>, indices_are_sorted = false, slice_sizes = %s",
		offsets, idx.Rank(), ints(append([]int{1}, row...)))
}

// scatter writes rows of a table.
func scatter(table hlo.Type) string {
	rows := ""
	if table.Rank() > 1 {
		rows = fmt.Sprintf("update_window_dims = [%s], ", intList(seq(1, table.Rank()-1)))
	}
	return "indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<" + rows +
		"inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false"
}

func dot(d hlo.Dot) string {
	var parts []string
	for _, p := range []struct {
		name string
		axes []int
	}{
		{"lhs_batching_dimensions", d.LhsBatch}, {"rhs_batching_dimensions", d.RhsBatch},
		{"lhs_contracting_dimensions", d.LhsContract}, {"rhs_contracting_dimensions", d.RhsContract},
	} {
		parts = append(parts, fmt.Sprintf("%s = [%s]", p.name, intList(p.axes)))
	}
	return "dot_dimension_numbers = #stablehlo.dot<" + strings.Join(parts, ", ") + ">"
}

func convolution(c hlo.Conv) string {
	n := len(c.Stride)
	flips := make([]string, n)
	for i := range flips {
		flips[i] = "false"
	}
	padding, reversal := "dense<"+pads(c.Low, c.High)+">", "array<i1: "+strings.Join(flips, ", ")+">"
	if n == 0 {
		padding, reversal = "dense<>", "array<i1>"
	}
	return fmt.Sprintf("batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<%sx%s->%s>, "+
		"feature_group_count = %d : i64, lhs_dilation = %s, padding = %s : tensor<%dx2xi64>, "+
		"rhs_dilation = %s, window_reversal = %s, window_strides = %s",
		letters(c.Input), letters(c.Kernel), letters(c.Output), c.Groups, ints(c.InDilation), padding, n,
		ints(c.KernelDilation), reversal, ints(c.Stride))
}

func window(w hlo.Window) string {
	ones := make([]int, len(w.Size))
	for i := range ones {
		ones[i] = 1
	}
	return fmt.Sprintf("base_dilations = %s, padding = dense<%s> : tensor<%dx2xi64>, window_dilations = %s, "+
		"window_dimensions = %s, window_strides = %s", ints(ones), pads(w.Low, w.High), len(w.Size), ints(w.Dilation),
		ints(w.Size), ints(w.Stride))
}

// pads are pairs of padding before and behind each axis.
func pads(low, high []int) string {
	s := make([]string, len(low))
	for i := range s {
		s[i] = fmt.Sprintf("[%d, %d]", low[i], high[i])
	}
	return "[" + strings.Join(s, ", ") + "]"
}

// letters turns "b01f" into "[b, 0, 1, f]".
func letters(axes string) string { return "[" + strings.Join(strings.Split(axes, ""), ", ") + "]" }

// ints is the text of an i64 array attribute.
func ints(values []int) string {
	if len(values) == 0 {
		return "array<i64>"
	}
	return "array<i64: " + intList(values) + ">"
}

func intList(values []int) string {
	s := make([]string, len(values))
	for i, v := range values {
		s[i] = strconv.Itoa(v)
	}
	return strings.Join(s, ", ")
}

// seq is n numbers from start on.
func seq(start, n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = start + i
	}
	return s
}
