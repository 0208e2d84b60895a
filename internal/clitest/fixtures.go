// SPDX-License-Identifier: Apache-2.0

// Package clitest makes what tests of the command line run on: the programs, built once, and small models and arrays,
// sound and broken, whose file names say what is the matter with them.
package clitest

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/npz"
)

// Build compiles lathe, emit-verilog and emit-cuda into dir. The working folder lies two below the project's root.
func Build(dir string) error {
	c := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./cmd/...")
	c.Dir = filepath.Join("..", "..")
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %v\n%s", err, text)
	}
	return nil
}

// WriteModels writes every model into dir.
func WriteModels(dir string) error {
	all := slices.Concat(soundModels(), brokenModels(), brokenQuantModels())
	for _, m := range all {
		if err := os.WriteFile(filepath.Join(dir, m.name), m.model.encode(), 0o644); err != nil {
			return err
		}
	}
	for name, data := range programs() {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	data := mlp().encode()
	for name, part := range map[string][]byte{"truncated.onnx": data[:len(data)/2], "empty.onnx": nil,
		"bytecode.mlir": []byte("ML\xefR\x01StableHLO")} {
		if err := os.WriteFile(filepath.Join(dir, name), part, 0o644); err != nil {
			return err
		}
	}
	return writeFolders(dir)
}

// samples is how many samples the sound input arrays hold.
const samples = 20

// ramp is n multiples of 1/32 in [-2, 2] that look random.
func ramp(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32((i*i*5+i*17)%129-64) / 32
	}
	return x
}

// WriteArrays writes every array file into dir.
func WriteArrays(dir string) error {
	nan, large := ramp(samples*8), ramp(samples*8)
	nan[11] = float32(math.NaN())
	for i := range large {
		large[i] = math.MaxFloat32
	}
	labels := make([]int64, samples)
	for i := range labels {
		labels[i] = int64(i % 4)
	}
	far := append([]int64{4}, labels[1:]...)
	one := func(name string, v []float32, shape ...int) []npz.Array {
		return []npz.Array{npz.Float32Array(name, shape, v)}
	}
	pair := func(a, b npz.Array) []npz.Array { return []npz.Array{a, b} }
	files := []struct {
		name   string
		arrays []npz.Array
	}{
		{"x.npz", one("x", ramp(samples*8), samples, 8)},
		{"many.npz", one("x", ramp(50_000*8), 50_000, 8)},
		{"image.npz", one("x", ramp(samples*72), samples, 2, 6, 6)},
		{"wrong-shape.npz", one("x", ramp(samples*9), samples, 9)},
		{"wrong-name.npz", pair(npz.Float32Array("data", []int{1, 8}, ramp(8)), npz.Float32Array("w", []int{2}, ramp(2)))},
		{"nan.npz", one("x", nan, samples, 8)},
		{"huge-values.npz", one("x", large, samples, 8)},
		{"none.npz", one("x", nil, 0, 8)},
		{"one.npy", one("x", ramp(8), 1, 8)},
		{"operands_x.npz", one("x", ramp(120), 3, 40)},
		{"even.npz", pair(npz.Float32Array("a", []int{3, 4}, ramp(12)), npz.Float32Array("b", []int{3, 4}, ramp(12)))},
		{"uneven.npz", pair(npz.Float32Array("a", []int{3, 4}, ramp(12)), npz.Float32Array("b", []int{2, 4}, ramp(8)))},
		{"operands.npz", pair(npz.Float32Array("a", []int{3, 40}, ramp(120)), npz.Float32Array("b", []int{40}, ramp(40)))},
		{"mismatch.npz", pair(npz.Float32Array("a", []int{3, 4}, ramp(12)), npz.Float32Array("b", []int{5}, ramp(5)))},
		{"two-others.npz", pair(npz.Float32Array("p", []int{3, 4}, ramp(12)), npz.Float32Array("q", []int{4}, ramp(4)))},
		{"tokens.npz", pair(npz.Int64Array("input_ids", []int{2, 3}, []int64{1, 7, 3, 0, 2, 5}),
			npz.Int64Array("attention_mask", []int{2, 3}, []int64{1, 1, 1, 1, 1, 0}))},
		{"codes.npz", []npz.Array{npz.Int64Array("codes", []int{2, 3}, []int64{1, 2, 3, 4, 5, 6})}},
		{"labels.npy", []npz.Array{npz.Int64Array("labels", []int{samples}, labels)}},
		{"far-labels.npy", []npz.Array{npz.Int64Array("labels", []int{samples}, far)}},
		{"half-labels.npy", one("labels", ramp(samples), samples)},
		{"few-labels.npy", []npz.Array{npz.Int64Array("labels", []int{3}, labels[:3])}},
	}
	for _, f := range files {
		if err := npz.Write(filepath.Join(dir, f.name), f.arrays); err != nil {
			return err
		}
	}
	for name, header := range map[string]string{
		"bad-header.npy": "{'descr': '<f4', 'shape': (20, 8)",
		"complex.npy":    "{'descr': '<c8', 'fortran_order': False, 'shape': (20, 8), }",
		"huge-shape.npy": "{'descr': '<f4', 'fortran_order': False, 'shape': (2000, 8000), }",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), rawNPY(header), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// rawNPY is a file of format version 1.0 with the given header and 1280 bytes of zeros.
func rawNPY(header string) []byte {
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	data := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header)))
	return append(append(data, header...), make([]byte, 1280)...)
}
