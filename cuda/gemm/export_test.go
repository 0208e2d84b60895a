// SPDX-License-Identifier: Apache-2.0

package gemm

// What tests with graphs need. They stand outside of the package: operations import it.
var (
	Int8s  = int8s
	Dice   = dice
	ArchOf = arch
)

// Long is the constant long.
const Long = long

// CodeBytes is the size of a code of the result.
func (p Int8) CodeBytes() int64 {
	_, size := p.element()
	return size
}
