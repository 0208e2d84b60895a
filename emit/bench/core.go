// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"path"
	"slices"
	"strings"
	"text/template"

	"lathe/emit"
	"lathe/ir/target"
	"lathe/rtl"
)

// kinds are the file types of FuseSoC, by the end of a name.
var kinds = map[string]string{".v": "verilogSource", ".sv": "systemVerilogSource"}

var coreText = template.Must(template.New("core.tmpl").Funcs(template.FuncMap{
	"kind": func(name string) string { return kinds[path.Ext(name)] },
}).ParseFS(parts, "core.tmpl"))

// AddCore adds <top>.core, by which FuseSoC takes the design, as its CAPI2 describes: targets default, lint, sim where
// the design has the files of a testbench, axi where it has the AXI shell, and synth for parts of Vivado. It replaces
// one that is there.
func AddCore(d *emit.Design) error {
	data := struct {
		Name, Top, Version, Part, Constraints string
		Sources, Images, Bench, Vectors       []string
		Shell                                 []string
	}{Name: "user.org:lathe:" + d.Top + ":1.0", Top: d.Top, Version: d.Version, Sources: d.Sources(),
		Images: d.Images()}
	for _, name := range d.Extras(folder) {
		switch {
		case name == folder+d.Core+lanesSuffix+".sv": // for waveforms alone
		case path.Ext(name) == ".sv":
			data.Bench = append(data.Bench, name)
		case path.Ext(name) == ".mem":
			data.Vectors = append(data.Vectors, name)
		}
	}
	for _, name := range d.Extras("axi/") {
		if kinds[path.Ext(name)] != "" {
			data.Shell = append(data.Shell, name)
		}
	}
	for _, f := range d.Files {
		if !slices.Contains(data.Sources, f.Name) && !slices.Contains(data.Images, f.Name) {
			data.Vectors = append(data.Vectors, f.Name) // the contents of a memory outside
		}
	}
	if name := "vivado/" + d.Top + ".xdc"; slices.Contains(d.Extras("vivado/"), name) {
		data.Constraints, data.Part = name, d.Part
		if data.Part == "" {
			data.Part = target.Default
		}
	}
	var b strings.Builder
	if err := coreText.Execute(&b, data); err != nil {
		return err
	}
	name := d.Top + ".core"
	d.Extra = slices.DeleteFunc(d.Extra, func(f rtl.File) bool { return f.Name == name })
	d.Extra = append(d.Extra, rtl.File{Name: name, Data: []byte(b.String())})
	return nil
}
