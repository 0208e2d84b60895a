// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"bytes"

	"lathe/internal/diag"
)

// readResources finds the resources in a block {-# dialect_resources: { builtin: { name: "0x..." } } #-}: names are
// those in front of texts that begin with 0x.
func (f *File) readResources(at, end int) error {
	var name []byte
	for i := at; i < end; i++ {
		switch c := f.src[i]; {
		case c == '"':
			stop := stringEnd(f.src, i)
			if stop < 0 || stop > end {
				return f.errorAt(diag.MLIRSyntax, i, "a string has no end")
			}
			if inner := f.src[i+1 : stop-1]; bytes.HasPrefix(inner, []byte("0x")) {
				if _, twice := f.resources[string(name)]; twice {
					return f.errorAt(diag.DuplicateName, i, "the resource %q is defined twice", name)
				}
				f.resources[string(name)] = span{i + 1, stop - 1}
			} else {
				name = inner
			}
			i = stop - 1
		case wordByte(c):
			stop := i
			for stop < end && wordByte(f.src[stop]) {
				stop++
			}
			name = f.src[i:stop]
			i = stop - 1
		}
	}
	return nil
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-' ||
		c == '$'
}
