// SPDX-License-Identifier: Apache-2.0

package route

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/rtl"
	"lathe/sim/area"
)

// design is what an emitted folder says of itself, and which instance is what.
type design struct {
	Top   string `json:"top"`
	Core  string `json:"core"`
	Part  string `json:"part"`
	Units []unit `json:"units"`
	// Clock and Streams are the clocks that the plan wishes for, in MHz; 0 where it says nothing of one.
	Clock   float64 `json:"clock_mhz"`
	Streams float64 `json:"stream_clock_mhz"`

	root    string          // what was synthesized: the top, or a ring around it
	ends    []string        // the ports of that ring, clocks first
	inputs  map[string]bool // of the wrapper, where a ring is around it
	files   []string
	parts   map[string]area.Part
	layers  map[string]string // instance -> node
	signals map[string]string // name of a wire -> the name that it has in the instance that drives it, "" if none
}

// unit is that of a node.
type unit struct {
	Node     string   `json:"node"`
	Instance string   `json:"instance"`
	Cost     rtl.Cost `json:"cost"`
	Lanes    int      `json:"out_lanes"`
}

func readDesign(dir string) (*design, error) {
	text, err := os.ReadFile(filepath.Join(dir, "design.json"))
	var d design
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil || d.Top == "" {
		return nil, diag.New(diag.RouteFolder, dir, "no folder of an emitted design: design.json is missing or broken").
			WithHint("emit one first: lathe emit-verilog MODEL -o %s", dir)
	}
	files, _, err := area.Sources(dir)
	if err != nil {
		return nil, diag.New(diag.RouteFolder, dir, "no folder of an emitted design: %v", err).
			WithHint("emit one first: lathe emit-verilog MODEL -o %s", dir)
	}
	d.files, d.root = files, d.Top
	return &d, nil
}

// locate finds the instances of the units, which stand in the core, and the owner of each signal.
func (d *design) locate(folder string) error {
	var err error
	if d.parts, err = area.Parts(folder, d.Top); err != nil {
		return err
	}
	if d.root != d.Top {
		d.inRing()
	}
	core := ""
	for instance, part := range d.parts {
		if part.Module == d.Core {
			core = instance + "."
		}
	}
	d.layers = map[string]string{}
	for _, u := range d.Units {
		if u.Instance != "" {
			d.layers[core+u.Instance] = u.Node
		}
	}
	n, err := readNetlist(filepath.Join(folder, "netlist.json"))
	if err != nil {
		return err
	}
	d.signals = map[string]string{}
	deepest := map[int]string{} // of the names of a bit
	for name, wire := range n.Netnames {
		instance := d.instance(name)
		if wire.Hidden != 0 || instance != "" && d.parts[instance].Inputs[strings.TrimPrefix(name, instance+".")] {
			continue // made by mapping, or driven from outside
		}
		for _, bit := range wire.Bits.bits() {
			if was, ok := deepest[bit]; !ok || len(instance) > len(d.instance(was)) ||
				len(instance) == len(d.instance(was)) && name < was {
				deepest[bit] = name
			}
		}
	}
	for name, wire := range n.Netnames {
		bits := wire.Bits.bits()
		for i, bit := range bits {
			if len(wire.Bits) > 1 {
				d.signals[fmt.Sprintf("%s[%d]", name, i)] = deepest[bit]
			} else {
				d.signals[name] = deepest[bit]
			}
		}
	}
	return nil
}

// instance is the deepest instance to which a name of the flat netlist belongs; "" is the top.
func (d *design) instance(name string) (instance string) {
	for at := range len(name) {
		if name[at] == '.' {
			if _, ok := d.parts[name[:at]]; ok {
				instance = name[:at]
			}
		}
	}
	return instance
}

// layer is the node of the model to whose unit an instance belongs; "" if to none.
func (d *design) layer(instance string) (node string) {
	for at := range len(instance) + 1 {
		if at == len(instance) || instance[at] == '.' {
			if l, ok := d.layers[instance[:at]]; ok {
				node = l
			}
		}
	}
	return node
}

// module is that of an instance.
func (d *design) module(instance string) string {
	if instance == "" {
		return d.root
	}
	return d.parts[instance].Module
}

// Hash is the SHA-256 of what synthesis reads of a folder: sources and memory images, with their names.
func Hash(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", diag.New(diag.RouteFolder, dir, "cannot be read: %v", err)
	}
	var files []rtl.File
	for _, e := range entries {
		if !e.IsDir() && read(e.Name()) {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return "", diag.New(diag.RouteFolder, dir, "cannot be read: %v", err)
			}
			files = append(files, rtl.File{Name: e.Name(), Data: data})
		}
	}
	return HashOf(files), nil
}

// read says that synthesis reads a file of this name.
func read(name string) bool {
	return fs.ValidPath(name) && slices.Contains([]string{".v", ".sv", ".mem"}, filepath.Ext(name))
}

// HashOf is the Hash of a folder that has these files.
func HashOf(files []rtl.File) string {
	files = slices.SortedFunc(slices.Values(files), func(a, b rtl.File) int { return strings.Compare(a.Name, b.Name) })
	sum := sha256.New()
	for _, f := range files {
		if read(f.Name) && !strings.Contains(f.Name, "/") {
			fmt.Fprintf(sum, "%s\n", f.Name)
			_ = f.Write(sum) // a hash takes everything
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
