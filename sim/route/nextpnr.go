// SPDX-License-Identifier: Apache-2.0

package route

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	installed "lathe/internal/nextpnr"
	"lathe/ir/target"
	"lathe/sim/child"
)

// nextpnr is the tool for one device, and the design that it works on.
type nextpnr struct {
	Options
	part   *target.Device
	router *target.Router
	python string
	// version is that of the installed package, "" where its description is lost.
	version string
	pins    []byte // those that are fixed, nil if none
	folder  string // where the netlist lies, and where it runs
	design  *design
}

func findNextpnr(o Options, part *target.Device) (*nextpnr, error) {
	missing := func(what string) error {
		return diag.New(diag.NoRouter, "", "place and route is not installed: %s", what).
			WithHint("run scripts/setup --route, which needs a network once and exists for Linux on x86-64")
	}
	router := part.Family.Router
	folder, version, err := installed.Find(o.Tools, router.Package)
	if err != nil {
		return nil, missing("no " + folder)
	}
	python, err := exec.LookPath(o.Python)
	if err != nil {
		return nil, missing(err.Error())
	}
	return &nextpnr{Options: o, part: part, router: router, python: python, version: version}, nil
}

// run places and routes with one seed.
func (n *nextpnr) run(ctx context.Context, seed int) (*Report, error) {
	args := strings.Fields(n.part.Place)
	if n.part.Speed != "" {
		args = append(args, "--speed", n.part.Speed)
	}
	if n.Bitstream {
		args = append(args, n.router.Config, "routed.config")
	}
	if n.pins != nil {
		for _, arg := range n.router.Constraints {
			args = append(args, strings.ReplaceAll(arg, "%s", pinCopy))
		}
	} else if n.router.Bare && !n.Bitstream {
		args = append(args, "--out-of-context")
	}
	args = append(args, "--json", "netlist.json", "--write", "routed.json", "--report", "report.json",
		"--timing-allow-fail", "--freq", strconv.FormatFloat(cmp.Or(n.ClockMHz, aim), 'f', -1, 64), "--seed",
		strconv.Itoa(seed), "--threads", "1")
	if err := n.call(ctx, placer, "nextpnr_"+n.router.Package, args...); err != nil {
		return nil, err
	}
	r, err := n.read(seed)
	if err != nil {
		return nil, n.unread(placer, err)
	}
	return r, nil
}

// aim is the clock in MHz that placement aims at where none is demanded.
const aim = 200

// placer is the program that places and routes; others of the package are its families' Pack.
const placer = "nextpnr"

// call runs a program of the package, by its function.
func (n *nextpnr) call(ctx context.Context, program, function string, args ...string) error {
	start := fmt.Sprintf("import sys, yowasp_nextpnr_%s as p; sys.exit(p.run_%s(sys.argv[1:]))", n.router.Package,
		function)
	tool := child.Tool{Path: n.python, Args: append([]string{"-c", start}, args...), Folder: n.folder,
		Log: n.log(program), Timeout: n.Timeout, Env: []string{"PYTHONPATH=" + n.Tools,
			"YOWASP_CACHE_DIR=" + filepath.Join(n.Tools, "compiled"), "PYTHONDONTWRITEBYTECODE=1"}}
	switch err := tool.Run(ctx); {
	case errors.Is(err, child.ErrTimeout):
		return n.failed(diag.RouteTimeout, program, "%s did not finish within %v", program, n.Timeout).
			WithHint("allow more with --timeout, or fold the design: fewer lanes take fewer cells")
	case ctx.Err() != nil:
		_ = atomicfile.Remove(n.folder) // nobody asks why
		return ctx.Err()
	case err != nil:
		return n.explain(program, err)
	}
	return nil
}

func (n *nextpnr) log(program string) string { return filepath.Join(n.folder, program+".log") }

// failed keeps the folder and names the log.
func (n *nextpnr) failed(code diag.Code, program, msg string, args ...any) *diag.Error {
	atomicfile.Keep(n.folder)
	return diag.New(code, "", msg, args...).WithNote("the whole output of %s: %s", program, n.log(program))
}

// unread is the error of a file that a program has written, or should have.
func (n *nextpnr) unread(program string, cause error) error {
	return n.failed(diag.RouteOutput, program, "what %s wrote cannot be read: %v", program, cause).
		WithHint("see that the disk is not full, and have scripts/setup --route check what it installed")
}

