// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"lathe/cuda"
	"lathe/internal/diag"
)

// Bundle is what ships: a cubin for each architecture, and one PTX for GPUs that none of them fits.
type Bundle struct {
	// Modules are in the order of cuda.Archs.
	Modules []*Module
	// PTX is that of compute_80, its version lowered so that drivers of 470 and later take it.
	PTX []byte
}

// Bundle compiles kernels for the named architectures; a kernel whose header names architectures is left out of the
// others, and an architecture without a kernel has no module. Errors as Compile, cuda.Print and cuda.FindArch.
func (c *Compiler) Bundle(ctx context.Context, name string, kernels []cuda.Instance, archs []string) (*Bundle, error) {
	b := &Bundle{}
	for _, arch := range archs {
		if _, err := cuda.FindArch(arch); err != nil {
			return nil, err
		}
		m, err := c.some(ctx, name, cuda.For(arch, kernels), arch)
		if err != nil {
			return nil, err
		}
		if m != nil {
			b.Modules = append(b.Modules, m)
		}
	}
	m, err := c.some(ctx, name, cuda.For("sm_80", kernels), cuda.PortablePTX)
	if err != nil || m == nil {
		return b, err
	}
	b.PTX, err = LowerPTX(m.PTX)
	return b, err
}

// some compiles the kernels if there are any.
func (c *Compiler) some(ctx context.Context, name string, kernels []cuda.Instance, arch string) (*Module, error) {
	if len(kernels) == 0 {
		return nil, nil
	}
	source, err := cuda.Print(kernels...)
	if err != nil {
		return nil, err
	}
	return c.Compile(ctx, name, source, arch)
}

// lowered is the PTX version that the portable PTX claims: the oldest that knows all of its instructions.
const lowered = "7.4"

var (
	version = regexp.MustCompile(`(?m)^\.version (\d+\.\d+)$`)
	target  = regexp.MustCompile(`(?m)^\.target (sm_\d+a?)\b`)
)

// LowerPTX replaces the version of PTX for sm_80 by 7.4. A driver refuses PTX that is newer than itself, whatever the
// text uses. Whether it uses no newer instruction only ptxas can tell: checks assemble the result. Error L0939 for
// other PTX.
func LowerPTX(ptx []byte) ([]byte, error) {
	if m := target.FindSubmatch(ptx); m == nil || string(m[1]) != "sm_80" {
		return nil, diag.New("L0939", "", "only PTX for sm_80 can claim version %s", lowered)
	}
	if len(version.FindAll(ptx, -1)) != 1 {
		return nil, diag.New("L0939", "", "the PTX does not state its version once")
	}
	return version.ReplaceAll(ptx, []byte(".version "+lowered)), nil
}

// Choose picks what a GPU loads, by ten times its compute capability: the cubin made for exactly that one, else the
// newest older one of its major number, else the PTX. what names the choice. Error L0940 where nothing fits.
func (b *Bundle) Choose(capability int) (image []byte, what string, err error) {
	var best *Module
	rank := -1
	var have []string
	for _, m := range b.Modules {
		a, err := cuda.FindArch(m.Arch)
		if err != nil {
			return nil, "", err
		}
		have = append(have, m.Arch)
		if a.Exact && a.Capability != capability || a.Capability > capability || a.Capability/10 != capability/10 {
			continue
		}
		r := 2 * a.Capability
		if a.Exact {
			r++
		}
		if r > rank {
			best, rank = m, r
		}
	}
	if best != nil {
		return best.Cubin, "cubin for " + best.Arch, nil
	}
	if len(b.PTX) > 0 {
		have = append(have, "PTX for sm_80 and later")
		if capability >= 80 {
			return b.PTX, "PTX " + lowered + " for sm_80", nil
		}
	}
	gpu := fmt.Sprintf("sm_%d", capability)
	e := diag.New("L0940", "", "there is no code for this GPU (%s), only %s", gpu, strings.Join(have, ", "))
	if capability < 80 {
		return nil, "", e.WithHint("Lathe's kernels need sm_80 or later")
	}
	return nil, "", e.WithHint("emit for an architecture that it has: --arch")
}
