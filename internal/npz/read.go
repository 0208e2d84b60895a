// SPDX-License-Identifier: Apache-2.0

package npz

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/diag"
)

// Read reads a .npz file, or a .npy file, whose one array is named after the file. What the file is decides its first
// bytes, not its name.
func Read(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		e := diag.New(diag.ArrayOpen, path, "%s", plain(err))
		if near := diag.NearestFile(path); near != "" {
			e = e.WithHint("did you mean %s?", near)
		}
		return nil, e
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		return nil, diag.New(diag.ArrayOpen, path, "this file cannot be read")
	}
	return readFrom(f, info.Size(), path)
}

// saving says how to write arrays that are in some other file.
func saving(path string) string {
	base := filepath.Base(path)
	ext := filepath.Ext(base)
	to := strings.TrimSuffix(base, ext) + ".npz"
	if ext == ".csv" || ext == ".txt" {
		return fmt.Sprintf("numpy.savez(%q, numpy.loadtxt(%q, delimiter=\",\")) makes one of a table", to, base)
	}
	return fmt.Sprintf("write one with numpy.savez(%q, name=array)", to)
}

// plain is the cause of an error of package os without the path, which the position tells.
func plain(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	if e, ok := err.(*os.LinkError); ok {
		return e.Err
	}
	return err
}

func readFrom(r io.ReaderAt, size int64, path string) (*File, error) {
	var first [2]byte
	if _, err := r.ReadAt(first[:], 0); err != nil {
		return nil, readError(err, path)
	}
	out := &File{Path: path}
	if string(first[:]) == magic[:2] {
		name := strings.TrimSuffix(filepath.Base(path), ".npy")
		a, err := readArray(io.NewSectionReader(r, 0, size), size, path)
		if err != nil {
			return nil, err
		}
		a.Name = name
		out.Arrays = []Array{*a}
		return out, nil
	}
	if string(first[:]) != "PK" {
		return nil, diag.New(diag.ArrayBroken, path, "this is neither a .npz nor a .npy file").
			WithHint("%s", saving(path))
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, diag.New(diag.ArrayBroken, path, "the zip directory cannot be read: %v", err)
	}
	return out, readMembers(z, out)
}

// maxRatio is above what deflate can reach (1032 to 1); a member that claims more is not what it says.
const maxRatio = 1100

func readMembers(z *zip.Reader, out *File) error {
	if len(z.File) > maxArrays {
		return diag.New(diag.ArraySizes, out.Path, "%d arrays; the limit is %d", len(z.File), maxArrays)
	}
	total := uint64(0)
	names := make([]string, 0, len(z.File))
	for _, m := range z.File {
		if m.UncompressedSize64/maxRatio > m.CompressedSize64 || m.UncompressedSize64 > maxBytes {
			return diag.New(diag.ArraySizes, out.Path, "member %q claims %d bytes, packed in %d; the limit is %d",
				m.Name, m.UncompressedSize64, m.CompressedSize64, int64(maxBytes))
		}
		if total += m.UncompressedSize64; total > maxBytes {
			return diag.New(diag.ArraySizes, out.Path, "the arrays have more than %d bytes", int64(maxBytes))
		}
		name, ok := strings.CutSuffix(m.Name, ".npy")
		if !ok {
			return diag.New(diag.ArrayBroken, out.Path, "member %q is not a .npy array", m.Name)
		}
		names = append(names, name)
	}
	sorted := slices.Sorted(slices.Values(names))
	for i := range sorted {
		if i > 0 && sorted[i] == sorted[i-1] {
			return diag.New(diag.ArrayBroken, out.Path, "array %q is there twice", sorted[i])
		}
	}
	for i, m := range z.File {
		pos := out.Path + ": " + names[i]
		r, err := m.Open()
		if err != nil {
			return diag.New(diag.ArrayBroken, pos, "%v", err)
		}
		a, err := readArray(r, int64(m.UncompressedSize64), pos)
		r.Close()
		if err != nil {
			return err
		}
		a.Name = names[i]
		out.Arrays = append(out.Arrays, *a)
	}
	return nil
}

// readArray reads one array from a member of size bytes and demands that it ends where the header says.
func readArray(r io.Reader, size int64, pos string) (*Array, error) {
	h, used, err := readHeader(r, pos)
	if err != nil {
		return nil, err
	}
	if h.bytes() > maxBytes || used+h.bytes() != size {
		return nil, diag.New(diag.ArraySizes, pos, "shape %v of %s takes %d bytes, but %d follow the header",
			h.shape, h.dtype.name, h.bytes(), size-used)
	}
	data, err := readAll(r, int(h.bytes()))
	if err != nil {
		return nil, readError(err, pos)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF { // a zip member checks its sum at its end
		return nil, diag.New(diag.ArrayBroken, pos, "the data do not end where they should (%v)", err)
	}
	if h.swapped {
		swapBytes(data, h.dtype.size)
	}
	if h.fortran {
		data = cOrder(data, h.shape, h.dtype.size)
	}
	return &Array{Shape: h.shape, DType: h.dtype.name, data: data}, nil
}

// readAll reads n bytes, taking memory as they come: a claim alone allocates 16 MiB at most.
func readAll(r io.Reader, n int) ([]byte, error) {
	data := make([]byte, 0, min(n, 1<<24))
	for len(data) < n {
		if len(data) == cap(data) {
			data = slices.Grow(data, min(len(data), n-len(data)))
		}
		part := data[len(data):min(cap(data), n)]
		if _, err := io.ReadFull(r, part); err != nil {
			return nil, err
		}
		data = data[:len(data)+len(part)]
	}
	return data, nil
}

// swapBytes turns big-endian elements into little-endian ones.
func swapBytes(data []byte, size int) {
	for i := 0; i < len(data); i += size {
		slices.Reverse(data[i : i+size])
	}
}

// cOrder reorders an array whose first axis is innermost so that its last axis is.
func cOrder(data []byte, shape []int, size int) []byte {
	out := make([]byte, 0, len(data))
	strides := make([]int, len(shape)) // in the source, in bytes
	step := size
	for i, d := range shape {
		strides[i] = step
		step *= d
	}
	at := make([]int, len(shape))
	for from := 0; len(out) < len(data); {
		out = append(out, data[from:from+size]...)
		for k := len(shape) - 1; k >= 0; k-- {
			at[k]++
			from += strides[k]
			if at[k] < shape[k] {
				break
			}
			from -= shape[k] * strides[k]
			at[k] = 0
		}
	}
	return out
}
