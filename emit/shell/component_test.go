// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lathe/rtl"
	"lathe/rtl/netlist"
)

// grammar is what IEEE 1685-2009 has elements consist of, as far as component.xml uses it: elements in their order,
// with ? those that may be missing, with * those that may come any number of times, with + at least once. ! stands for
// attributes.
var grammar = map[string]string{
	"component": "vendor library name version busInterfaces? channels? remapStates? addressSpaces? memoryMaps? model? " +
		"componentGenerators? choices? fileSets? whiteboxElements? cpus? otherClockDrivers? description? parameters? " +
		"vendorExtensions?",
	"busInterfaces": "busInterface+",
	"busInterface": "name displayName? description? busType abstractionType? master? slave? connectionRequired? " +
		"portMaps? bitSteering? endianness? parameters? vendorExtensions?",
	"busType": "!", "abstractionType": "!", "memoryMapRef": "!", "master": "addressSpaceRef?",
	"slave": "memoryMapRef? bridge*", "portMaps": "portMap+", "portMap": "logicalPort physicalPort",
	"logicalPort": "name vector?", "physicalPort": "name vector?", "parameters": "parameter+",
	"parameter": "name displayName? description? value vendorExtensions?", "memoryMaps": "memoryMap+",
	"memoryMap": "name displayName? description? addressBlock* memoryRemap* addressUnitBits? shared?",
	"addressBlock": "name displayName? description? baseAddress typeIdentifier? range width usage? volatile? access? " +
		"parameters? register*",
	"register": "name displayName? description? dim* addressOffset typeIdentifier? size volatile? access? reset? field* " +
		"alternateRegisters? parameters?",
	"reset": "value mask?",
	"field": "name displayName? description? bitOffset typeIdentifier? bitWidth volatile? access? enumeratedValues? " +
		"modifiedWriteValue? writeValueConstraint? readAction? testable?",
	"model": "views? ports? modelParameters?", "views": "view+",
	"view":       "name displayName? description? envIdentifier+ hierarchyRef? language? modelName? fileSetRef*",
	"fileSetRef": "localName", "ports": "port+", "port": "name displayName? description? wire access?",
	"wire": "direction vector? wireTypeDefs? driver?", "vector": "left right", "fileSets": "fileSet+",
	"fileSet": "name displayName? description? group* file*",
	"file":    "name fileType? userFileType? isIncludeFile? logicalName?",
}

// values are what texts can be.
var values = map[string]func(string) bool{
	"direction": oneOf("in", "out", "inout", "phantom"), "access": oneOf("read-only", "write-only", "read-write",
		"writeOnce", "read-writeOnce"), "usage": oneOf("memory", "register", "reserved"),
	"modifiedWriteValue": oneOf("oneToClear", "oneToSet", "oneToToggle", "zeroToClear", "zeroToSet", "zeroToToggle",
		"clear", "set", "modify"), "volatile": oneOf("true", "false"),
	"fileType": oneOf("verilogSource", "systemVerilogSource", "vhdlSource", "unknown"), "size": isNumber,
	"bitOffset": isNumber, "bitWidth": isNumber, "left": isNumber, "right": isNumber, "range": isNumber, "width": isNumber,
	"baseAddress": isNumber, "addressOffset": isNumber,
}

func oneOf(list ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(list, s) }
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 0, 64)
	return err == nil
}

// parsed is an element that was read.
type parsed struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Nodes   []parsed   `xml:",any"`
}

