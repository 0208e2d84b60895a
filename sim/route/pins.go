// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/diag"
	"lathe/ir/target"
	verilog "lathe/rtl/netlist"
)

// port is one of the wrapper.
type port struct {
	name  string
	input bool
	width int
}

// ports are those that the text of the wrapper declares, whose widths are numbers.
func (d *design) ports(dir string) ([]port, error) {
	broken := func(cause any) error {
		return diag.New(diag.RouteFolder, dir, "no folder of an emitted design: the ports of %s cannot be read: %v", d.Top,
			cause).
			WithHint("emit one first: lathe emit-verilog MODEL -o %s", dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, d.Top+".v"))
	if err != nil {
		return nil, broken(err)
	}
	var all []port
	for _, p := range verilog.PortsOf(text, d.Top) {
		all = append(all, port{p.Name, !p.Output, max(p.Width, 1)})
	}
	if all == nil {
		return nil, broken("it has none")
	}
	return all, nil
}

// ends says how the ends of the design are treated: the ring around it, if any, and what Pins tells of it. It reads the
// file of pins.
func (n *nextpnr) ends(dir string, d *design) (ring, pins string, err error) {
	switch {
	case n.router.Config == "" && (n.Bitstream || n.PinFile != ""):
		return "", "", diag.New(diag.NoBitstream, dir, "no bitstream is made, and no pins are fixed, for %s", n.part.Name).
			WithHint("leave out --bitstream and --pins: the clock is measured without; or take a part of ECP5 or iCE40")
	case n.PinFile != "":
		if n.pins, err = d.readPins(dir, n.PinFile, n.router.Port); err != nil {
			return "", "", err
		}
		return "", Fixed, d.fitsPins(dir, n.part)
	case n.Bitstream:
		return "", Pinned, d.fitsPins(dir, n.part)
	case n.router.Bare:
		return "", Bare, nil
	}
	if ring, err = d.ring(dir); n.part.Sites != "" {
		sites := strings.Fields(n.part.Sites)
		for i, port := range d.ends {
			n.pins = fmt.Appendf(n.pins, n.router.Locate+"\n", port, sites[i])
		}
	}
	return ring, Ringed, err
}

// fitsPins is error L0779 where the wrapper has more signals than the part has pins.
func (d *design) fitsPins(dir string, part *target.Device) error {
	all, err := d.ports(dir)
	if err != nil {
		return err
	}
	need, widest := 0, all[0]
	for _, p := range all {
		need += p.width
		if p.width > widest.width {
			widest = p
		}
	}
	if need <= part.Pins {
		return nil
	}
	return diag.New(diag.TooFewPins, dir, "the signals of %s need %d pins, and %s has %d", d.Top, need, part.Name,
		part.Pins).
		WithHint("the widest is %s, of %d bits: give its layer fewer lanes, by a [[fold.rule]] of the plan",
			widest.name, widest.width)
}

// keepConfig keeps the configuration of a run for pack.
func (n *nextpnr) keepConfig() error {
	if !n.Bitstream {
		return nil
	}
	if err := os.Rename(filepath.Join(n.folder, "routed.config"), filepath.Join(n.folder, "best.config")); err != nil {
		return n.unread(placer, err)
	}
	return nil
}

// pack makes the bitstream of the best run.
func (n *nextpnr) pack(ctx context.Context) ([]byte, error) {
	n.Progress(n.router.Pack)
	if err := n.call(ctx, n.router.Pack, n.router.Pack, "best.config", "best.bit"); err != nil {
		return nil, err
	}
	bits, err := os.ReadFile(filepath.Join(n.folder, "best.bit"))
	if err != nil {
		return nil, n.unread(n.router.Pack, err)
	}
	return bits, nil
}
