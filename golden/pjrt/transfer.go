// SPDX-License-Identifier: Apache-2.0

//go:build cgo && linux

package pjrt

import (
	"slices"

	"github.com/gomlx/gopjrt/dtypes"
	"github.com/gomlx/gopjrt/pjrt"

	"lathe/internal/diag"
	"lathe/ir/hlo"
	"lathe/ir/hlo/text"
)

// elements pairs the element types here with those of the binding.
var elements = [...]struct {
	here  hlo.DType
	there dtypes.DType
}{
	{hlo.I1, dtypes.Bool}, {hlo.I8, dtypes.Int8}, {hlo.I32, dtypes.Int32}, {hlo.I64, dtypes.Int64},
	{hlo.UI8, dtypes.Uint8}, {hlo.UI32, dtypes.Uint32}, {hlo.UI64, dtypes.Uint64},
	{hlo.F32, dtypes.Float32}, {hlo.F64, dtypes.Float64},
}

// toDevice copies arrays to a device.
func toDevice(client *pjrt.Client, device int, arrays []hlo.Array) ([]*pjrt.Buffer, error) {
	var out []*pjrt.Buffer
	for i, a := range arrays {
		var there dtypes.DType
		for _, e := range elements {
			if e.here == a.Type.DType {
				there = e.there
			}
		}
		data := a.Data
		if len(data) == 0 {
			data = []byte{0} // the binding takes the address of the first byte
		}
		b, err := client.BufferFromHost().ToDeviceNum(device).FromRawData(data, there, a.Type.Dims).Done()
		if err != nil {
			destroy(out)
			return nil, diag.New(diag.PJRTRun, "", "argument %d (%s) does not reach the device: %s", i, a.Type, brief(err))
		}
		out = append(out, b)
	}
	return out, nil
}

// part is what a device gets of an array of which each gets an equal part of an axis, counted from 1; 0: the whole.
func part(a hlo.Array, split, device, devices int) hlo.Array {
	if split == 0 || devices == 1 {
		return a
	}
	dims := slices.Clone(a.Type.Dims)
	dims[split-1] /= devices
	run := a.Type.DType.Bytes() // bytes in a row that one device gets
	for _, d := range dims[split-1:] {
		run *= d
	}
	out := hlo.Array{Type: hlo.Type{DType: a.Type.DType, Dims: dims}}
	for at := device * run; at < len(a.Data); at += devices * run {
		out.Data = append(out.Data, a.Data[at:at+run]...)
	}
	return out
}

// toHost copies a result from the device.
func toHost(b *pjrt.Buffer) (hlo.Array, error) {
	dims, err := b.Dimensions()
	if err != nil {
		return hlo.Array{}, diag.New(diag.PJRTRun, "", "result without dimensions: %s", brief(err))
	}
	there, err := b.DType()
	if err != nil {
		return hlo.Array{}, diag.New(diag.PJRTRun, "", "result without element type: %s", brief(err))
	}
	t := hlo.Type{Dims: dims}
	for _, e := range elements {
		if e.there == there {
			t.DType = e.here
		}
	}
	if msg := t.Check(); msg != "" {
		return hlo.Array{}, diag.New(diag.PJRTRun, "", "result of type %v: %s", there, msg)
	}
	a := hlo.Array{Type: t, Data: make([]byte, t.Len()*t.DType.Bytes())}
	if len(a.Data) == 0 {
		return a, nil
	}
	if err := b.ToHost(a.Data); err != nil {
		return a, diag.New(diag.PJRTRun, "", "result does not reach the host: %s", brief(err))
	}
	return a, nil
}

// selfTest runs the canary with its second operand in memory that device and host share.
func selfTest(client *pjrt.Client) error {
	p, x, w := canaryProgram()
	exec, err := client.Compile().WithStableHLO([]byte(text.Print(p))).Done()
	if err != nil {
		return err
	}
	defer exec.Destroy()
	ones := make([]float32, x.Len())
	for i := range ones {
		ones[i] = 1
	}
	lhs, err := toDevice(client, 0, []hlo.Array{hlo.FromFloat32s(x.Dims, ones)})
	if err != nil {
		return err
	}
	defer destroy(lhs)
	rhs, flat, err := client.NewSharedBuffer(dtypes.Float32, w.Dims)
	if err != nil {
		return err
	}
	defer rhs.Destroy()
	return canary(flat.([]float32), func() ([]float64, error) {
		results, err := exec.Execute(lhs[0], rhs).Done()
		defer destroy(results)
		if err != nil {
			return nil, err
		}
		y, err := toHost(results[0])
		return y.Float64s(), err
	})
}
