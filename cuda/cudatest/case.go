// SPDX-License-Identifier: Apache-2.0

package cudatest

import (
	"testing"

	"lathe/cuda"
)

// RunCase runs a case in every order, or in two where quick is set, and fails the test by its verdict.
func RunCase(t testing.TB, c cuda.Case, quick bool) cuda.Verdict {
	t.Helper()
	v := c.Check(Run(t, JobOf(c, quick)))
	if v.Wrong != "" {
		t.Errorf("%s: %s", c.Name, v.Wrong)
		stop(t)
	}
	return v
}

// JobOf is the job that runs a case.
func JobOf(c cuda.Case, quick bool) Job {
	j := Job{Kernels: c.Instances, Launches: c.Launches, Quick: quick}
	for _, b := range c.Buffers {
		job := Buffer{Name: b.Name, Bytes: b.Bytes, Out: b.Output}
		if b.Fill != nil {
			job.Data = make([]byte, b.Bytes)
			b.Fill(job.Data)
		}
		j.Buffers = append(j.Buffers, job)
	}
	return j
}
