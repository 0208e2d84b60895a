// SPDX-License-Identifier: Apache-2.0

package pjrt

import (
	"context"
	"encoding/binary"

	"lathe/golden/hlo"
	"lathe/internal/diag"
)

// Program is a compiled program inside the child; it dies with its engine.
type Program struct {
	e       *Engine
	id      uint32
	results int
}

// Compile compiles a StableHLO module in text form (function "main"). What the compiler refuses is L0804.
func (e *Engine) Compile(ctx context.Context, text string) (*Program, error) {
	if text == "" {
		return nil, diag.New(CodeCompile, e.cfg.Plugin, "the program is empty")
	}
	c, err := e.request(ctx, kindCompile, []byte(text))
	if err != nil {
		return nil, err
	}
	p := &Program{e, c.u32(), int(c.u32())}
	return p, e.reply(c)
}

// Bind leaves arrays on the device as the last arguments of every later Run, in place of those of an earlier Bind.
func (p *Program) Bind(ctx context.Context, weights []hlo.Array) error {
	c, err := p.send(ctx, kindBind, weights)
	if err != nil {
		return err
	}
	return p.e.reply(c)
}

// Run executes the program with args in front of the bound arrays and returns its results in order.
func (p *Program) Run(ctx context.Context, args []hlo.Array) ([]hlo.Array, error) {
	c, err := p.send(ctx, kindRun, args)
	if err != nil {
		return nil, err
	}
	out := c.arrays()
	if c.err == nil && len(out) != p.results {
		return nil, diag.New(CodeWorker, p.e.cfg.Plugin, "%d results instead of %d", len(out), p.results)
	}
	return out, p.e.reply(c)
}

// Drop frees the program and its bound arrays in the child.
func (p *Program) Drop(ctx context.Context) error {
	c, err := p.e.request(ctx, kindDrop, binary.LittleEndian.AppendUint32(nil, p.id))
	if err != nil {
		return err
	}
	return p.e.reply(c)
}

func (p *Program) send(ctx context.Context, k kind, arrays []hlo.Array) (*cursor, error) {
	parts, err := arrayParts(arrays)
	if err != nil {
		return nil, diag.New(CodeRun, "", "%v", err)
	}
	head := binary.LittleEndian.AppendUint32(nil, p.id)
	return p.e.request(ctx, k, append([][]byte{head}, parts...)...)
}

// reply demands that a reply was read to its end.
func (e *Engine) reply(c *cursor) error {
	if err := c.end(); err != nil {
		return diag.New(CodeWorker, e.cfg.Plugin, "the PJRT worker sent a malformed reply: %v", err)
	}
	return nil
}
