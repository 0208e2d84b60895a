// SPDX-License-Identifier: Apache-2.0

// Package board makes bitstreams of emitted designs for boards, and simulates such a board behind a pseudo-terminal.
package board

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"

	"lathe/emit/shell"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/ir/target"
	"lathe/rtl"
	"lathe/sim/route"
)

// Bitstream is a design on a board.
type Bitstream struct {
	Board string `json:"board"`
	// ID is that of the design, as the board tells it.
	ID string `json:"design_id"`
	// Clock is that of the design in MHz, Margin how much faster it might be, in percent.
	Clock  float64 `json:"clock_mhz"`
	Margin float64 `json:"margin_percent"`
	// InBytes and OutBytes are those of a sample and of its results on the line, Baud the bits a second on it.
	InBytes  int `json:"in_bytes"`
	OutBytes int `json:"out_bytes"`
	Baud     int `json:"baud"`
	// Load is the command that configures the board, with %s for the file.
	Load string        `json:"load"`
	Top  string        `json:"top"`
	Pins string        `json:"pins"`
	Fit  *route.Report `json:"route"`
}

// Build places, routes and packs the design in a folder for a board, at a clock in MHz, 0 being the usual one of
// the board. Errors: those of shell.Read, shell.Nearest and route.Route, and
// L0778 where the clock is not reached.
func Build(ctx context.Context, dir string, b *target.Board, mhz float64, o route.Options) (_ *Bitstream, err error) {
	core, err := shell.Read(dir)
	if err != nil {
		return nil, err
	}
	setting, err := shell.Nearest(b, mhz)
	if err != nil {
		return nil, err
	}
	files, top, err := shell.Board(core, shell.Options{Board: b, Setting: setting, Version: core.Version})
	if err != nil {
		return nil, err
	}
	pins, err := b.Constraints()
	if err != nil {
		return nil, err
	}
	folder, err := atomicfile.Folder("", "lathe-board-*")
	if err != nil {
		return nil, diag.New(diag.DesignWrite, "", "cannot write the design: %v", err)
	}
	defer func() { err = errors.Join(err, atomicfile.Remove(folder)) }()
	o.PinFile = filepath.Join(folder, "pins.txt")
	if err := write(folder, core, files, top, pins); err != nil {
		return nil, diag.New(diag.DesignWrite, folder, "cannot write the design: %v", err)
	}
	o.Part, o.ClockMHz, o.Bitstream = b.Part, setting.MHz, true
	r, err := route.Route(ctx, folder, o)
	if err != nil {
		return nil, err
	}
	bits := &Bitstream{Board: b.Name, ID: core.Digest(), Clock: setting.MHz, Margin: (r.MHz/setting.MHz - 1) * 100,
		InBytes: core.Bytes(true), OutBytes: core.Bytes(false), Baud: b.Baud, Load: b.Load, Top: top, Pins: string(pins),
		Fit: r}
	if err := r.Missed(setting.MHz); err != nil {
		return bits, slower(err, b, r.MHz)
	}
	return bits, nil
}

// slower names a clock that the design reaches, and the PLL makes, in the place of the usual hint.
func slower(err error, b *target.Board, reached float64) error {
	var missed *diag.Error
	if !errors.As(err, &missed) {
		return err
	}
	for mhz := math.Floor(reached * 0.97); mhz >= 8*float64(b.Baud)/1e6; mhz-- {
		if s, fine := shell.Nearest(b, mhz); fine == nil {
			missed.Hint = "use --clock " + diag.Number(s.MHz, 6) + ", or fold less into a cycle; more --seeds may help, too"
			return missed
		}
	}
	return missed
}

// write puts what is routed into a folder: the core, the shell, and a description with the other top.
func write(folder string, core *shell.Core, files []rtl.File, top string, pins []byte) error {
	text, err := core.Describe(top, files)
	if err != nil {
		return err
	}
	all := slices.Concat(core.Files, files, []rtl.File{{Name: "design.json", Data: text}, {Name: "pins.txt", Data: pins}})
	for _, f := range all {
		if err := os.WriteFile(filepath.Join(folder, f.Name), f.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}
