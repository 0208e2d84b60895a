// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"path"
	"slices"
	"strings"

	"lathe/rtl"
	"lathe/rtl/netlist"
)

// node is an element of IP-XACT (IEEE 1685-2009): its own name, attributes, and either text or elements.
type node struct {
	name  string
	attrs [][2]string
	text  string
	nodes []node
}

func element(name string, nodes ...node) node { return node{name: name, nodes: nodes} }

func leaf(name string, value any) node { return node{name: name, text: fmt.Sprint(value)} }

func (n node) with(attribute, value string) node {
	n.attrs = append(slices.Clone(n.attrs), [2]string{attribute, value})
	return n
}

// print writes an element, its attributes all of the name space.
func (n node) print(b *bytes.Buffer, indent string) {
	fmt.Fprintf(b, "%s<spirit:%s", indent, n.name)
	for _, a := range n.attrs {
		fmt.Fprintf(b, " %s=\"", a[0])
		_ = xml.EscapeText(b, []byte(a[1])) // into memory
		b.WriteByte('"')
	}
	switch {
	case len(n.nodes) > 0:
		b.WriteString(">\n")
		for _, child := range n.nodes {
			child.print(b, indent+"  ")
		}
		fmt.Fprintf(b, "%s</spirit:%s>\n", indent, n.name)
	default:
		b.WriteByte('>')
		_ = xml.EscapeText(b, []byte(n.text))
		fmt.Fprintf(b, "</spirit:%s>\n", n.name)
	}
}

// spirit is the name space of IEEE 1685-2009, which Vivado reads.
const spirit = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"

// Vendor, Library and Release name the core in catalogues, together with the name of its top.
const (
	Vendor  = "user.org"
	Library = "lathe"
	Release = "1.0"
)

// Component is component.xml, IP-XACT of a design in the AXI shell, for the folder of the design: files are all of its
// sources and images in the order of compilation, ports those of the top.
func Component(c *Core, top string, files []string, ports []netlist.Port) []byte {
	var interfaces []node
	vlnv := func(element, library, name string) node {
		return node{name: element}.with("spirit:vendor", "xilinx.com").with("spirit:library", library).
			with("spirit:name", name).with("spirit:version", "1.0")
	}
	bus := func(name, library, kind, role string, maps [][2]string, parameters ...node) {
		of := element(role)
		if kind == "aximm" {
			of = element(role, node{name: "memoryMapRef"}.with("spirit:memoryMapRef", name))
		}
		var list []node
		for _, m := range maps {
			list = append(list, element("portMap", element("logicalPort", leaf("name", m[0])),
				element("physicalPort", leaf("name", m[1]))))
		}
		n := element("busInterface", leaf("name", name), vlnv("busType", library, kind),
			vlnv("abstractionType", library, kind+"_rtl"), of, element("portMaps", list...))
		if len(parameters) > 0 {
			n.nodes = append(n.nodes, element("parameters", parameters...))
		}
		interfaces = append(interfaces, n)
	}
	all := []string{"s_axi"}
	for _, s := range c.Streams {
		role := "master"
		if s.Input {
			role = "slave"
		}
		all = append(all, s.Prefix)
		var maps [][2]string
		for _, p := range s.ports(c) {
			maps = append(maps, [2]string{strings.ToUpper(strings.TrimPrefix(p.Name, s.Prefix+"_")), p.Name})
		}
		bus(s.Prefix, "interface", "axis", role, maps)
	}
	var lite [][2]string
	for _, p := range liteSignals {
		lite = append(lite, [2]string{strings.ToUpper(p.Name), "s_axi_" + p.Name})
	}
	bus("s_axi", "interface", "aximm", "slave", lite)
	bus("ap_clk", "signal", "clock", "slave", [][2]string{{"CLK", "ap_clk"}},
		parameter("ASSOCIATED_BUSIF", strings.Join(all, ":")), parameter("ASSOCIATED_RESET", "ap_rst_n"))
	bus("ap_rst_n", "signal", "reset", "slave", [][2]string{{"RST", "ap_rst_n"}}, parameter("POLARITY", "ACTIVE_LOW"))
	bus("irq", "signal", "interrupt", "master", [][2]string{{"INTERRUPT", "irq"}},
		parameter("SENSITIVITY", "LEVEL_HIGH"))
	root := element("component", leaf("vendor", Vendor), leaf("library", Library), leaf("name", top),
		leaf("version", Release), element("busInterfaces", interfaces...), element("memoryMaps", memoryMap(c)),
		element("model", element("views", view("synthesis", top), view("simulation", top)),
			element("ports", wires(ports)...)),
		element("fileSets", fileSet("synthesis", files), fileSet("simulation", files)),
		leaf("description", c.Name+" with streams for DMA and registers behind AXI4-Lite, made by lathe "+c.Version)).
		with("xmlns:spirit", spirit)
	b := &bytes.Buffer{}
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n")
	root.print(b, "")
	return b.Bytes()
}

