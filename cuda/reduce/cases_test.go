// SPDX-License-Identifier: Apache-2.0

package reduce_test

import (
	"strings"
	"testing"

	"lathe/cuda/cudatest"
	"lathe/cuda/reduce/reducetest"
)

// TestCases runs what is checked on a GPU, as far as it is small, and sees a wrong row in each case.
func TestCases(t *testing.T) {
	all, err := reducetest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Timed {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			v := cudatest.RunCase(t, c, true)
			if v.MaxErr <= 0.01 || v.MaxErr > 1 {
				t.Errorf("largest error %v of the tolerance", v.MaxErr)
			}
			out := cudatest.Run(t, cudatest.JobOf(c, true))
			out[0][len(out[0])-1] ^= 0x40 // the exponent of the last value
			if v := c.Check(out); !strings.Contains(v.Wrong, "column ") {
				t.Errorf("a wrong value passes: %+v", v)
			}
			if len(out) > 1 {
				out[0][len(out[0])-1] ^= 0x40
				out[1][0] ^= 1
				if v := c.Check(out); !strings.Contains(v.Wrong, "sum, row 0, column 0") {
					t.Errorf("a wrong sum passes: %+v", v)
				}
			}
		})
	}
}
