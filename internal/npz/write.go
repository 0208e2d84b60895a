// SPDX-License-Identifier: Apache-2.0

package npz

import (
	"archive/zip"
	"encoding/binary"
	"io"
	"math"
	"strings"
	"time"

	"lathe/internal/atomicfile"
	"lathe/internal/diag"
)

// Float32Array makes an array of float32; x has one element for each index of shape, row-major.
func Float32Array(name string, shape []int, x []float32) Array {
	data := make([]byte, 0, 4*len(x))
	for _, v := range x {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return Array{Name: name, Shape: shape, DType: "float32", data: data}
}

// Float64Array makes an array of float64.
func Float64Array(name string, shape []int, x []float64) Array {
	data := make([]byte, 0, 8*len(x))
	for _, v := range x {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	return Array{Name: name, Shape: shape, DType: "float64", data: data}
}

// Int64Array makes an array of int64.
func Int64Array(name string, shape []int, x []int64) Array {
	data := make([]byte, 0, 8*len(x))
	for _, v := range x {
		data = binary.LittleEndian.AppendUint64(data, uint64(v))
	}
	return Array{Name: name, Shape: shape, DType: "int64", data: data}
}

// WholeArray makes an array of an integer type or bool, by name; elements keep their low bits.
func WholeArray(name, dtype string, shape []int, x []int64) Array {
	size := dtypeOf(dtype).size
	data := make([]byte, 0, size*len(x)+8)
	for _, v := range x {
		data = binary.LittleEndian.AppendUint64(data, uint64(v))[:len(data)+size]
	}
	return Array{Name: name, Shape: shape, DType: dtype, data: data}
}

// Write writes arrays to path: as .npy if the name ends so and there is one array, else as .npz. The same arrays give
// the same bytes. The file appears whole or not at all: it is written under another name and then renamed.
func Write(path string, arrays []Array) error {
	if err := check(path, arrays); err != nil {
		return err
	}
	err := atomicfile.Write(path, func(w io.Writer) error {
		if strings.HasSuffix(path, ".npy") {
			return writeArray(w, arrays[0])
		}
		return writeZip(w, arrays)
	})
	if err != nil {
		return diag.New(diag.ArrayWrite, path, "%s", plain(err))
	}
	return nil
}

// check refuses arrays that no reader would take back.
func check(path string, arrays []Array) error {
	if strings.HasSuffix(path, ".npy") && len(arrays) != 1 {
		return diag.New(diag.ArrayWrite, path, "a .npy file holds one array, not %d",
			len(arrays)).WithHint("name the file .npz")
	}
	seen := []string{}
	for _, a := range arrays {
		n, ok := elems(a.Shape)
		if d := dtypeOf(a.DType); !ok || len(a.Shape) > maxRank || d.size == 0 || n*d.size != len(a.data) {
			return diag.New(diag.ArraySizes, path, "array %q: %d bytes for shape %v of %s", a.Name, len(a.data), a.Shape,
				a.DType)
		}
		if a.Name == "" {
			return diag.New(diag.ArrayWrite, path, "an array has no name")
		}
		for _, s := range seen {
			if s == a.Name {
				return diag.New(diag.ArrayWrite, path, "two arrays are named %q", s)
			}
		}
		seen = append(seen, a.Name)
	}
	return nil
}

func writeArray(w io.Writer, a Array) error {
	if _, err := io.WriteString(w, headerText(dtypeOf(a.DType), a.Shape)); err != nil {
		return err
	}
	_, err := w.Write(a.data)
	return err
}

// zipTime is the earliest time that a zip file can tell; the true one would make every run's bytes differ.
var zipTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// writeZip stores the arrays without compression, as numpy.savez does.
func writeZip(w io.Writer, arrays []Array) error {
	z := zip.NewWriter(w)
	for _, a := range arrays {
		m, err := z.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: zip.Store, Modified: zipTime})
		if err != nil {
			return err
		}
		if err := writeArray(m, a); err != nil {
			return err
		}
	}
	return z.Close()
}
