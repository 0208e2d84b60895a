// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"strings"
	"testing"
)

// program is a text of some size: short operations one after another, as a compiler prints them.
func program(size int) []byte {
	var b strings.Builder
	b.WriteString("module @m {\n func.func public @main(%0: tensor<1x64xf32>) -> tensor<1x64xf32> {\n")
	i := 0
	for ; b.Len() < size; i += 3 {
		fmt.Fprintf(&b, "    %%%d = stablehlo.add %%%d, %%%d : tensor<1x64xf32> loc(#loc1)\n", i+1, i, i)
		fmt.Fprintf(&b, "    %%%d = stablehlo.broadcast_in_dim %%%d, dims = [0, 1] : (tensor<1x64xf32>) -> "+
			"tensor<1x64xf32>\n", i+2, i+1)
		fmt.Fprintf(&b, "    %%%d = \"stablehlo.slice\"(%%%d) <{start_indices = array<i64: 0, 0>, limit_indices = "+
			"array<i64: 1, 64>, strides = array<i64: 1, 1>}> : (tensor<1x64xf32>) -> tensor<1x64xf32>\n", i+3, i+2)
	}
	fmt.Fprintf(&b, "    return %%%d : tensor<1x64xf32>\n  }\n}\n", i)
	return []byte(b.String())
}

// BenchmarkParse reads 5 MB of operations; B/op is all that is allocated meanwhile.
func BenchmarkParse(b *testing.B) {
	data := program(5 << 20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Parse("m.mlir", data); err != nil {
			b.Fatal(err)
		}
	}
}
