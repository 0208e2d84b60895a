// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"

	"lathe/golden/pjrt"
	"lathe/ir/hlo"
)

// Engine runs step programs.
type Engine interface {
	Compile(ctx context.Context, p *hlo.Program) (Program, error)
	// Upload leaves arrays where programs read them.
	Upload(ctx context.Context, arrays ...hlo.Array) ([]Buffer, error)
	// Spread leaves an array for an input of which each device gets an equal part of an axis.
	Spread(ctx context.Context, axis int, a hlo.Array) (Buffer, error)
}

// Program is a compiled program.
type Program interface {
	// Step runs the program, and uses up the arguments that become results.
	Step(ctx context.Context, args []Buffer) ([]Buffer, error)
}

// Buffer is an array that an engine holds.
type Buffer interface {
	Download(ctx context.Context) (hlo.Array, error)
	Drop(ctx context.Context) error
}

// OnPJRT is an engine on a PJRT device.
func OnPJRT(e *pjrt.Engine) Engine { return device{e} }

type device struct{ *pjrt.Engine }

type deviceProgram struct{ *pjrt.Program }

func (d device) Compile(ctx context.Context, p *hlo.Program) (Program, error) {
	c, err := d.Engine.Compile(ctx, p)
	return deviceProgram{c}, err
}

func (d device) Upload(ctx context.Context, arrays ...hlo.Array) ([]Buffer, error) {
	held, err := d.Engine.Upload(ctx, arrays...)
	return asBuffers(held), err
}

func (d device) Spread(ctx context.Context, axis int, a hlo.Array) (Buffer, error) {
	return d.Engine.Spread(ctx, axis, a)
}

func asBuffers(held []*pjrt.Buffer) []Buffer {
	out := make([]Buffer, len(held))
	for i, b := range held {
		out[i] = b
	}
	return out
}

func (p deviceProgram) Step(ctx context.Context, args []Buffer) ([]Buffer, error) {
	held := make([]*pjrt.Buffer, len(args))
	for i, a := range args {
		held[i] = a.(*pjrt.Buffer)
	}
	out, err := p.Program.Step(ctx, held)
	return asBuffers(out), err
}
