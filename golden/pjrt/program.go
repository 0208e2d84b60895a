// SPDX-License-Identifier: Apache-2.0

package pjrt

import (
	"context"
	"encoding/binary"
	"slices"

	"lathe/internal/diag"
	"lathe/ir/hlo"
	"lathe/ir/hlo/text"
)

// Program is a compiled program inside the child; it dies with its engine.
type Program struct {
	e       *Engine
	id      uint32
	results int
	args    []hlo.Type // nil where only the plugin knows them
	outs    []hlo.Type
	donated []bool // inputs whose memory results take over
	bound   int    // how many of the last arguments are bound
}

// Compile compiles a program and binds its weights. What the compiler refuses is L0804.
func (e *Engine) Compile(ctx context.Context, p *hlo.Program) (*Program, error) {
	p = p.Expand()
	compiled, err := e.CompileText(ctx, text.PrintFor(p, e.Devices()))
	if err != nil {
		return nil, err
	}
	compiled.args = []hlo.Type{}
	for _, a := range slices.Concat(p.Inputs, p.Weights) {
		compiled.args = append(compiled.args, a.Type)
	}
	for _, a := range p.Inputs {
		compiled.donated = append(compiled.donated, a.Becomes > 0)
	}
	for _, n := range p.Results {
		compiled.outs = append(compiled.outs, p.Ops[n].Type)
	}
	if err := compiled.Bind(ctx, p.Data()); err != nil {
		compiled.Drop(context.WithoutCancel(ctx))
		return nil, err
	}
	return compiled, nil
}

// CompileText compiles a StableHLO module in text form (function "main"), as another program wrote it.
func (e *Engine) CompileText(ctx context.Context, text string) (*Program, error) {
	if text == "" {
		return nil, diag.New(diag.PJRTCompile, e.cfg.Plugin, "the program is empty")
	}
	c, err := e.request(ctx, kindCompile, []byte(text))
	if err != nil {
		return nil, err
	}
	p := &Program{e: e, id: c.u32(), results: int(c.u32())}
	return p, e.reply(c)
}

// Bind leaves arrays on the device as the last arguments of every later Run, in place of those of an earlier Bind.
func (p *Program) Bind(ctx context.Context, weights []hlo.Array) error {
	if err := p.match(weights, len(p.args)-len(weights)); err != nil {
		return err
	}
	p.bound = 0
	for from, to := 0, 0; from == 0 || from < len(weights); from = to {
		for size := 0; to < len(weights) && (to == from || size+len(weights[to].Data) <= bindBytes); to++ {
			size += len(weights[to].Data)
		}
		c, err := p.send(ctx, kindBind, weights[from:to], uint32(from))
		if err != nil {
			return err
		}
		if err := p.e.reply(c); err != nil || len(weights) == 0 {
			return err
		}
	}
	p.bound = len(weights)
	return nil
}

// bindBytes bounds the weights that travel in one frame, if there are several: both sides hold one frame at a time.
const bindBytes = 32 << 20

// Run executes the program with args in front of the bound arrays and returns its results in order.
func (p *Program) Run(ctx context.Context, args []hlo.Array) ([]hlo.Array, error) {
	if p.args != nil && len(args)+p.bound != len(p.args) {
		return nil, diag.New(diag.PJRTRun, "", "%d arguments and %d bound ones for a program of %d",
			len(args), p.bound, len(p.args))
	}
	if err := p.match(args, 0); err != nil {
		return nil, err
	}
	c, err := p.send(ctx, kindRun, args)
	if err != nil {
		return nil, err
	}
	out := c.arrays()
	if c.err == nil && len(out) != p.results {
		return nil, diag.New(diag.PJRTWorker, p.e.cfg.Plugin, "%d results instead of %d", len(out), p.results)
	}
	return out, p.e.reply(c)
}

// match compares arrays with the arguments from position at on: the plugin itself looks at sizes only, and would read
// an f32 array as i32.
func (p *Program) match(arrays []hlo.Array, at int) error {
	if p.args == nil {
		return nil
	}
	if at < 0 {
		return diag.New(diag.PJRTRun, "", "%d arrays for a program of %d arguments", len(arrays), len(p.args))
	}
	for i, a := range arrays {
		if want := p.args[at+i]; !a.Type.Equal(want) {
			return diag.New(diag.PJRTRun, "", "argument %d is %s, the program takes %s", at+i, a.Type, want)
		}
	}
	return nil
}

// Drop frees the program and its bound arrays in the child.
func (p *Program) Drop(ctx context.Context) error {
	c, err := p.e.request(ctx, kindDrop, binary.LittleEndian.AppendUint32(nil, p.id))
	if err != nil {
		return err
	}
	return p.e.reply(c)
}

// send sends the numbers and arrays about the program.
func (p *Program) send(ctx context.Context, k kind, arrays []hlo.Array, numbers ...uint32) (*cursor, error) {
	parts, err := arrayParts(arrays)
	if err != nil {
		return nil, diag.New(diag.PJRTRun, "", "%v", err)
	}
	head := binary.LittleEndian.AppendUint32(nil, p.id)
	for _, n := range numbers {
		head = binary.LittleEndian.AppendUint32(head, n)
	}
	return p.e.request(ctx, k, append([][]byte{head}, parts...)...)
}

// reply demands that a reply was read to its end.
func (e *Engine) reply(c *cursor) error {
	if err := c.end(); err != nil {
		return diag.New(diag.PJRTWorker, e.cfg.Plugin, "the PJRT worker sent a malformed reply: %v", err)
	}
	return nil
}
