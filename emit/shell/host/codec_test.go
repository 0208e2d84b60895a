// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/emit"
	"lathe/emit/shell"
	"lathe/emit/shell/host"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
	"lathe/rtl"
	"lathe/sim"
)

// converted are formats that drivers convert, with all rules of rounding and overflow.
func converted() []string {
	list := []string{"fixed(8,4)", "ufixed(8,8)", "fixed(6,2,over=wrap)", "ufixed(7,3,over=wrap)", "fixed(8,4,over=sym)",
		"fixed(8,5,over=0..96)", "fixed(16,10)", "fixed(24,12)", "fixed(30,20)", "ufixed(20,-2)", "int(8,z=-3)*0.05",
		"uint(8,z=128)*0.0123", "int(8,div=f32)*0.007874016", "uint(8,z=7,div=f32)*0.3", "float(4,3)", "float(2,1)",
		"dfloat(3,2)", "log(5)", "mxint8", "mxint(4,16)", "int(1)", "uint(1)", "fixed(40,30)"}
	for _, r := range []string{"away", "up", "down", "halfzero", "floor", "ceil", "zero", "outward"} {
		list = append(list, "fixed(8,3,round="+r+")", "int(8,z=5,round="+r+")*0.05")
	}
	return list
}

// folder writes the driver of a design without hardware, whose outputs are its inputs.
func folder(t *testing.T, ports []emit.Port) string {
	t.Helper()
	d := &emit.Design{Name: "ports", Top: "ports", Version: "0"}
	c := &shell.Core{Name: "ports", Top: "ports", Version: "0", Timeout: 1000}
	for _, input := range []bool{true, false} {
		at := 0
		for _, p := range ports {
			p.Input = input
			if !input && p.Perm != nil { // axis i of the stream is axis Perm[i] of the array, and the other way round
				p.Perm = []int{0, 3, 1, 2}
			}
			d.Ports = append(d.Ports, p)
			bytes := (p.Type.BeatWidth(p.Lanes) + 7) / 8
			c.Streams = append(c.Streams, shell.Stream{Prefix: p.Name, Input: input, Bytes: bytes, Beats: p.Beats, Offset: at})
			at += bytes * p.Beats
		}
	}
	files, err := host.Files(d, c, host.Samples{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text, err := shell.Map(c)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, append(files, rtl.File{Name: "axi/registers.json", Data: text},
		rtl.File{Name: "axi/ports_axi.h", Data: shell.Header(c)}))
	return filepath.Join(dir, "axi", "driver")
}

func write(t *testing.T, dir string, files []rtl.File) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), args[0], args[1:]...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// strict are the flags of all C.
var strict = strings.Fields("-std=c11 -Wall -Wextra -Werror -pedantic -O1 -fsanitize=undefined -fno-sanitize-recover")

// random are ports of types with lanes, layouts and units of features of many kinds.
func random(t *testing.T, r *rand.Rand) (ports []emit.Port) {
	for i, text := range converted() {
		f, err := format.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		typ := ir.Type{Shape: []int{1, 3, 2, 20}, Format: f}
		p := emit.Port{Name: fmt.Sprintf("x%d", i), Type: typ, Lanes: []int{1, 2, 4, 20}[r.IntN(4)]}
		if b, ok := typ.BlockFormat(); ok {
			p.Lanes = []int{1, 2, 4}[r.IntN(3)]
			if b.BlockSize()%p.Lanes != 0 {
				p.Lanes = 1
			}
		}
		if i%2 == 1 {
			p.Perm = []int{0, 2, 3, 1}
		}
		if i%3 == 1 {
			for c := range 20 {
				p.Exponents = append(p.Exponents, c%7-3)
			}
		}
		p.Beats = typ.Elems() / p.Lanes
		ports = append(ports, p)
	}
	return ports
}

// number is a value among codes, between two, or far away.
func number(r *rand.Rand) float32 {
	switch r.IntN(8) {
	case 0:
		return []float32{0, float32(math.Copysign(0, -1)), 1e9, -1e9, 0.5, -0.5, 1e-30}[r.IntN(7)]
	case 1, 2, 3:
		return float32(r.IntN(513)-256) / 64
	case 4:
		return float32(math.Ldexp(r.NormFloat64(), r.IntN(24)-16))
	}
	return float32(r.NormFloat64())
}

// TestCodec: C and Python make the frames of values that the reference makes, and read them as it does.
func TestCodec(t *testing.T) {
	tools.Need(t, "gcc")
	python := tools.NeedNumPy(t)
	r := rand.New(rand.NewPCG(1, 2))
	ports := random(t, r)
	driver := folder(t, ports)
	script, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	run(t, driver, append(append([]string{"gcc"}, strict...), "-I.", "-o", "codec", filepath.Join(script, "codec.c"),
		"ports_driver.c", "ports_ports.c", "-lm")...)
	const samples = 8
	dir, frames, values := t.TempDir(), make([][]byte, len(ports)), make([][]byte, len(ports))
	for i, p := range ports {
		var in []byte
		for range samples {
			given := make([]float32, p.Type.Elems())
			for k := range given {
				given[k] = number(r)
				in = binary.LittleEndian.AppendUint32(in, math.Float32bits(given[k]))
			}
			frame, value := expected(t, p, given)
			frames[i], values[i] = append(frames[i], frame...), append(values[i], value...)
		}
		write(t, dir, []rtl.File{{Name: fmt.Sprintf("in_%d", i), Data: in}})
	}
	for _, command := range [][]string{{"./codec", dir},
		{python, "-B", filepath.Join(script, "codec.py"), driver, dir}} {
		run(t, driver, command...)
		for i, p := range ports {
			for name, want := range map[string][]byte{"frame": frames[i], "value": values[i], "again": frames[i]} {
				got, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%s_%d", name, i)))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: %s of %s, %d lanes: %v\n%x, want\n%x", command[0], name, p.Type.Format, p.Lanes, err, got, want)
				}
			}
		}
	}
}

// expected is the frame of values in the caller's layout, and what it decodes to.
func expected(t *testing.T, p emit.Port, given []float32) (frame, value []byte) {
	t.Helper()
	index := make([]int, len(given)) // where elements of the stream stand in the array
	for i := range index {
		index[i] = i
	}
	if p.Perm != nil {
		s := p.Type.Shape
		index = ir.TransposeIndex([]int{s[0], s[3], s[1], s[2]}, p.Perm)
	}
	stream := make([]float32, len(given))
	for i, k := range index {
		stream[i] = given[k]
	}
	n := &ir.Node{Name: p.Name, Op: leaf.Input, Attrs: &ir.Input{Exponents: p.Exponents}, Type: p.Type}
	n.Attrs.(*ir.Input).Scale(stream)
	v := ir.EncodeFloats(p.Type, stream)
	decoded, err := v.Decode()
	if err != nil {
		t.Fatal(err)
	}
	array := make([]float32, len(given))
	for i, k := range index {
		array[k] = float32(decoded[i])
	}
	for _, x := range array {
		value = binary.LittleEndian.AppendUint32(value, math.Float32bits(x))
	}
	return sim.PackValue(v, p.Lanes), value
}
