// SPDX-License-Identifier: Apache-2.0

//go:build long

package area

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"lathe/internal/tools"
	"lathe/rtl/cmvm"
	"lathe/rtl/cmvm/cmvmtest"
	chains "lathe/rtl/sums"
)

// A constant is a matrix of cmvmtest, and how many LUTs its product with inputs of 8 bits may take.
type constant struct{ in, out, width, most int }

var constants = []constant{
	{32, 5, 6, 1410},
	{16, 16, 8, 2710},
	{32, 32, 4, 5410},
	{32, 32, 6, 7700},
	{16, 64, 6, 7600},
	{64, 32, 6, 15300},
}

func (c constant) String() string { return fmt.Sprintf("%dx%d of %d bits", c.in, c.out, c.width) }

// TestConstants counts products of inputs of 8 bits with the matrices of cmvmtest, without a bound on their depth.
//
//	go test -count=1 -timeout 2h -tags long -run '^TestConstants$' -v ./sim/area
func TestConstants(t *testing.T) {
	tools.Need(t, "yosys")
	for _, c := range constants {
		t.Run(c.String(), func(t *testing.T) {
			f := c.ours(t, 0)
			t.Logf("%+v", *f)
			if f.LUT > c.most {
				t.Errorf("%d LUTs, at most %d expected", f.LUT, c.most)
			}
		})
	}
}

// ours is the product as rtl/cmvm solves it, on one core; nil if it finds none of so few levels.
func (c constant) ours(t *testing.T, levels float64) *figures {
	p := cmvm.Problem{Group: 5, Matrix: cmvmtest.Matrix(c.in, c.out, c.width), Levels: levels}
	for range c.in {
		p.Inputs = append(p.Inputs, cmvm.Range{Lo: -128, Hi: 127})
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	start := processor(t)
	g, err := cmvm.Solve(p)
	seconds := processor(t) - start
	if err != nil {
		t.Logf("%s: %v", c, err)
		return nil
	}
	dir := t.TempDir()
	text := chains.Module("sums", g, g.Pipeline(math.Inf(1), 0))
	if err := os.WriteFile(filepath.Join(dir, "sums.sv"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f := mapped(t, dir, []string{"sums.sv"}, "sums")
	f.Levels, f.Seconds = g.Cost().Levels, seconds
	return f
}

// processor is how many seconds of a processor this process has taken.
func processor(t *testing.T) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
