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

// arrayFile is a fixture of arrays.
type arrayFile struct {
	name   string
	arrays []npz.Array
}

// alone is an array alone in its file, two are both of theirs.
func alone(name string, v []float32, shape ...int) []npz.Array {
	return []npz.Array{npz.Float32Array(name, shape, v)}
}

func two(a, b npz.Array) []npz.Array { return []npz.Array{a, b} }

// bound are files that stand for inputs of models, and one of unsigned integers.
func bound() []arrayFile {
	return []arrayFile{
		{"weights.npz", []npz.Array{npz.Float32Array("w1", []int{6, 8}, weightValues("w1", 48)),
			npz.Float32Array("b1", []int{6}, weightValues("b1", 6)), npz.Float32Array("w2", []int{4, 6}, weightValues("w2", 24)),
			npz.Float32Array("b2", []int{4}, weightValues("b2", 4))}},
		{"numbered.npz", []npz.Array{npz.Float32Array("arr_0", []int{1, 8}, ramp(8)), npz.Float32Array("3",
			[]int{4, 6}, weightValues("w2", 24)), npz.Float32Array("iterations", nil, []float32{1})}},
		{"near-name.npz", alone("w_1", weightValues("w1", 48), 6, 8)},
		{"square-weight.npz", alone("w1", weightValues("w1", 36), 6, 6)},
		{"double-weight.npz", []npz.Array{npz.Float64Array("w1", []int{6, 8}, make([]float64, 48))}},
		{"two.npz", two(npz.Float32Array("a", []int{1, 4}, ramp(4)), npz.Float32Array("b", []int{1, 4}, ramp(4)))},
		{"half.npz", alone("a", ramp(4), 1, 4)},
		{"other-half.npz", alone("b", ramp(4), 1, 4)},
		{"whole-half.npz", []npz.Array{npz.Int64Array("a", []int{1, 4}, []int64{1, 2, 3, 4})}},
		{"weight.npz", alone("w", weightValues("w", 32), 4, 8)},
		{"unsigned.npz", two(npz.Int64Array("a", []int{2}, []int64{3, 5}), npz.Int64Array("b", []int{2}, []int64{5, 3}))},
	}
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
	files := []arrayFile{
		{"x.npz", alone("x", ramp(samples*8), samples, 8)},
		{"many.npz", alone("x", ramp(50_000*8), 50_000, 8)},
		{"image.npz", alone("x", ramp(samples*72), samples, 2, 6, 6)},
		{"channels-last.npz", alone("x", ramp(samples*72), samples, 6, 6, 2)},
		{"one-hot.npy", alone("labels", oneHot(labels), samples, 4)},
		{"wrong-shape.npz", alone("x", ramp(samples*9), samples, 9)},
		{"wrong-name.npz", two(npz.Float32Array("data", []int{1, 8}, ramp(8)), npz.Float32Array("w", []int{2}, ramp(2)))},
		{"nan.npz", alone("x", nan, samples, 8)},
		{"huge-values.npz", alone("x", large, samples, 8)},
		{"none.npz", alone("x", nil, 0, 8)},
		{"one.npy", alone("x", ramp(8), 1, 8)},
		{"operands_x.npz", alone("x", ramp(120), 3, 40)},
		{"even.npz", two(npz.Float32Array("a", []int{3, 4}, ramp(12)), npz.Float32Array("b", []int{3, 4}, ramp(12)))},
		{"padded-ids.npz", []npz.Array{npz.Int64Array("ids", []int{2, 4}, []int64{3, 5, 2, 7, 3, 5, 1, 1})}},
		{"uneven.npz", two(npz.Float32Array("a", []int{3, 4}, ramp(12)), npz.Float32Array("b", []int{2, 4}, ramp(8)))},
		{"operands.npz", two(npz.Float32Array("a", []int{3, 40}, ramp(120)), npz.Float32Array("b", []int{40}, ramp(40)))},
		{"mismatch.npz", two(npz.Float32Array("a", []int{3, 4}, ramp(12)), npz.Float32Array("b", []int{5}, ramp(5)))},
		{"two-others.npz", two(npz.Float32Array("p", []int{3, 4}, ramp(12)), npz.Float32Array("q", []int{4}, ramp(4)))},
		{"tokens.npz", two(npz.Int64Array("input_ids", []int{2, 3}, []int64{1, 7, 3, 0, 2, 5}),
			npz.Int64Array("attention_mask", []int{2, 3}, []int64{1, 1, 1, 1, 1, 0}))},
		{"codes.npz", []npz.Array{npz.Int64Array("codes", []int{2, 3}, []int64{1, 2, 3, 4, 5, 6})}},
		{"labels.npy", []npz.Array{npz.Int64Array("labels", []int{samples}, labels)}},
		{"far-labels.npy", []npz.Array{npz.Int64Array("labels", []int{samples}, far)}},
		{"half-labels.npy", alone("labels", ramp(samples), samples)},
		{"few-labels.npy", []npz.Array{npz.Int64Array("labels", []int{3}, labels[:3])}},
	}
	for _, f := range append(files, bound()...) {
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

// oneHot is a row of four numbers for each label, 1 at its place.
func oneHot(labels []int64) []float32 {
	rows := make([]float32, 4*len(labels))
	for i, l := range labels {
		rows[4*i+int(l)] = 1
	}
	return rows
}

// rawNPY is a file of format version 1.0 with the given header and 1280 bytes of zeros.
func rawNPY(header string) []byte {
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	data := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header)))
	return append(append(data, header...), make([]byte, 1280)...)
}
