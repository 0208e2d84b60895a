// SPDX-License-Identifier: Apache-2.0

// Package host makes what a processor needs beside a design in the AXI shell: a driver in C over a small layer for
// Linux, bare metal and simulation, an example, a class for Python, a simulated system on which both run, and a module
// for LiteX. Texts
// that are the same for all designs lie in folder/, with NAME and UPPER where the name of the design will stand.
package host

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"lathe/emit"
	"lathe/emit/meaning"
	"lathe/emit/shell"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/rtl"
)

//go:embed folder
var folder embed.FS

// below is where the files lie in the folder of a design.
const below = "axi/"

// Samples are what the example computes: the values of all inputs of each sample, in the layout of the model, and the
// frames of all outputs that must come out, one sample behind the other.
type Samples struct {
	Values [][]float32
	Frames []byte
}

// Files are those for a design, whose core is c; without samples the folder has none.
func Files(d *emit.Design, c *shell.Core, s Samples) ([]rtl.File, error) {
	ports := portsOf(d, c)
	fill := strings.NewReplacer(words(d, c, ports)...)
	var files []rtl.File
	err := fs.WalkDir(folder, "folder", func(path string, e fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, "folder/")
		if err != nil || e.IsDir() || d.Memory != nil && strings.HasPrefix(name, "system/") {
			return err
		}
		text, err := folder.ReadFile(path)
		files = append(files, rtl.File{Name: below + fill.Replace(name), Data: []byte(fill.Replace(string(text)))})
		return err
	})
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(description{d.Name, c.Timeout, ports}, "", "  ")
	if err != nil {
		return nil, diag.New(diag.UnitFault, d.Name, "cannot describe the ports: %v", err)
	}
	driver := below + "driver/"
	files = append(files, rtl.File{Name: driver + "ports.json", Data: append(text, '\n')},
		rtl.File{Name: driver + d.Top + "_ports.h", Data: counts(d, c, ports)},
		rtl.File{Name: driver + d.Top + "_ports.c", Data: tables(d, ports)})
	if d.Memory == nil {
		files = append(files, rtl.File{Name: below + "system/system_ports.h", Data: signals(d, c)})
	}
	if len(s.Values) > 0 {
		files = append(files, rtl.File{Name: driver + "samples.bin", Data: floats(s.Values)},
			rtl.File{Name: driver + "results.bin", Data: s.Frames})
	}
	return files, nil
}

// description is the file ports.json.
type description struct {
	Design  string `json:"design"`
	Timeout int    `json:"timeout"` // cycles without a beat, behind which a sample is lost
	Ports   []port `json:"ports"`
}

// words are what is replaced in the texts.
func words(d *emit.Design, c *shell.Core, ports []port) []string {
	var bases []string
	for k := range max(count(ports, "in"), count(ports, "out")) {
		bases = append(bases, fmt.Sprintf("%#x", 0x40400000+0x10000*k))
	}
	lacking := ""
	if d.Memory != nil {
		lacking = "the design reads a memory outside, which the system has not; keep the weights inside, with memory = " +
			"\\\"inside\\\" of the plan"
	}
	takes := map[bool]string{true: "True", false: "False"}
	var streams []string
	for _, s := range c.Streams {
		streams = append(streams, fmt.Sprintf("(%q, %s, %d)", s.Prefix, takes[s.Input], 8*s.Packet()))
	}
	core := "None"
	if d.StreamMHz > 0 {
		core = `"core"`
	}
	return []string{"NAME", d.Top, "UPPER", strings.ToUpper(d.Top), "@VERSION@", c.Version,
		"@BASES@", strings.Join(bases, ","), "@LACKING@", lacking, "@STREAMS@", strings.Join(streams, ", "),
		"@CORE@", core}
}

// port is a stream as drivers see it.
type port struct {
	Name       string         `json:"name"`
	Direction  string         `json:"direction"`
	Format     string         `json:"format"`
	Shape      []int          `json:"shape"` // of the stream
	ArrayShape []int          `json:"array_shape"`
	Perm       []int          `json:"perm,omitempty"`
	Exponents  []int          `json:"exponents,omitempty"`
	Lanes      int            `json:"lanes"`
	Beats      int            `json:"beats"`
	BeatBytes  int            `json:"beat_bytes"`
	FrameBytes int            `json:"frame_bytes"`
	Signed     bool           `json:"signed"`
	Values     meaning.Values `json:"values"`

	elements int
	stride   []int // of the stream's axes in the array
}

