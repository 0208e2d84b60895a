// SPDX-License-Identifier: Apache-2.0

package rtltest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// RandomImage is a memory image, in $readmemh form, of random words of so many bits; the same ones in each run.
func RandomImage(words, bits int) string {
	r, text := rand.New(rand.NewPCG(7, uint64(bits))), &strings.Builder{}
	for range words {
		for rest := bits; rest > 0; rest -= 32 {
			fmt.Fprintf(text, "%0*x", (min(rest, 32)+3)/4, r.Uint32()>>(32-min(rest, 32)))
		}
		text.WriteByte('\n')
	}
	return text.String()
}
