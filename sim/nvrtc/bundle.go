// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"context"
	"regexp"

	"lathe/cuda"
	"lathe/internal/diag"
)

// Bundle is what ships: a cubin for each architecture, and one PTX for GPUs that none of them fits.
type Bundle struct {
	// Modules are in the order of cuda.Archs.
	Modules []*Module
	// PTX is that of compute_80, its version lowered so that drivers of 470 and later take it; that of the last module
	// where no kernel exists for it.
	PTX []byte
}

// Bundle compiles kernels for the named architectures; a kernel whose header names architectures is left out of the
// others, and an architecture without a kernel has no module. Errors as Compile, cuda.Print and cuda.FindArch.
func (c *Compiler) Bundle(ctx context.Context, name string, kernels []cuda.Instance, archs []string) (*Bundle, error) {
	return c.bundle(archs, func(arch, target string) (*Module, error) {
		return c.some(ctx, name, cuda.For(arch, kernels), target)
	})
}

// BundleText compiles a source whose kernels run on all architectures. Errors as Compile and cuda.FindArch.
func (c *Compiler) BundleText(ctx context.Context, name, source string, archs []string) (*Bundle, error) {
	return c.bundle(archs, func(_, target string) (*Module, error) { return c.Compile(ctx, name, source, target) })
}

// bundle asks for the module of each architecture, and for that of the portable PTX.
func (c *Compiler) bundle(archs []string, module func(arch, target string) (*Module, error)) (*Bundle, error) {
	b := &Bundle{}
	for _, arch := range archs {
		if _, err := cuda.FindArch(arch); err != nil {
			return nil, err
		}
		m, err := module(arch, arch)
		if err != nil {
			return nil, err
		}
		if m != nil {
			b.Modules = append(b.Modules, m)
		}
	}
	m, err := module("sm_80", cuda.PortablePTX)
	if m == nil && len(b.Modules) > 0 {
		b.PTX = b.Modules[len(b.Modules)-1].PTX
	}
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
		return nil, diag.New(diag.PTXVersion, "", "only PTX for sm_80 can claim version %s", lowered).
			WithHint("compile for %s", cuda.PortablePTX)
	}
	if len(version.FindAll(ptx, -1)) != 1 {
		return nil, diag.New(diag.PTXVersion, "", "the PTX does not state its version once").
			WithHint("give what NVRTC has printed")
	}
	return version.ReplaceAll(ptx, []byte(".version "+lowered)), nil
}
