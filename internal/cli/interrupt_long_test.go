// SPDX-License-Identifier: Apache-2.0

//go:build long

package cli_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lathe/internal/clitest"
	"lathe/internal/npz"
)

const (
	moments = 10               // signals to each command
	latest  = 40 * time.Second // longer than this no command is waited for
)

// longer are commands on models of real size. %m is MobileNetV2 at 224 x 224, %r ResNet-8, %a two large arrays.
var longer = []interruption{
	{"", "inspect %m --text --svg %o"},
	{"", "diff %m %m --atol 1"},
	{"", "quantize %r --calibrate %c -o %o.lathe --explain"},
	{"", "plan %m --fps 500 --part xcku5p"},
	{"", "emit-verilog %m -o %o"},
	{"", "emit-verilog %m -o %o --fps 500 --vectors 0"},
	{"", "emit-verilog %r -o %o --fps 3000 --calibrate %c"},
	{"verilator g++ plugin yosys", "verify %r --calibrate %c --samples 4 --second 1 --gates 1 --fps 10000 -o %o"},
	{"verilator g++ plugin yosys", "report %r --calibrate %c --samples 2 -o %o.html"},
	{"yosys", "area %r"},
	{"verilator g++", "run %r --inputs %c -o %o.npz --engine rtl"},
	{"", "run %m --inputs %i -o %o.npz --engine ref"},
	{"plugin", "run %m --inputs %i -o %o.npz --engine pjrt"},
	{"nvrtc", "run %r --inputs %c -o %o.npz --engine cuda --record %o"},
	{"nvrtc", "emit-cuda %m -o %o"},
	{"", "replay %f/recording-long -o %o"},
	{"", "convert --format mxint8 --in %a --out %o.npz"},
	{"", "dot --a mxint8 --b fixed(8,7) --in %a --out %o.npz"},
	{"", "doctor"},
}

// TestInterruptionsAnywhere runs each command to its end, or as long as it is waited for, then sends it signals at
// random moments of that time.
func TestInterruptionsAnywhere(t *testing.T) {
	dir := t.TempDir()
	replace := []string{}
	for name, side := range map[string]int{"mobilenetv2": 224, "resnet8": 32} {
		path := filepath.Join(dir, name+".onnx")
		if err := clitest.ImageNet(path, name, side); err != nil {
			t.Fatal(err)
		}
		replace = append(replace, "%"+name[:1], path)
	}
	for name, arrays := range map[string][]npz.Array{
		"%c": {noise("x", 8, 3, 32, 32)},
		"%i": {noise("x", 2, 3, 224, 224)},
		"%a": {noise("a", 4000, 4096), noise("b", 4096), noise("x", 4000, 4096)},
	} {
		path := filepath.Join(dir, name[1:]+".npz")
		if err := npz.Write(path, arrays); err != nil {
			t.Fatal(err)
		}
		replace = append(replace, name, path)
	}
	for i, c := range slices.Concat(interruptions, longer) {
		c.line = strings.NewReplacer(replace...).Replace(c.line)
		random := rand.New(rand.NewPCG(14, uint64(i)))
		t.Run(fmt.Sprintf("%s_%d", strings.Fields(c.line)[0], i), func(t *testing.T) {
			t.Parallel()
			whole, slowest := interrupt(t, c, latest, syscall.SIGTERM)
			for k := range moments {
				after := time.Duration(random.Int64N(int64(whole)))
				ran, obeyed := interrupt(t, c, after, []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[k%2])
				slowest = max(slowest, obeyed)
				if obeyed == 0 {
					whole = min(whole, ran) // caches are warm
				}
			}
			t.Logf("of %v; the slowest end took %v", whole.Round(time.Millisecond), slowest.Round(time.Millisecond))
		})
	}
}

// noise is an array of random numbers in [-1, 1].
func noise(name string, shape ...int) npz.Array {
	n := 1
	for _, d := range shape {
		n *= d
	}
	random := rand.New(rand.NewPCG(14, uint64(n)))
	v := make([]float32, n)
	for i := range v {
		v[i] = random.Float32()*2 - 1
	}
	return npz.Float32Array(name, shape, v)
}
