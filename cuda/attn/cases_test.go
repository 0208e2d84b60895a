// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"testing"

	"lathe/cuda/attn/attntest"
	"lathe/cuda/cudatest"
)

// TestCases runs the small cases, and demands that a wrong output is seen.
func TestCases(t *testing.T) {
	cases, err := attntest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Timed {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			out := cudatest.Run(t, cudatest.JobOf(c, true))
			if v := c.Check(out); v.Wrong != "" || v.MaxErr > v.Tol {
				t.Errorf("%+v", v)
			}
			var names []string
			for _, b := range c.Buffers {
				if b.Output {
					names = append(names, b.Name)
				}
			}
			for k := range out {
				if names[k] == attntest.Parts {
					continue
				}
				out[k][0] ^= 0xFF
				out[k][3] ^= 0x40
				if v := c.Check(out); v.Wrong == "" {
					t.Errorf("a wrong word of output %d passes", k)
				}
				out[k][0] ^= 0xFF
				out[k][3] ^= 0x40
			}
		})
	}
}
