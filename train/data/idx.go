// SPDX-License-Identifier: Apache-2.0

package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"

	"lathe/internal/diag"
)

// bytesArray is an array of bytes, samples first.
type bytesArray struct {
	dims []int
	data []byte
}

// most bounds what a file may hold, unpacked.
const most = 4 << 30

// readIDX reads a file of unsigned bytes in the format of MNIST (LeCun, Cortes and Burges), packed by gzip or not.
func readIDX(path string) (*bytesArray, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	bad := func(format string, args ...any) error { return diag.New(diag.ArrayBroken, path, format, args...) }
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err == nil {
			raw, err = io.ReadAll(io.LimitReader(z, most))
		}
		if err != nil {
			return nil, bad("gzip: %v", err)
		}
	}
	if len(raw) < 4 || raw[0] != 0 || raw[1] != 0 || raw[3] == 0 {
		return nil, bad("this is no IDX file")
	}
	if raw[2] != 8 {
		return nil, bad("elements of type 0x%02x; only unsigned bytes (0x08) are read", raw[2])
	}
	a := &bytesArray{data: raw[4:]}
	n := 1
	for range int(raw[3]) {
		if len(a.data) < 4 {
			return nil, bad("the data end early")
		}
		d := int(binary.BigEndian.Uint32(a.data))
		if a.data = a.data[4:]; d == 0 || n > len(raw)/d {
			return nil, bad("an axis of %d does not fit %d bytes", d, len(raw))
		}
		n *= d
		a.dims = append(a.dims, d)
	}
	if n != len(a.data) {
		return nil, bad("%d elements, and %d bytes of data", n, len(a.data))
	}
	return a, nil
}

func (a *bytesArray) wholes() []int64 {
	out := make([]int64, len(a.data))
	for i, v := range a.data {
		out[i] = int64(v)
	}
	return out
}

// samples are pictures from 0 to 1.
func (a *bytesArray) samples(path string, shape []int) (*Data, error) {
	x := make([]float32, len(a.data))
	for i, v := range a.data {
		x[i] = float32(v) / 255
	}
	f, err := one(path, a.dims[0], a.dims[1:], shape, x)
	return &Data{File: f}, err
}
