// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
	"lathe/sim/nvrtc"
)

// Program is one translation unit, compiled.
type Program struct {
	Name string
	// PTX is the text that any GPU of its target or later can run, in a version that old drivers take.
	PTX []byte
	// Cubins are machine code, one an architecture. There may be none.
	Cubins []Cubin
}

// Cubin is machine code for one architecture, "sm_90" or, usable on exactly that one, "sm_90a".
type Cubin struct {
	Arch string
	Data []byte
}

// FromBundle is the program of what NVRTC has made.
func FromBundle(name string, b *nvrtc.Bundle) *Program {
	p := &Program{Name: name, PTX: b.PTX}
	for _, m := range b.Modules {
		p.Cubins = append(p.Cubins, Cubin{Arch: m.Arch, Data: m.Cubin})
	}
	return p
}

// entryPattern finds the kernels of PTX; parameters are .param .u64 x, or .param .align 8 .b8 x[16].
var (
	entryPattern  = regexp.MustCompile(`(?s)\.entry\s+([\w$]+)\s*\(([^)]*)\)([^{]*)\{`)
	paramPattern  = regexp.MustCompile(`\.param\s+(?:\.align\s+\d+\s+)?\.[busf](\d+)\s+[^,\[]*(?:\[(\d+)\])?`)
	threadPattern = regexp.MustCompile(`\.maxntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?`)
	targetPattern = regexp.MustCompile(`(?m)^\.target\s+(sm_\w+)`)
)

// Signatures reads the kernels of PTX: names, sizes of parameters and the threads of a block; 1024 where none are
// given. Error L0978 for a text without kernels.
func Signatures(name string, ptx []byte) ([]Kernel, error) {
	var out []Kernel
	for _, m := range entryPattern.FindAllSubmatch(ptx, -1) {
		k := Kernel{Name: string(m[1]), Threads: 1}
		for _, p := range paramPattern.FindAllSubmatch(m[2], -1) {
			bits, _ := strconv.Atoi(string(p[1])) // digits, both
			if count, err := strconv.Atoi(string(p[2])); err == nil {
				bits *= count
			}
			k.Params = append(k.Params, bits/8)
		}
		if limit := threadPattern.FindSubmatch(m[3]); limit != nil {
			for _, digits := range limit[1:] {
				n, err := strconv.Atoi(string(digits))
				if err == nil {
					k.Threads *= n
				}
			}
		} else {
			k.Threads = 1024
		}
		out = append(out, k)
	}
	if len(out) == 0 {
		return nil, diag.New(diag.NoBinary, name, "the PTX holds no kernels").WithHint("a kernel is an .entry")
	}
	return out, nil
}

// target is the architecture of PTX, "sm_80".
func target(ptx []byte) string {
	if m := targetPattern.FindSubmatch(ptx); m != nil {
		return string(m[1])
	}
	return "of unknown target"
}

// split reads "sm_90a" as 90 and "a".
func split(arch string) (number int, suffix string) {
	digits := strings.TrimPrefix(arch, "sm_")
	end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(digits)
	}
	number, _ = strconv.Atoi(digits[:end]) // 0 matches no device
	return number, digits[end:]
}

// image is one thing that a driver can be given.
type image struct {
	name string // "cubin sm_90a"
	data []byte
	text bool
}

// images lists what suits a device of that architecture, best first: machine code for exactly this one, with its
// architecture-specific instructions before without, machine code for an earlier one of the same generation, latest
// first, and last the PTX.
func (p *Program) images(arch string) []image {
	have, _ := split(arch)
	fits := slices.DeleteFunc(slices.Clone(p.Cubins), func(c Cubin) bool {
		n, suffix := split(c.Arch)
		return n/10 != have/10 || n > have || suffix != "" && n != have
	})
	slices.SortStableFunc(fits, func(a, b Cubin) int {
		an, as := split(a.Arch)
		bn, bs := split(b.Arch)
		return cmp.Or(cmp.Compare(bn, an), cmp.Compare(bs, as))
	})
	var out []image
	for _, c := range fits {
		out = append(out, image{name: "cubin " + c.Arch, data: c.Data})
	}
	if len(p.PTX) > 0 {
		ended := append(slices.Clip(bytes.TrimRight(p.PTX, "\x00")), 0)
		out = append(out, image{name: "PTX " + target(p.PTX), data: ended, text: true})
	}
	return out
}

// holds lists the architectures of a program, for errors.
func (p *Program) holds() string {
	var out []string
	for _, c := range p.Cubins {
		out = append(out, c.Arch)
	}
	if len(p.PTX) > 0 {
		out = append(out, "PTX for "+target(p.PTX))
	}
	return strings.Join(out, ", ")
}

// Image returns the bytes that Code.Image names; nil if the program has none of that name.
func (p *Program) Image(name string) []byte {
	for _, c := range p.Cubins {
		if name == "cubin "+c.Arch {
			return c.Data
		}
	}
	if name == "PTX "+target(p.PTX) {
		return p.PTX
	}
	return nil
}
