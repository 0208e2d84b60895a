// SPDX-License-Identifier: Apache-2.0

package diag

var rows = []Entry{
	{"L0994", "No kernel for rows or attention takes the problem: its shape, formats, strides or masks.",
		"reduce.Softmax{Matrix: reduce.Matrix{Rows: 1, Cols: -1}}.Valid(arch)"},
}
