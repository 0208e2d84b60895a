// SPDX-License-Identifier: Apache-2.0

// Package nvrtc compiles CUDA C++ with NVIDIA's run-time compiler, which it loads as a shared library, and reads what
// the assembler reports of each kernel. No CUDA headers, no C compiler and no GPU are needed. Results are kept in a
// cache by the hash of source, options and version.
package nvrtc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"lathe/internal/diag"
)

// Version is the version of NVRTC and ptxas that Lathe is tested with: another one writes other PTX.
const Version = "12.9"

// The files that scripts/setup --cuda puts into the folder of the toolchain.
const (
	library  = "libnvrtc.so.12"
	builtins = "libnvrtc-builtins.so.12.9"
)

// Compiler is NVRTC, loaded.
type Compiler struct {
	// Lines notes in PTX and machine code which line of the source each instruction comes from.
	Lines bool

	// Worker is the command line of a program that calls Worker with the argument behind it. Each compilation then runs in
	// a process of its own, which ctx ends at once. Empty: in this process, where NVRTC takes SIGINT, SIGTERM and SIGXFSZ
	// for itself while its assembler works.
	Worker []string

	api        *api
	dir, cache string
}

// Module is a compiled translation unit.
type Module struct {
	// Arch is the target: sm_90 and the like, or compute_80, for which there is no Cubin.
	Arch string
	PTX  []byte
	// Cubin is the machine code, an ELF file.
	Cubin []byte
	// Log is what the compiler said, without the report of the assembler; empty for sound sources.
	Log string
	// Kernels is the assembler's report, one a kernel; empty without a Cubin.
	Kernels []Usage
}

// Open loads NVRTC from a folder. Compiled modules are kept below cache; "" keeps none. Error L0935 where the library
// is missing, cannot be loaded, or has another version than Version.
func Open(dir, cache string) (*Compiler, error) {
	for _, name := range []string{builtins, library} { // a missing file must not reach the loader, which searches on
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return nil, missing(dir, "no %s", name)
		}
	}
	api, err := load(dir)
	if err != nil {
		return nil, missing(dir, "%s cannot be loaded: %v", library, err)
	}
	if have := api.version(); have != Version {
		return nil, missing(dir, "NVRTC is version %s, Lathe is tested with %s", have, Version)
	}
	return &Compiler{api: api, dir: dir, cache: cache}, nil
}

func missing(dir, format string, args ...any) error {
	return diag.New(diag.NoNVRTC, dir, format, args...).WithHint("run scripts/setup --cuda")
}

// options of a compilation.
func (c *Compiler) options(arch string) []string {
	opts := []string{"--gpu-architecture=" + arch, "-default-device", "--std=c++17", "--fmad=true"}
	if c.Lines {
		opts = append(opts, "-lineinfo")
	}
	if !strings.HasPrefix(arch, "compute_") {
		opts = append(opts, "--ptxas-options=-v")
	}
	return opts
}

// Compile compiles source for an architecture: a name of cuda.Archs for PTX and cubin, compute_80 for PTX only. name
// stands in messages. Error L0936 where the compiler refuses: its notes are the first lines of the log, and the error
// is a *CompileError, which holds all of it. Error L0940 where the worker ends without an answer. The error of ctx is
// returned where it is done; without a worker, ctx is looked at before the compilation only.
func (c *Compiler) Compile(ctx context.Context, name, source, arch string) (*Module, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	opts := c.options(arch)
	key := c.key(source, opts)
	if m, ok := c.cached(key); ok {
		return m, nil
	}
	out, ok, err := c.run(ctx, request{Name: name, Source: source, Options: opts, Machine: machine(arch)})
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, refused(name, arch, out.log)
	}
	m := &Module{Arch: arch, PTX: out.ptx, Cubin: out.cubin}
	m.Kernels, m.Log = Report(out.log)
	c.keep(key, m)
	return m, nil
}

// run compiles here or in a worker; false means that the log says why not.
func (c *Compiler) run(ctx context.Context, r request) (output, bool, error) {
	if len(c.Worker) > 0 {
		return c.apart(ctx, r)
	}
	out, ok := c.api.compile(r.Name, r.Source, r.Options, r.Machine)
	return out, ok, nil
}

// CompileError is a refusal together with the whole log.
type CompileError struct {
	// Cause is the error of the catalogue: L0936.
	Cause *diag.Error
	// Log is everything that the compiler said.
	Log string
}

// Error is that of the cause.
func (e *CompileError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *CompileError) Unwrap() error { return e.Cause }

// shown is how many lines of a log stand in an error.
const shown = 4

// complaint is an error in the log: its place and text, and the template with its arguments in which it stands, if it
// stands in one.
var complaint = regexp.MustCompile(`(?m)^(.*: error: .*|error: .*|nvrtc: error: .*)$(?:\n +.*)*?` +
	`(?:\n +detected during instantiation of "(.*)".*)?(?:\n\n|\z|\n\S)`)

func refused(name, arch, log string) error {
	e := diag.New(diag.NVRTCFailed, name, "NVRTC does not compile this for %s", arch)
	for _, m := range complaint.FindAllStringSubmatch(log, shown) {
		if m[2] == "" {
			e = e.WithNote("%s", strings.TrimSpace(m[1]))
		} else {
			e = e.WithNote("%s, in %s", strings.TrimSpace(m[1]), m[2])
		}
	}
	return &CompileError{Cause: e, Log: log}
}

// Kernel returns the report on a kernel, and whether there is one.
func (m *Module) Kernel(name string) (Usage, bool) {
	for _, u := range m.Kernels {
		if u.Kernel == name {
			return u, true
		}
	}
	return Usage{}, false
}

// String is a line for people: target and sizes.
func (m *Module) String() string {
	const text = "%s: PTX of %d bytes, cubin of %d bytes, %d kernels"
	return fmt.Sprintf(text, m.Arch, len(m.PTX), len(m.Cubin), len(m.Kernels))
}
