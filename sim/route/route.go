// SPDX-License-Identifier: Apache-2.0

// Package route places and routes an emitted design with open tools: Yosys maps it once, nextpnr fits it into a device
// with several seeds. It reports the clock, the cells, and the slowest path in the names of the design.
package route

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/ir/target"
	"lathe/sim/area"
)

// Options of a run; the zero value of each field but Tools is the usual one.
type Options struct {
	Part     string        // as target.Find takes it, default that of the design
	Tools    string        // the folder in which scripts/setup --route puts nextpnr
	Seeds    int           // placements that are tried, default 2
	ClockMHz float64       // demanded of the core, and what placement aims at; 0: nothing, and it aims at 200
	Timeout  time.Duration // for Yosys, and for each seed; default 30 minutes
	Python   string        // command, default "python3"
	// Bitstream asks for one, of the best seed. The design then has pins.
	Bitstream bool
	// PinFile fixes pins, in the format of the family: LPF for ECP5, PCF for iCE40; "" if none.
	PinFile string
	LogDir  string // parent of the folder that keeps the logs of a failed run, default os.TempDir()
	// Progress, if not nil, hears which step begins.
	Progress func(step string)
}

// Cells counts what a design takes, or a device holds.
type Cells struct {
	LUT  int `json:"luts"`
	FF   int `json:"ffs"`
	DSP  int `json:"dsps"`
	BRAM int `json:"brams"`
}

// Hop is one step of a path.
type Hop struct {
	Kind     string  `json:"kind"` // clock to output, logic, wire, setup
	NS       float64 `json:"ns"`
	Instance string  `json:"instance"` // below the top, parts apart by dots; "" is the top itself
	Module   string  `json:"module"`
	Layer    string  `json:"layer,omitempty"` // the node of the model; "" outside of all
	Signal   string  `json:"signal"`          // the wire, or the cell, without the instance
}

// Layer is what one node of the model takes.
type Layer struct {
	Node string `json:"node"` // "" is what belongs to no node: the wrapper
	Cells
}

// Report is the outcome; the first eight fields are what scripts rely on.
type Report struct {
	Part     string    `json:"part"`
	MHz      float64   `json:"mhz"` // of the best seed, to which all else belongs; Clocks[0].MHz
	MHzSeeds []float64 `json:"mhz_seeds"`
	Cells
	Path   []Hop   `json:"critical_path"`
	Clocks []Clock `json:"clocks"` // of the best seed; the first is the one that MHz is about
	Median float64 `json:"mhz_median"`
	Device string  `json:"device"`
	Speed  string  `json:"speed_grade,omitempty"`
	Holds  Cells   `json:"device_cells"`
	Seed   int     `json:"seed"` // of the best
	Layers []Layer `json:"layers"`
	Logic  float64 `json:"logic_ns"` // of the path, and its wires
	Wire   float64 `json:"wire_ns"`
	// Pins says how the ends of the design were treated.
	Pins  string   `json:"pins"`
	Tools []string `json:"tools"`
	// Sources is the hash of the files that were routed, as Hash makes it.
	Sources string `json:"sources_sha256"`
	// FloorPlan is a picture of the best placement, as SVG.
	FloorPlan []byte `json:"-"`
	// Bitstream is what configures the device, where Options asks for it.
	Bitstream []byte `json:"-"`
}

// File is where the result stands in the folder of the design, Picture where the floor plan does.
const (
	File    = "route.json"
	Picture = "route.svg"
)

// Bare, Pinned, Fixed and Ringed are what Pins says of a design.
const (
	Bare   = "out of context: the ends of the design are not connected to pins"
	Pinned = "nextpnr chose a pin for each signal of the design"
	Fixed  = "a file fixes pins, and nextpnr chose one for each signal that is left"
	Ringed = "a ring of registers around the design, part of (wrapper), between two pins"
)

// Route places and routes the emitted design in dir, which is not written to. Errors are *diag.Error; where a tool
// ran, a note names the file with all its output.
func Route(ctx context.Context, dir string, o Options) (*Report, error) {
	o = o.filled()
	d, err := readDesign(dir)
	if err != nil {
		return nil, err
	}
	if o.Part == "" {
		o.Part = d.Part
	}
	part, err := routable(o.Part)
	if err != nil {
		return nil, err
	}
	next, err := findNextpnr(o, part)
	if err != nil {
		return nil, err
	}
	hash, err := Hash(dir)
	if err != nil {
		return nil, err
	}
	ring, pins, err := next.ends(dir, d)
	if err != nil {
		return nil, err
	}
	o.Progress("Yosys")
	router := part.Family.Router
	flags := strings.TrimSpace(router.Synth + " " + part.Synth)
	commands := ring + router.Before + "\n" + synthesis(flags, router.Clocks, d.root)
	folder, yosys, err := area.Synthesize(ctx, dir, d.files, d.Top, commands,
		area.Options{Timeout: o.Timeout, LogDir: o.LogDir})
	if err != nil {
		return nil, next.unsynthesized(err, dir, folder)
	}
	next.folder, next.design = folder, d
	if router.DSP == absorbing {
		if err := absorb(filepath.Join(folder, "netlist.json"), d.Top); err != nil {
			return nil, next.unmapped(err)
		}
	}
	if err := d.locate(folder); err != nil {
		return nil, next.unmapped(err)
	}
	if err := next.putPins(); err != nil {
		return nil, err
	}
	r, err := next.seeds(ctx)
	if err != nil {
		return nil, err
	}
	r.Part, r.Device, r.Speed, r.Sources, r.Pins = o.Part, part.Sold, part.Speed, hash, pins
	r.Tools = []string{yosys + ": " + flags, strings.TrimSpace("nextpnr-" + router.Package + " " + next.version)}
	if o.Bitstream {
		if r.Bitstream, err = next.pack(ctx); err != nil {
			return nil, err
		}
	}
	return r, atomicfile.Remove(folder)
}

