// SPDX-License-Identifier: Apache-2.0

package pjrt

import (
	"context"
	"encoding/binary"
	"sync/atomic"

	"lathe/internal/diag"
	"lathe/ir/hlo"
)

// Buffer is an array on the device. It stays there until Drop, until a Step uses it up, or until its engine ends.
type Buffer struct {
	e    *Engine
	id   uint32
	typ  hlo.Type
	gone atomic.Pointer[string] // how it was lost
}

// Type is the type of the array.
func (b *Buffer) Type() hlo.Type { return b.typ }

// Upload copies arrays to the device, or to each of several.
func (e *Engine) Upload(ctx context.Context, arrays ...hlo.Array) ([]*Buffer, error) {
	return e.upload(ctx, 0, arrays)
}

// Spread copies an array to the devices, to each an equal part of an axis, for an input that is split so (see
// hlo.Builder.Split).
func (e *Engine) Spread(ctx context.Context, axis int, a hlo.Array) (*Buffer, error) {
	if axis < 0 || axis >= a.Type.Rank() || a.Type.Dims[axis]%e.Devices() != 0 {
		return nil, diag.New(diag.PJRTRun, "", "axis %d of %s is not divided by %d devices", axis, a.Type, e.Devices())
	}
	out, err := e.upload(ctx, axis+1, []hlo.Array{a})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

func (e *Engine) upload(ctx context.Context, split int, arrays []hlo.Array) ([]*Buffer, error) {
	parts, err := arrayParts(arrays)
	if err != nil {
		return nil, diag.New(diag.PJRTRun, "", "%v", err)
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(split))
	c, err := e.request(ctx, kindUpload, append([][]byte{head}, parts...)...)
	if err != nil {
		return nil, err
	}
	types := make([]hlo.Type, len(arrays))
	for i, a := range arrays {
		types[i] = a.Type
	}
	return e.buffers(c, types)
}

// buffers are those that a reply numbers.
func (e *Engine) buffers(c *cursor, types []hlo.Type) ([]*Buffer, error) {
	first := c.u32()
	out := make([]*Buffer, len(types))
	for i, t := range types {
		out[i] = &Buffer{e: e, id: first + uint32(i), typ: t}
	}
	return out, e.reply(c)
}

// Download copies the array from the device, the first of several.
func (b *Buffer) Download(ctx context.Context) (hlo.Array, error) { return b.DownloadFrom(ctx, 0) }

// DownloadFrom copies what a device has of the array, which is the whole.
func (b *Buffer) DownloadFrom(ctx context.Context, device int) (hlo.Array, error) {
	if err := b.usable("download"); err != nil {
		return hlo.Array{}, err
	}
	message := binary.LittleEndian.AppendUint32(nil, b.id)
	c, err := b.e.request(ctx, kindDownload, binary.LittleEndian.AppendUint32(message, uint32(device)))
	if err != nil {
		return hlo.Array{}, err
	}
	out := c.arrays()
	if err := b.e.reply(c); err != nil {
		return hlo.Array{}, err
	}
	if len(out) != 1 || !out[0].Type.Equal(b.typ) {
		return hlo.Array{}, diag.New(diag.PJRTWorker, b.e.cfg.Plugin, "%d arrays in place of a buffer %s", len(out), b.typ)
	}
	return out[0], nil
}

// Drop frees the array. Dropping a buffer that is gone already is no error.
func (b *Buffer) Drop(ctx context.Context) error {
	if !b.lose("was dropped") {
		return nil
	}
	c, err := b.e.request(ctx, kindFree, binary.LittleEndian.AppendUint32(nil, b.id))
	if err != nil {
		return err
	}
	return b.e.reply(c)
}

// lose notes how a buffer goes; false where it is gone.
func (b *Buffer) lose(how string) bool { return b.gone.CompareAndSwap(nil, &how) }

func (b *Buffer) usable(use string) error {
	if how := b.gone.Load(); how != nil {
		return diag.New(diag.PJRTRun, "", "%s: the buffer %s %s", use, b.typ, *how)
	}
	return nil
}

// Step executes a program of Compile on buffers, in front of the bound arrays, and leaves its results on the device. It
// uses up the buffers of inputs that become results (hlo.Builder.Donate): whoever passes one of them again gets L0805.
// Where the step fails they may be lost too.
func (p *Program) Step(ctx context.Context, args []*Buffer) ([]*Buffer, error) {
	if p.args == nil || len(args)+p.bound != len(p.args) {
		return nil, diag.New(diag.PJRTRun, "", "%d buffers and %d bound arrays for a program of %d arguments", len(args),
			p.bound,
			len(p.args))
	}
	for i, a := range args {
		if a.e != p.e {
			return nil, diag.New(diag.PJRTRun, "", "argument %d is a buffer of another engine", i)
		}
		if !a.typ.Equal(p.args[i]) {
			return nil, diag.New(diag.PJRTRun, "", "argument %d is %s, the program takes %s", i, a.typ, p.args[i])
		}
		if err := a.usable("step"); err != nil {
			return nil, err
		}
		for k := range i {
			if args[k] == a && (p.donated[i] || p.donated[k]) {
				return nil, diag.New(diag.PJRTRun, "", "arguments %d and %d are one buffer, and the step uses it up", k, i)
			}
		}
	}
	message := binary.LittleEndian.AppendUint32(nil, p.id)
	message = binary.LittleEndian.AppendUint32(message, uint32(len(args)))
	for i, a := range args {
		message = append(binary.LittleEndian.AppendUint32(message, a.id), 0)
		if p.donated[i] {
			message[len(message)-1] = 1
			if !a.lose("was used up by a step") {
				return nil, a.usable("step")
			}
		}
	}
	c, err := p.e.request(ctx, kindStep, message)
	if err != nil {
		return nil, err
	}
	return p.e.buffers(c, p.outs)
}
