// SPDX-License-Identifier: Apache-2.0

// Package vivado makes the scripts by which Vivado takes an emitted design: out-of-context synthesis, and packaging as
// an IP core. All paths in them are relative to the script.
package vivado

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template"

	"lathe/emit"
	"lathe/ir/target"
	"lathe/rtl"
)

//go:embed *.tmpl read_sources.tcl
var parts embed.FS

// folder is where the scripts lie, below that of the design.
const folder = "vivado/"

// defaultClock is the frequency in MHz that constraints name where the plan has none.
const defaultClock = 250

// Files returns vivado/files.f (sources in the order of compilation, then memory images), <top>.xdc, synth.tcl,
// package_ip.tcl and what those two source.
func Files(d *emit.Design) ([]rtl.File, error) {
	data := struct {
		Top, Version, Part, Period string
		ClockMHz, StreamMHz        float64
		StreamPeriod, Skew         string
		Ports                      []emit.Port
		Memory                     *emit.Memory
	}{Top: d.Top, Version: d.Version, Part: d.Part, ClockMHz: d.ClockMHz, StreamMHz: d.StreamMHz,
		Ports: d.Ports, Memory: d.Memory}
	if data.Part == "" {
		data.Part = target.Default
	}
	if data.ClockMHz <= 0 {
		data.ClockMHz = defaultClock
	}
	data.Part = word(data.Part)
	data.Period = fmt.Sprintf("%.3f", 1000/data.ClockMHz)
	if data.StreamMHz > 0 {
		data.StreamPeriod = fmt.Sprintf("%.3f", 1000/data.StreamMHz)
		data.Skew = fmt.Sprintf("%.3f", 1000/max(data.StreamMHz, data.ClockMHz))
	}
	var list strings.Builder
	for _, name := range slices.Concat(d.Sources(), d.Images()) {
		fmt.Fprintf(&list, "%s\n", path.Join("..", name))
	}
	reader, err := parts.ReadFile("read_sources.tcl")
	if err != nil {
		return nil, err
	}
	files := []rtl.File{{Name: folder + "files.f", Data: []byte(list.String())}, {Name: folder + "read_sources.tcl",
		Data: reader}}
	for _, f := range []struct{ name, from string }{{d.Top + ".xdc", "clock.xdc.tmpl"}, {"synth.tcl", "synth.tcl.tmpl"},
		{"package_ip.tcl", "package_ip.tcl.tmpl"}} {
		t, err := template.New(f.from).Funcs(template.FuncMap{"upper": strings.ToUpper}).ParseFS(parts, f.from)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, data); err != nil {
			return nil, err
		}
		files = append(files, rtl.File{Name: folder + f.name, Data: b.Bytes()})
	}
	return files, nil
}

// word quotes what a user wrote as one word of Tcl.
func word(text string) string {
	var b strings.Builder
	for _, r := range text {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