// unmapped is the error of a netlist, whose log Yosys has not kept here.
func (n *nextpnr) unmapped(cause error) error {
	atomicfile.Keep(n.folder)
	return diag.New(diag.RouteOutput, "", "what Yosys wrote cannot be read: %v", cause).
		WithNote("the netlist: %s", filepath.Join(n.folder, "netlist.json")).
		WithHint("see that the disk is not full, and with lathe doctor which Yosys this is")
}

// explain finds out whether the design is too large, and else repeats what the program says.
func (n *nextpnr) explain(program string, cause error) error {
	log, err := os.ReadFile(n.log(program))
	if err != nil {
		return n.failed(diag.RouteFailed, program, "%s failed (%v) and its log cannot be read: %v", program, cause, err)
	}
	if err := n.tooLarge(log); err != nil {
		return err
	}
	for line := range bytes.Lines(log) {
		if _, message, ok := strings.Cut(string(line), "ERROR: "); ok {
			err := n.failed(diag.RouteFailed, program, "%s: %s", program, strings.TrimSpace(message))
			switch {
			case program != placer:
				return err.WithHint("route without --bitstream: clock and cells need none")
			case n.PinFile != "":
				return err.WithHint("see that %s names pins that the package of %s has, each once", n.PinFile, n.part.Name)
			}
			return err.WithHint("take a larger part, or fold the design: fewer lanes take fewer cells and wires")
		}
	}
	return n.failed(diag.RouteFailed, program, "%s failed without an error message: %v", program, cause).
		WithHint("see that memory suffices, and have scripts/setup --route check what it installed")
}

// written is the part of a report of nextpnr that is read.
type written struct {
	Fmax map[string]struct {
		Achieved float64 `json:"achieved"`
	} `json:"fmax"`
	Utilization map[string]struct{ Used, Available int } `json:"utilization"`
	Paths       []struct {
		From, To string
		Path     []struct {
			Delay    float64
			From, To struct{ Cell, Port string }
			Net      string
			Type     string
		}
	} `json:"critical_paths"`
}

// read takes in the report and the placement of a run.
func (n *nextpnr) read(seed int) (*Report, error) {
	text, err := os.ReadFile(filepath.Join(n.folder, "report.json"))
	if err != nil {
		return nil, err
	}
	var w written
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, err
	}
	clock, clocks := n.clocks(&w)
	if clock == "" {
		return nil, errors.New("no path between registers, so no clock")
	}
	r := &Report{Seed: seed, MHz: w.Fmax[clock].Achieved, Clocks: clocks}
	used := map[string]int{}
	for cell, u := range w.Utilization {
		used[n.router.Kind(cell)] += u.Used
	}
	count := func(cell string) (int, int) { return used[cell], w.Utilization[cell].Available }
	r.LUT, r.Holds.LUT = count(n.router.LUT)
	r.FF, r.Holds.FF = count(n.router.FF)
	r.DSP, r.Holds.DSP = count(n.router.DSP)
	r.BRAM, r.Holds.BRAM = count(n.router.BRAM)
	if n.router.Clocked != "" {
		r.Holds.FF = r.Holds.LUT
	}
	netlist, err := readNetlist(filepath.Join(n.folder, "routed.json"))
	if err != nil {
		return nil, err
	}
	owners := n.design.owners(netlist)
	for _, p := range w.Paths {
		if !strings.HasSuffix(p.From, "edge "+clock) || !strings.HasSuffix(p.To, "edge "+clock) {
			continue
		}
		for _, h := range p.Path {
			r.Path = append(r.Path, n.hop(h.Type, h.Net, owners[h.From.Cell], owners[h.To.Cell], h.Delay))
		}
		break
	}
	for _, h := range r.Path {
		if h.Kind == "wire" {
			r.Wire += h.NS
		} else {
			r.Logic += h.NS
		}
	}
	if len(r.Path) == 0 {
		return nil, errors.New("no critical path")
	}
	return r, n.placement(r, netlist, owners)
}

// hop names a step: a wire by the signal that it carries, else the cell by the signal that it drives.
func (n *nextpnr) hop(kind, net string, from, to owner, ns float64) Hop {
	o := to
	switch kind {
	case "routing":
		kind, o = "wire", from
		if signal := n.design.signals[net]; signal != "" {
			o = owner{n.design.instance(signal), signal}
		}
	case "clk-to-q":
		kind, o = "clock to output", from
	}
	h := Hop{Kind: kind, NS: ns, Instance: o.instance, Module: n.design.module(o.instance)}
	h.Layer = n.design.layer(o.instance)
	h.Signal = strings.TrimPrefix(strings.TrimPrefix(o.signal, o.instance), ".")
	return h
}