func portsOf(d *emit.Design, c *shell.Core) (list []port) {
	for i, p := range d.Ports {
		s := c.Streams[i]
		q := port{Name: p.Name, Direction: "out", Format: p.Type.Format.String(), Shape: p.Type.Shape, Perm: p.Perm,
			ArrayShape: p.Type.Shape, Exponents: p.Exponents, Lanes: p.Lanes, Beats: s.Beats, BeatBytes: s.Bytes,
			FrameBytes: s.Size(), Signed: format.SignedCodes(p.Type.Format), Values: meaning.Of(p.Type, ir.StageScheduled),
			elements: p.Type.Elems()}
		if p.Input {
			q.Direction = "in"
		}
		if b, ok := p.Type.BlockFormat(); ok {
			if last := b.Axis() < 0 || b.Axis() == len(p.Type.Shape)-1; !last || b.BlockRows() != 1 {
				q.Values.Kind = "code"
			}
			q.Values.ScaleBits = b.ScaleWidth()
		}
		q.lay(p.Input)
		list = append(list, q)
	}
	return list
}

// lay finds the shape of the caller's array, and the steps in it.
func (p *port) lay(input bool) {
	if p.Perm == nil {
		return
	}
	rank := len(p.Shape)
	axis := make([]int, rank) // of the array, for each of the stream
	for i, k := range p.Perm {
		if input {
			axis[i] = k
		} else {
			axis[k] = i
		}
	}
	p.ArrayShape, p.stride = make([]int, rank), make([]int, rank)
	for i, a := range axis {
		p.ArrayShape[a] = p.Shape[i]
	}
	for i, a := range axis {
		p.stride[i] = 1
		for _, n := range p.ArrayShape[a+1:] {
			p.stride[i] *= n
		}
	}
}

func count(ports []port, direction string) (n int) {
	for _, p := range ports {
		if p.Direction == direction {
			n++
		}
	}
	return n
}

// head begins a generated file in C.
func head(b *bytes.Buffer, d *emit.Design, file, what string) {
	fmt.Fprintf(b, "/* SPDX-License-Identifier: Apache-2.0\n * %s: %s. Generated by lathe %s; do not edit. */\n", file,
		what, d.Version)
}

// counts is the header of the tables.
func counts(d *emit.Design, c *shell.Core, ports []port) []byte {
	var b bytes.Buffer
	upper, bytes := strings.ToUpper(d.Top), 0
	for _, p := range ports {
		bytes += 2 * ((p.FrameBytes + 63) / 64 * 64)
	}
	head(&b, d, d.Top+"_ports.h", "how many ports "+d.Top+" has")
	fmt.Fprintf(&b, "#ifndef %s_PORTS_H\n#define %[1]s_PORTS_H\n\n", upper)
	for _, line := range []struct {
		name  string
		value int
		doc   string
	}{{"INPUTS", count(ports, "in"), "streams to the design"}, {"OUTPUTS", count(ports, "out"), "and from it"},
		{"TIMEOUT", c.Timeout, "cycles without a beat, behind which a sample is lost"},
		{"DMA_BYTES", bytes, "memory for DMA"}} {
		fmt.Fprintf(&b, "#define %s_%s %d /* %s */\n", upper, line.name, line.value, line.doc)
	}
	b.WriteString("\n#endif\n")
	return b.Bytes()
}

// signals tells the simulated system of the streams.
func signals(d *emit.Design, c *shell.Core) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// SPDX-License-Identifier: Apache-2.0\n// system_ports.h: the streams of %s. Generated by lathe "+
		"%s; do not edit.\n#define CORE_CLOCK(level) ", d.Top, d.Version)
	if d.StreamMHz > 0 {
		fmt.Fprintf(&b, "(top->%s = (level))\n\n", emit.CoreClock)
	} else {
		b.WriteString("((void)(level))\n\n")
	}
	b.WriteString("static std::vector<Stream> streams() {\n    return {\n")
	for _, input := range []bool{true, false} {
		for _, s := range c.Streams {
			if s.Input == input {
				fmt.Fprintf(&b, "        {%t, %d, &top->%s_tdata, &top->%[3]s_tkeep, &top->%[3]s_tvalid, "+
					"&top->%[3]s_tready, &top->%[3]s_tlast},\n", s.Input, s.Packet(), s.Prefix)
			}
		}
	}
	b.WriteString("    };\n}\n")
	return b.Bytes()
}
