// SPDX-License-Identifier: Apache-2.0

// Package doctor finds out which of the programs, libraries and devices that Lathe can use are on this machine, and
// says what the absence of each costs and what to do about it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lathe/internal/diag"
	installed "lathe/internal/nextpnr"
	"lathe/ir/target"
)

// Finding is the state of one thing.
type Finding struct {
	Name    string `json:"name"`
	Found   bool   `json:"found"` // there, and new enough
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"` // empty where it is there but does not say
	Trouble string `json:"trouble,omitempty"` // why it counts as not found although something is there
	Cost    string `json:"cost"`              // what its absence takes away
	Fix     string `json:"fix"`               // how to get it
}

// Env is what Check looks at. The caller fills it in, so that nothing here reads the environment.
type Env struct {
	// Plugin is the place of the PJRT plugin, an absolute path.
	Plugin string
	// PluginVersion loads the plugin and returns what it says of itself; nil: the file is looked at only.
	PluginVersion func(ctx context.Context, path string) (string, error)
	// Toolchain is the folder in which scripts/setup --cuda puts NVRTC, ptxas and nvdisasm.
	Toolchain string
	// Route is the folder in which scripts/setup --route puts nextpnr.
	Route string
	// GPU opens the first GPU through its driver and names it; nil: nvidia-smi is asked alone.
	GPU func() (string, error)
	// LookPath finds a program; nil stands for exec.LookPath.
	LookPath func(name string) (string, error)
	// Run starts a program and returns its standard output; nil stands for doing so, for 20 seconds at most.
	Run func(ctx context.Context, path string, args ...string) (string, error)
}

// program is one command that is looked up in PATH and asked for its version.
type program struct {
	name, oldest string
	ask          []string
	cost, fix    string
}

const bySetup = "run scripts/setup, or install the Debian package "

// programs in the order of the report. The oldest versions are those that every module of rtl/ is tested with.
var programs = []program{
	{"verilator", "5.006", []string{"--version"},
		"no simulation of the emitted RTL: `--engine rtl`, `lathe verify`", bySetup + "verilator"},
	{"g++", "9.0", []string{"-dumpfullversion"},
		"no simulation of the emitted RTL: Verilator's models are C++", bySetup + "g++"},
	{"yosys", "0.23", []string{"-V"}, "no cell counts: `lathe area`", bySetup + "yosys"},
	{"iverilog", "11.0", []string{"-V"},
		"no second simulator: `lathe verify` warns, and tests that cross-check Verilator are skipped", bySetup + "iverilog"},
	{"z3", "4.8", []string{"--version"},
		"no proofs of the stream modules: their tests are skipped", bySetup + "z3"},
	{"tclsh", "8.6", []string{"/dev/null"}, // a script, since it has no option for its version
		"no check of the scripts for Vivado: their tests are skipped", bySetup + "tcl"},
}

// Check looks for everything, in a fixed order. It never fails: what cannot be asked is not found, with the reason.
func Check(ctx context.Context, env Env) []Finding {
	if env.LookPath == nil {
		env.LookPath = exec.LookPath
	}
	if env.Run == nil {
		env.Run = run
	}
	var all []Finding
	for _, p := range programs {
		all = append(all, p.check(ctx, env))
	}
	all = append(all, plugin(ctx, env), nvrtc(env))
	for _, p := range cudaPrograms {
		there := env
		there.LookPath = func(name string) (string, error) {
			path := filepath.Join(env.Toolchain, name)
			_, err := os.Stat(path)
			return path, err
		}
		all = append(all, p.check(ctx, there))
	}
	seen := map[*target.Router]bool{nil: true}
	for _, f := range target.Families() {
		if !seen[f.Router] {
			seen[f.Router] = true
			all = append(all, nextpnr(env, f.Router))
		}
	}
	return append(all, gpu(ctx, env))
}

func run(ctx context.Context, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, args...).Output()
	return string(out), err
}

func (p program) check(ctx context.Context, env Env) Finding {
	f := Finding{Name: p.name, Cost: p.cost, Fix: p.fix}
	path, err := env.LookPath(p.name)
	if err != nil {
		return f
	}
	f.Path = path
	said, err := env.Run(ctx, path, p.ask...)
	if err != nil {
		f.Trouble = fmt.Sprintf("`%s %s` fails: %v", p.name, strings.Join(p.ask, " "), err)
		return f
	}
	f.Version = number.FindString(said)
	if f.Version != "" && older(f.Version, p.oldest) {
		f.Trouble = "older than " + p.oldest
		return f
	}
	f.Found = true
	return f
}