// faults are where an element departs from the grammar.
func (n *parsed) faults() (list []string) {
	name := n.XMLName.Local
	if n.XMLName.Space != spirit {
		list = append(list, name+" is of another name space")
	}
	rule, has := grammar[name]
	if rule == "!" {
		for _, a := range n.Attrs {
			if a.Name.Space != spirit {
				list = append(list, "attribute "+a.Name.Local+" of another name space")
			}
		}
		if len(n.Nodes) > 0 || len(n.Attrs) == 0 {
			list = append(list, name+" consists of attributes")
		}
		return list
	}
	if !has {
		if check := values[name]; len(n.Nodes) > 0 || n.Text == "" || check != nil && !check(n.Text) {
			list = append(list, fmt.Sprintf("%s is %q with %d elements", name, n.Text, len(n.Nodes)))
		}
		return list
	}
	at := 0
	for _, item := range strings.Fields(rule) {
		want, how := strings.TrimRight(item, "?*+"), item[len(item)-1]
		count := 0
		for at < len(n.Nodes) && n.Nodes[at].XMLName.Local == want {
			at, count = at+1, count+1
		}
		if many := how == '*' || how == '+'; count > 1 && !many || count == 0 && how != '?' && how != '*' {
			list = append(list, fmt.Sprintf("%s has %d times %s", name, count, want))
		}
	}
	if at < len(n.Nodes) {
		list = append(list, fmt.Sprintf("%s in %s is in no place for it", n.Nodes[at].XMLName.Local, name))
	}
	for i := range n.Nodes {
		list = append(list, n.Nodes[i].faults()...)
	}
	return list
}

// find are the texts of all elements on a path.
func (n *parsed) find(path ...string) (list []string) {
	if len(path) == 0 {
		return []string{n.Text}
	}
	for i := range n.Nodes {
		if n.Nodes[i].XMLName.Local == path[0] {
			list = append(list, n.Nodes[i].find(path[1:]...)...)
		}
	}
	return list
}

// TestComponent: component.xml has the form of IEEE 1685-2009; each port of the top is mapped once, or is none of an
// interface; registers and files are those of the shell. Elements in another order are found.
func TestComponent(t *testing.T) {
	c, err := Read(folder(t, ",\n    output wire memory_error"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := Folder(c, Options{Version: "0"})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(files, func(f rtl.File) bool { return f.Name == "component.xml" })
	top := slices.IndexFunc(files, func(f rtl.File) bool { return f.Name == "axi/m_axi.v" })
	text := string(files[at].Data)
	var root parsed
	if err := xml.Unmarshal([]byte(text), &root); err != nil {
		t.Fatal(err)
	}
	if list := root.faults(); len(list) > 0 {
		t.Errorf("%s\n%s", strings.Join(list, "\n"), text)
	}
	var ports []string
	for _, p := range netlist.PortsOf(files[top].Data, "m_axi") {
		ports = append(ports, p.Name)
	}
	if got := root.find("model", "ports", "port", "name"); !slices.Equal(got, ports) || len(ports) < 30 {
		t.Errorf("ports %q, want %q", got, ports)
	}
	mapped := append(root.find("busInterfaces", "busInterface", "portMaps", "portMap", "physicalPort", "name"),
		"memory_error")
	slices.Sort(mapped)
	slices.Sort(ports)
	if !slices.Equal(mapped, ports) {
		t.Errorf("mapped %q, want %q", mapped, ports)
	}
	if got := root.find("memoryMaps", "memoryMap", "addressBlock", "register", "name"); len(got) != len(Registers(c)) {
		t.Errorf("registers %q", got)
	}
	sources := root.find("fileSets", "fileSet", "file", "name")
	for _, want := range []string{"m.v", "w.mem", "axi/axi_unpack.sv", "axi/m_axi.v"} {
		if text := " " + strings.Join(sources, "  ") + " "; strings.Count(text, " "+want+" ") != 2 {
			t.Errorf("%s is not there twice: %q", want, sources)
		}
	}
	for _, broken := range [][2]string{{"<spirit:vendor>", "<spirit:seller>"}, {"read-write", "readwrite"},
		{"<spirit:size>32</spirit:size>", ""}, {"<spirit:direction>in</spirit:direction>", ""}} {
		var other parsed
		closing := func(tag string) string { return strings.Replace(tag, "<", "</", 1) }
		changed := strings.Replace(text, broken[0], broken[1], 1)
		changed = strings.Replace(changed, closing(broken[0]), closing(broken[1]), 1)
		if err := xml.Unmarshal([]byte(changed), &other); err != nil || len(other.faults()) == 0 {
			t.Errorf("%q in place of %q is not found: %v", broken[1], broken[0], err)
		}
	}
}
