// SPDX-License-Identifier: Apache-2.0

// Package area counts the FPGA cells of a design by running Yosys on it: LUT, FF, DSP and block RAM, per instance
// and in total. The design is mapped module by module, not flattened: equal modules are mapped once, which is
// what makes a count of a whole network finish in seconds, and it leaves every instance with a count of its own.
//
// The figures are those of Yosys after synthesis, not of a routed design. Against Vivado, DSP and block RAM are
// close to exact; LUT and FF around DSPs and memories are upper bounds, since Yosys leaves their registers outside.
package area

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/ir/target"
	"lathe/rtl"
	"lathe/sim/area/paths"
)

// Options of a count; the zero value is the usual count.
type Options struct {
	Device  *target.Device // whose cells are counted, default target.Default (UltraScale+)
	NoDSP   bool           // multipliers in LUTs, for figures of fully unrolled designs
	Flatten bool           // one flat netlist: smaller counts across boundaries, no instances, much slower
	Paths   bool           // find the longest paths, too
	Timeout time.Duration  // default 10 minutes
	Yosys   string         // command, default "yosys" in PATH
	LogDir  string         // parent of the folder that keeps script and log of a failed run, default os.TempDir()
	// Progress, if not nil, hears how many of the steps of a count Yosys has begun.
	Progress func(done, total int)
}

// Instance is one module instance with all that lies below it.
type Instance struct {
	Path   string `json:"path"`   // top/conv1/window, the top's own name first
	Module string `json:"module"` // as written in the source, parameters left out
	Depth  int    `json:"depth"`  // 0 for the top
	Cells  Cells  `json:"cells"`  // of the instance and everything inside it
	// Predicted is what the compiler says of it; nil where it does not, and in reports that Predict has not seen.
	Predicted *rtl.Cost `json:"predicted,omitempty"`
}

// Module is one module with one set of parameters.
type Module struct {
	Module    string `json:"module"`    // as written in the source
	Variant   string `json:"variant"`   // the name that Yosys gave to these parameters
	Instances int    `json:"instances"` // how often it occurs below the top
	Own       Cells  `json:"own"`       // cells of one instance, less those of instances inside it
}

// Report is the outcome of a count.
type Report struct {
	Top       string     `json:"top"`
	Total     Cells      `json:"total"`
	Instances []Instance `json:"instances"` // depth first, names in natural order; the top is the first
	Modules   []Module   `json:"modules"`   // by name
	Tool      string     `json:"tool"`      // "Yosys 0.23"
	Flags     string     `json:"flags"`     // the synthesis command

	// Where Options.Paths asks for them: the longest paths, and the inputs that reach an output without a register.
	Longest *paths.Longest      `json:"longest,omitempty"`
	Through map[string][]string `json:"through,omitempty"`
}

// Count maps the files onto the family's cells and counts them. Files are names inside dir; memory images with bare
// names are found beside the file that reads them. dir is not written to. top is the module to count.
// Errors are *diag.Error with one of the codes above; where Yosys ran, a note names the file with its whole output.
func Count(ctx context.Context, dir string, files []string, top string, opts Options) (*Report, error) {
	device := opts.Device
	if device == nil {
		var err error
		if device, err = target.Find(target.Default); err != nil {
			return nil, err
		}
	}
	r, err := begin(ctx, dir, files, top, opts)
	if err != nil {
		return nil, err
	}
	flags := device.Family.Yosys.Line(*device, top, opts.Flatten, opts.NoDSP)
	if err := r.yosys(ctx, r.script(flags, opts.Paths)); err != nil {
		return nil, err
	}
	stat, hier, err := r.results()
	if err != nil {
		return nil, err
	}
	report, err := build(top, stat, hier)
	if err != nil {
		return nil, r.failed(diag.YosysOutput, "%v", err)
	}
	report.Tool, report.Flags = r.version, flags
	if opts.Paths {
		if err := r.paths(top, report); err != nil {
			return nil, r.failed(diag.YosysOutput, "%v", err)
		}
	}
	return report, atomicfile.Remove(r.folder)
}

// begin checks the names of a design, and makes the folder for its run.
func begin(ctx context.Context, dir string, files []string, top string, opts Options) (*run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, diag.New(diag.AreaInput, dir, "%v", err)
	}
	files = slices.Sorted(slices.Values(files)) // Yosys maps a few LUTs differently when it reads files in another order
	if err := checkNames(dir, files, top); err != nil {
		return nil, err
	}
	modules, err := declared(dir, files)
	if err != nil {
		return nil, err
	}
	r, err := newRun(ctx, opts)
	if err != nil {
		return nil, err
	}
	r.sources, r.files, r.modules, r.steps = dir, files, modules, len(files)
	return r, nil
}

// Synthesize runs commands of Yosys on a design in dir, whose files are read and elaborated before. It does so in a new
// folder, which is then the caller's to remove. Errors are those of Count.
func Synthesize(ctx context.Context, dir string, files []string, top, commands string, opts Options) (folder,
	version string, err error) {
	r, err := begin(ctx, dir, files, top, opts)
	if err != nil {
		return "", "", err
	}
	var b strings.Builder
	r.readFiles(&b)
	b.WriteString("hierarchy -check -top " + top + "\nproc\n")
	r.writeHierarchy(&b)
	b.WriteString(commands)
	return r.folder, r.version, r.yosys(ctx, b.String())
}

// script reads the files, maps, and writes the count of each module and the instances of the design's own modules.
// Yosys runs in the folder of its results, whose names it takes bare only; it looks for a memory image there and then
// beside the file that names it.
// For paths the mapped modules are put together.
func (r *run) script(flags string, paths bool) string {
	var b strings.Builder
	r.readFiles(&b)
	b.WriteString(flags + "\n")
	b.WriteString("tee -q -o stat stat -json\n")
	r.writeHierarchy(&b)
	if paths {
		b.WriteString("flatten\nwrite_json netlist\n")
	}
	return b.String()
}

func (r *run) readFiles(b *strings.Builder) {
	for _, f := range r.files {
		b.WriteString("read_verilog ")
		if filepath.Ext(f) == ".sv" {
			b.WriteString("-sv ")
		}
		b.WriteString("\"" + filepath.Join(r.sources, f) + "\"\n")
	}
}

// writeHierarchy has Yosys write which module instantiates which of the design's.
func (r *run) writeHierarchy(b *strings.Builder) {
	b.WriteString("json -o hier t:$paramod*")
	for _, m := range r.modules {
		b.WriteString(" t:" + m)
	}
	b.WriteString("\n")
}

var (
	plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	fileName  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./ +-]*\.s?v$`)
)

// checkNames lets nothing into the script that could end a command there.
func checkNames(dir string, files []string, top string) error {
	if len(files) == 0 {
		return diag.New(diag.AreaInput, "", "no Verilog files to count")
	}
	if strings.ContainsAny(dir, "\"\n\\") {
		return diag.New(diag.AreaInput, dir,
			"Yosys cannot be given a folder with a quote, backslash or line break in its name")
	}
	for _, f := range files {
		if !fileName.MatchString(f) || !filepath.IsLocal(f) {
			return diag.New(diag.AreaInput, f, "Yosys cannot read a file of this name").
				WithHint("use letters, digits and _ . / + -, ending in .v or .sv, below the design's folder")
		}
	}
	if !plainName.MatchString(top) {
		return diag.New(diag.AreaInput, "", "%q is not a module name", top)
	}
	return nil
}
