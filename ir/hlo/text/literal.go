// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"strconv"
	"strings"

	"lathe/ir/hlo"
)

// literal is the text of a dense attribute of a type: floats by their bits, so that every one of them (NaN too) is
// exact. An array of one element stands for all.
func literal(a hlo.Array, t hlo.Type) string {
	if t.Len() == 0 {
		return ""
	}
	e := elements(a)
	if a.Type.Len() == 1 {
		return e(0)
	}
	var s strings.Builder
	next := 0
	nest(&s, t.Dims, func() string { next++; return e(next - 1) })
	return s.String()
}

// nest writes axis after axis as nested brackets.
func nest(s *strings.Builder, dims []int, element func() string) {
	if len(dims) == 0 {
		s.WriteString(element())
		return
	}
	s.WriteByte('[')
	for i := range dims[0] {
		if i > 0 {
			s.WriteString(", ")
		}
		nest(s, dims[1:], element)
	}
	s.WriteByte(']')
}

// elements gives the text of each element of an array.
func elements(a hlo.Array) func(i int) string {
	d := a.Type.DType
	if d.IsFloat() {
		n := d.Bytes()
		return func(i int) string {
			var s strings.Builder
			s.WriteString("0x")
			for j := n - 1; j >= 0; j-- {
				fmt.Fprintf(&s, "%02X", a.Data[i*n+j])
			}
			return s.String()
		}
	}
	values := a.Int64s()
	return func(i int) string {
		switch d {
		case hlo.I1:
			return strconv.FormatBool(values[i] != 0)
		case hlo.UI64:
			return strconv.FormatUint(uint64(values[i]), 10)
		}
		return strconv.FormatInt(values[i], 10)
	}
}
