// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"fmt"
	"slices"
)

// formats are a format of data and one of weights, and what else a plan says.
type formats struct{ data, weight, rest string }

// plan is the text of a plan.
func (f formats) plan() string {
	return fmt.Sprintf("[quantize]\ndata = %q\nweight = %q\n%s", f.data, f.weight, f.rest)
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
var tables = []formats{
	{data: "binary", weight: "binary*[0]"},
	{data: "ternary*0.5", weight: "ternary*[0]"},
	{data: "residual(4)*0.25", weight: "residual(3)*[0]"},
	{data: "codebook(-3:-1.5:-0.5:0:0.25:0.5:0.75:1:1.5:2:2.5:3:4:5:6:8)", weight: "codebook(nf4)*[0]"},
	{data: "fp16", weight: "e4m3"},
	{data: "ufixed(8)", weight: "int(8)*[0]", rest: "[[output]]\nname = \"logits\"\nformat = \"fixed(12)\"\n"},
}

// weighed are formats of weights beside data of 8 bits.
var weighed = []string{
	"int(4)*[0]", "binary*[0]", "binary*0.25", "ternary*[0]", "ternary(delta=0.05)*0.15", "residual(2)*[0]",
	"residual(3,scales=[0.5:0.2:0.1])", "codebook(nf4)*0.4", "codebook(-1:-0.5:-0.2:-0.1:0:0.1:0.2:0.5:1)*[0]",
	"float(8,7,ieee)", "fp16", "mxint(8,4x4)", "bfp(6,2x8,8)", "mxfp(e2m1,8x2)",
}

// formatRows are all rows that docs/formats-exact.md shows.
func formatRows() (rows []formats) {
	for _, f := range twice {
		rows = append(rows, formats{data: f, weight: f})
	}
	rows = append(rows, tables...)
	for _, f := range weighed {
		rows = append(rows, formats{data: "fixed(8)", weight: f})
	}
	return rows
}

// formatLists are all formats of data and all of weights in formatRows, each once.
func formatLists() (data, weights []string) {
	for _, f := range formatRows() {
		if f.rest == "" && !slices.Contains(data, f.data) {
			data = append(data, f.data)
		}
		if !slices.Contains(weights, f.weight) {
			weights = append(weights, f.weight)
		}
	}
	return data, weights
}
