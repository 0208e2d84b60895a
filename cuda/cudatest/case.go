// SPDX-License-Identifier: Apache-2.0

package cudatest

import (
	"cmp"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/ptx"
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
	j := Job{Kernels: c.Instances, Launches: c.Launches, Quick: quick, Arch: target(c.Instances)}
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

// target is the architecture whose PTX runs kernels: "" is the portable one, others where one exists for nothing else.
func target(kernels []cuda.Instance) string {
	for _, i := range kernels {
		if len(cuda.For("sm_80", []cuda.Instance{i})) == 0 {
			return i.Template.Archs[0]
		}
	}
	return ""
}

// Sectors runs a job of one launch on whole, aligned tensors, and holds the sectors that it touches to the budget in
// the header of its kernel.
func Sectors(t testing.TB, j Job) {
	t.Helper()
	budget, err := j.Kernels[0].Sectors()
	if err != nil || budget == 0 {
		t.Fatalf("%s has no budget of sectors: %v", j.Kernels[0], err)
	}
	j.Quick = true
	_, stats := Trace(t, j)
	if s := stats[0]; s.Sectors == 0 || 100*s.Sectors > int64(budget)*s.SectorsIdeal {
		t.Errorf("%s touches %d sectors, %d are needed, its budget is %d %%", j.Kernels[0], s.Sectors, s.SectorsIdeal,
			budget)
	}
}

// Planted runs a case once, with the race detector, after the text `sound` of its source has become `fault`. It returns
// what shows the fault, the error of the run or the verdict; "" where nothing does.
func Planted(t testing.TB, c cuda.Case, sound, fault string) string {
	t.Helper()
	source, err := cuda.Print(c.Instances...)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(source, sound) != 1 {
		t.Fatalf("%s: the source has %q %d times", c.Name, sound, strings.Count(source, sound))
	}
	source = strings.Replace(source, sound, fault, 1)
	unit, err := Compiler(t).Compile(t.Context(), "planted.cu", source, cmp.Or(target(c.Instances), cuda.PortablePTX))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := ptx.Parse("planted.ptx", unit.PTX)
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := JobOf(c, true).On(mod, ptx.Options{Races: true})
	if err != nil {
		return err.Error()
	}
	return c.Check(out).Wrong
}