// routable is the device of a part that open tools place and route. Errors: L0413 where it is unknown, L0770 else.
func routable(part string) (*target.Device, error) {
	d, err := target.Find(part)
	if err != nil || d.Routed() {
		return d, err
	}
	return nil, diag.New(diag.UnroutablePart, "", "no open tool places and routes %s, of %s", d.Name, d.Series).
		WithHint("take one of %s; parts of %s: make vivado, in the folder of the design",
			strings.Join(target.RoutedNames(), ", "), d.Family.Vendor)
}

// unsynthesized is the error of a design that Yosys did not map.
func (n *nextpnr) unsynthesized(err error, dir, folder string) error {
	late := new(diag.Error)
	switch {
	case strings.Contains(err.Error(), "DSP48E2"):
		_ = atomicfile.Remove(folder) // the cause is known, nobody reads the log
		return diag.New(diag.ForeignDSP, dir, "the design instantiates DSP48E2, which %s does not have", n.part.Name).
			WithHint(`its plan says dsp = "chain" or "pack_chain" in [fold] or a [[fold.rule]]: use "one", and emit again`)
	case errors.As(err, &late) && late.Code == diag.YosysTimeout:
		return late.WithHint("allow more with --timeout, or fold the design: fewer lanes take fewer cells")
	}
	return err
}

// mapping is the usual script of abc9 without &dc2 and &dch: they share logic of the outputs of a ROM at the price of
// levels, as long as another path is deeper, and save no LUTs in it.
const mapping = `scratchpad -set abc9.script "+&scorr; &sweep; &ps; &if {C} {W} {D} {R} -v; &mfs"` + "\n"

// synthesis leaves out the last step of the command, in which cells and wires that mapping made get names of signals
// nearby, be they of other instances.
func synthesis(flags, clocks, top string) string {
	return mapping + flags + " -top " + top + " -run begin:map_ffs\n" + clocks + "\n" + flags +
		" -run map_ffs:check\nhierarchy -check\nblackbox =A:whitebox\nwrite_json netlist.json\n"
}

func (o Options) filled() Options {
	if o.Seeds == 0 {
		o.Seeds = 2
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Minute
	}
	if o.Python == "" {
		o.Python = "python3"
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o
}

// seeds tries the seeds one after the other, and keeps the best.
func (n *nextpnr) seeds(ctx context.Context) (*Report, error) {
	var best *Report
	var all []float64
	for seed := 1; seed <= n.Seeds; seed++ {
		n.Progress("nextpnr, seed " + strconv.Itoa(seed) + " of " + strconv.Itoa(n.Seeds))
		r, err := n.run(ctx, seed)
		if err != nil {
			return nil, err
		}
		all = append(all, r.MHz)
		if best == nil || n.better(r, best) {
			best = r
			if err := n.keepConfig(); err != nil {
				return nil, err
			}
		}
		for _, name := range []string{"routed.json", "report.json"} {
			if err := os.Remove(filepath.Join(n.folder, name)); err != nil {
				return nil, n.unread(placer, err)
			}
		}
	}
	best.MHzSeeds = all
	sorted := slices.Sorted(slices.Values(all))
	best.Median = (sorted[len(sorted)/2] + sorted[(len(sorted)-1)/2]) / 2
	return best, nil
}

// Load reads the result that a folder holds. Error L0777 where there is none, or none of the sources that it now holds.
func Load(dir string) (*Report, error) {
	stale := func(why string) error {
		return diag.New(diag.RouteStale, dir, "%s", why).WithHint("run: lathe route %s --part PART", dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		return nil, stale("the design in this folder was not placed and routed")
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil || r.MHz <= 0 {
		return nil, stale("the result of place and route in this folder cannot be read")
	}
	if now, err := Hash(dir); err != nil || now != r.Sources {
		return nil, stale("the sources in this folder have changed since they were placed and routed")
	}
	if r.FloorPlan, err = os.ReadFile(filepath.Join(dir, Picture)); err != nil {
		r.FloorPlan = nil
	}
	return &r, nil
}

// Missed is nil, or error L0778 where the design does not reach a clock in MHz.
func (r *Report) Missed(mhz float64) error {
	if r.MHz >= mhz {
		return nil
	}
	from, to := r.Path[0], r.Path[len(r.Path)-1]
	err := diag.New(diag.ClockMissed, "", "%s MHz are not reached: %s MHz on %s, from %s to %s", diag.Number(mhz, 5),
		diag.Number(r.MHz, 4), r.Part, from.Place(), to.Place())
	if to.Layer != "" {
		return err.WithHint("try more --seeds, or fewer lanes: out_lanes in a [[fold.rule]] for %q", to.Layer)
	}
	return err.WithHint("try more --seeds, or a part of a higher speed grade")
}

// Place is the signal with the instances around it.
func (h Hop) Place() string {
	if h.Instance == "" {
		return h.Signal
	}
	return strings.TrimSuffix(h.Instance+"."+h.Signal, ".")
}