var number = regexp.MustCompile(`\d+(\.\d+)+`)

// older compares dotted numbers field by field; 5.006 is 5.6.
func older(a, b string) bool { return slices.Compare(fields(a), fields(b)) < 0 }

func fields(version string) []int {
	var out []int
	for _, f := range strings.Split(version, ".") {
		n, err := strconv.Atoi(f)
		if err != nil {
			break // longer than any version number
		}
		out = append(out, n)
	}
	return out
}

func plugin(ctx context.Context, env Env) Finding {
	f := Finding{
		Name: "PJRT plugin",
		Cost: "no comparison with XLA: `--engine pjrt`, `lathe verify`",
		Fix:  "run scripts/setup, which needs a network once and exists for Linux on x86-64",
	}
	file, err := os.Open(env.Plugin)
	if err != nil {
		return f
	}
	defer file.Close()
	f.Path = env.Plugin
	magic := make([]byte, 4)
	if _, err := file.Read(magic); err != nil || string(magic) != "\x7fELF" {
		f.Trouble = "not a shared library"
		return f
	}
	if env.PluginVersion != nil {
		if f.Version, err = env.PluginVersion(ctx, env.Plugin); err != nil {
			f.Trouble = err.Error()
			return f
		}
	}
	f.Found = true
	return f
}

const byCUDASetup = "run scripts/setup --cuda, which needs a network once and exists for Linux on x86-64"

// cudaPrograms stand in the folder of the toolchain, not in PATH.
var cudaPrograms = []program{
	{"ptxas", "12.9", []string{"--version"}, "no check of the PTX that ships: tests of kernels are skipped", byCUDASetup},
	{"nvdisasm", "13.2", []string{"--version"}, "no check of machine code: tests of kernels are skipped", byCUDASetup},
}

// nvrtc looks for the library and for the built-in headers beside it, whose name tells the version.
func nvrtc(env Env) Finding {
	f := Finding{
		Name: "nvrtc",
		Cost: "no compiled kernels: `lathe emit-cuda` writes sources only, and `--engine cuda` does not run",
		Fix:  byCUDASetup,
	}
	path := filepath.Join(env.Toolchain, "libnvrtc.so.12")
	if _, err := os.Stat(path); err != nil {
		return f
	}
	f.Path = path
	found, err := filepath.Glob(filepath.Join(env.Toolchain, "libnvrtc-builtins.so.*"))
	if err != nil || len(found) == 0 {
		f.Trouble = "libnvrtc-builtins.so is not beside it"
		return f
	}
	_, f.Version, _ = strings.Cut(filepath.Base(slices.Max(found)), ".so.")
	f.Found = true
	return f
}

// nextpnr looks for the package of a family of FPGAs.
func nextpnr(env Env, router *target.Router) Finding {
	f := Finding{
		Name: "nextpnr-" + router.Package,
		Cost: "no place and route for " + router.Package + ": `lathe route`",
		Fix:  "run scripts/setup --route, which needs a network once and exists for Linux on x86-64",
	}
	folder, version, err := installed.Find(env.Route, router.Package)
	if err != nil {
		return f
	}
	f.Found, f.Path, f.Version = true, folder, number.FindString(version)
	return f
}

func gpu(ctx context.Context, env Env) Finding {
	f := Finding{
		Name: "GPU",
		Cost: "no speed: `--engine cuda` runs on the emulated device, to the same results",
		Fix:  "use a machine with an NVIDIA GPU and its driver",
	}
	if env.GPU != nil { // as the engine does
		name, err := env.GPU()
		if err != nil {
			f.Trouble = reason(err)
			return f
		}
		f.Found, f.Version = true, name
	}
	path, err := env.LookPath("nvidia-smi")
	if err != nil {
		if !f.Found {
			f.Trouble = "no nvidia-smi in PATH"
		}
		return f
	}
	f.Path = path
	said, err := env.Run(ctx, path, "--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader")
	first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	switch {
	case err == nil && first != "":
		f.Found, f.Version = true, first
	case !f.Found:
		f.Trouble = fmt.Sprintf("nvidia-smi is there but names no GPU (%v)", err)
	}
	return f
}

// reason is an error without its code and hint, which stand in the row already.
func reason(err error) string {
	var d *diag.Error
	if errors.As(err, &d) {
		return d.Msg
	}
	return err.Error()
}
