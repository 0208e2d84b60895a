// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"bytes"
	_ "embed" // paragraphs of the README
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"lathe/emit"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/rtl"
)

// description is the content of design.json.
type description struct {
	Name    string            `json:"name"`
	Version string            `json:"lathe"`
	Part    string            `json:"part,omitempty"`
	Clock   float64           `json:"clock_mhz,omitempty"`
	Top     string            `json:"top"`
	Core    string            `json:"core"`
	Ports   []portDescription `json:"ports"`
	Sources []string          `json:"sources"`
	// Files are all others in the folder, this one left out.
	Files []string    `json:"files"`
	Units []emit.Unit `json:"units"`
	// Balance is what the choice of foldings aimed at and reached.
	Balance any `json:"balance,omitempty"`
}

type portDescription struct {
	Name      string `json:"name"`
	Direction string `json:"direction"`
	Stream    string `json:"stream"`
	Core      string `json:"core_stream"`
	Shape     []int  `json:"shape"`
	Format    string `json:"format"`
	Perm      []int  `json:"perm,omitempty"`
	Lanes     int    `json:"lanes"`
	Beats     int    `json:"beats"`
	Width     int    `json:"width"`
	TData     int    `json:"tdata_width"`
}

// Describe makes d.Docs, design.json and README.md, anew from the rest of d.
func Describe(d *emit.Design) error {
	js := description{Name: d.Name, Version: d.Version, Part: d.Part, Clock: d.ClockMHz, Top: d.Top,
		Core: d.Core, Sources: d.Sources(), Files: []string{readmeFile, listFile}, Units: d.Units,
		Balance: d.Balance}
	for _, f := range slices.Concat(d.Files, d.Extra) {
		js.Files = append(js.Files, f.Name)
	}
	slices.Sort(js.Files)
	for _, p := range d.Ports {
		dir := "out"
		if p.Input {
			dir = "in"
		}
		js.Ports = append(js.Ports, portDescription{p.Name, dir, p.Stream, p.CoreStream, p.Type.Shape, p.Type.Format.String(),
			p.Perm, p.Lanes, p.Beats, p.Width, p.TData})
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(js); err != nil {
		return diag.New("L0624", d.Name, "cannot describe the design: %v", err)
	}
	text, err := readme(d)
	if err != nil {
		return diag.New("L0624", d.Name, "cannot explain the design: %v", err)
	}
	list := strings.Join(js.Sources, "\n") + "\n"
	d.Docs = []rtl.File{{Name: descriptionFile, Data: buf.Bytes()}, {Name: readmeFile, Data: []byte(text)},
		{Name: listFile, Data: []byte(list)}}
	return nil
}

// The files for readers.
const (
	descriptionFile = "design.json"
	readmeFile      = "README.md"
	listFile        = "sources.f"
)

// Listed names the files of an emitted design, given its design.json; none if that is not what Emit writes.
func Listed(text []byte) []string {
	var js description
	if err := json.Unmarshal(text, &js); err != nil || js.Top == "" || js.Core == "" {
		return nil
	}
	names := slices.Concat([]string{descriptionFile, readmeFile, listFile}, js.Files, js.Sources)
	for _, u := range js.Units {
		for _, im := range u.Images {
			names = append(names, im.File)
		}
	}
	return names
}

// The prose of README.md.
const (
	introduction = "# %s\n\nHardware made by lathe %s. `%s` (Verilog-2001) has AXI4-Stream ports; `%s` inside it has\n" +
		"the bare streams. Clock `ap_clk`, synchronous reset `ap_rst_n`, active low. A transfer happens when TVALID and\n" +
		"TREADY are both high at a rising edge; TVALID never waits for TREADY. TLAST marks the last beat of a sample; the\n" +
		"design itself counts beats and ignores TLAST on its inputs. Memory images (`.mem`) must lie where the tool looks\n" +
		"for them: next to the sources, by bare name. A wrong or missing image stops a simulation with an error.\n\n" +
		"## Ports\n\n| port | value | shape | format | lanes a beat | beats a sample | TDATA bits |\n" +
		"|---|---|---|---|---|---|---|\n"
	unitsHeading = "\n## Units\n\n" +
		"| instance | module | node | format | in lanes | out lanes | cycles a sample | latency |\n" +
		"|---|---|---|---|---|---|---|---|\n"
)

//go:embed uses.tmpl
var usesText string

// uses are the paragraphs of README.md on what lies beside the sources, as far as it does.
var uses = template.Must(template.New("uses").Parse(usesText))

// readme explains ports and formats to the engineer who instantiates the design.
func readme(d *emit.Design) (string, error) {
	var s strings.Builder
	fmt.Fprintf(&s, introduction, d.Name, d.Version, d.Top, d.Core)
	for _, p := range d.Ports {
		fmt.Fprintf(&s, "| `%s` | %s | %s | `%s` | %d | %d | %d |\n", p.Stream, cell(p.Name), ir.ShapeString(p.Type.Shape),
			p.Type.Format, p.Lanes, p.Beats, p.TData)
	}
	s.WriteString(packing(d.Ports))
	for _, p := range d.Ports {
		if p.Perm != nil {
			fmt.Fprintf(&s, "`%s` is transposed against the model: ", p.Stream)
			if p.Input {
				fmt.Fprintf(&s, "axis i of the stream is axis %v[i] of the model's array.\n", p.Perm)
			} else {
				fmt.Fprintf(&s, "axis i of the model's array is axis %v[i] of the stream.\n", p.Perm)
			}
		}
	}
	s.WriteString(unitsHeading)
	for _, u := range d.Units {
		if u.Module != "" {
			fmt.Fprintf(&s, "| `%s` | `%s` | %s | `%s` | %d | %d | %d | %d |\n", u.Instance, u.Module, cell(u.Node), u.Format,
				u.InLanes, u.OutLanes, u.Cycles, u.Latency)
		}
	}
	s.WriteString("\n## Files\n\nCompile in this order; `sources.f` is the same list, `design.json` holds all facts\n" +
		"for programs.\n\n")
	for _, f := range d.Sources() {
		fmt.Fprintf(&s, "    %s\n", f)
	}
	fmt.Fprintf(&s, "\nIn this folder, `verilator --lint-only -Wall --top-module %s -f sources.f` and\n"+
		"`iverilog -g2012 -t null -s %s -c sources.f` take the design as it is.\n", d.Top, d.Top)
	err := uses.Execute(&s, struct {
		Top                     string
		Bench, Makefile, Vivado []string
	}{d.Top, d.Extras("tb/"), d.Extras(""), d.Extras("vivado/")})
	return s.String(), err
}

// cell escapes what would break a table.
func cell(text string) string { return strings.NewReplacer("|", "\\|", "\n", " ").Replace(text) }