func parameter(name, value string) node {
	return element("parameter", leaf("name", name), leaf("value", value))
}

// memoryMap are the registers.
func memoryMap(c *Core) node {
	block := element("addressBlock", leaf("name", "registers"), leaf("baseAddress", 0), leaf("range", addressBytes),
		leaf("width", 32), leaf("usage", "register"))
	access := map[string]string{"ro": "read-only", "rw": "read-write", "w1c": "read-write"}
	for _, r := range Registers(c) {
		n := element("register", leaf("name", r.Name), leaf("description", r.Doc),
			leaf("addressOffset", fmt.Sprintf("0x%02X", r.Offset)), leaf("size", 32),
			leaf("volatile", r.Access != "rw"), leaf("access", access[r.Access]),
			element("reset", leaf("value", fmt.Sprintf("0x%08X", r.Reset))))
		for _, f := range r.Fields {
			field := element("field", leaf("name", f.Name), leaf("description", f.Doc), leaf("bitOffset", f.Bit),
				leaf("bitWidth", 1), leaf("access", access[r.Access]))
			if r.Access == "w1c" {
				field.nodes = append(field.nodes, leaf("modifiedWriteValue", "oneToClear"))
			}
			n.nodes = append(n.nodes, field)
		}
		block.nodes = append(block.nodes, n)
	}
	return element("memoryMap", leaf("name", "s_axi"), block)
}

// view is one for a tool, of the files of the same name.
func view(name, top string) node {
	return element("view", leaf("name", name), leaf("envIdentifier", ":vivado.xilinx.com:"+name),
		leaf("language", "verilog"), leaf("modelName", top), element("fileSetRef", leaf("localName", name)))
}

func wires(ports []netlist.Port) (list []node) {
	for _, p := range ports {
		direction := "in"
		if p.Output {
			direction = "out"
		}
		wire := element("wire", leaf("direction", direction))
		if p.Width > 0 {
			wire.nodes = append(wire.nodes, element("vector", leaf("left", p.Width-1), leaf("right", 0)))
		}
		list = append(list, element("port", leaf("name", p.Name), wire))
	}
	return list
}

func fileSet(name string, files []string) node {
	set := element("fileSet", leaf("name", name))
	for _, f := range files {
		kind := leaf("fileType", "verilogSource")
		switch path.Ext(f) {
		case ".sv":
			kind = leaf("fileType", "systemVerilogSource")
		case ".mem":
			kind = leaf("userFileType", "mem")
		}
		set.nodes = append(set.nodes, element("file", leaf("name", f), kind))
	}
	return set
}

// component is the file component.xml of a design whose shell consists of files below axi/, the top last.
func component(c *Core, files []rtl.File, top string) rtl.File {
	var names, images []string
	for _, f := range c.Files {
		if path.Ext(f.Name) == ".mem" {
			images = append(images, f.Name)
		} else {
			names = append(names, f.Name)
		}
	}
	for _, f := range files {
		names = append(names, "axi/"+f.Name)
	}
	return rtl.File{Name: "component.xml", Data: Component(c, top, append(names, images...), portsOf(files, top))}
}
