// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	_ "embed" // texts of the page
	"fmt"
	"slices"
	"strings"

	"lathe/cuda"
	"lathe/internal/diag"
	"lathe/rtl"
)

const readmeFile = "README.md"

//go:embed readme_launch.md
var readmeLaunch string

//go:embed readme_compile.md
var readmeCompile string

// readmeSamples is the number of samples of the example.
const readmeSamples = 10

// readme is the page of a folder with these binaries: how to launch the kernels without lathe.
func (d *Design) readme(binaries []Binary, missing string) (rtl.File, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: CUDA kernels\n\nWritten by lathe %s. ", printable(d.Name), d.Version)
	b.WriteString("report.json has everything that a host program must know.\n\n")
	b.WriteString("| file | what it is |\n|---|---|\n")
	fmt.Fprintf(&b, "| %s | the kernels, CUDA C++ |\n| %s | buffer 0: all constants |\n", SourceFile, tablesFile)
	for _, f := range binaries {
		arch, err := cuda.FindArch(f.Arch)
		what := fmt.Sprintf("machine code for compute capability %d.%d", arch.Capability/10, arch.Capability%10)
		switch {
		case diag.CodeOf(err) == "L0934":
			what = "PTX: the driver compiles it for any GPU from compute capability 8.0 on"
		case err != nil:
			return rtl.File{}, err
		case arch.Exact:
			what += " alone: " + arch.GPUs
		default:
			what += " and later ones of the same major number: " + arch.GPUs
		}
		fmt.Fprintf(&b, "| %s | %s |\n", f.File, what)
	}
	fmt.Fprintf(&b, "| %s | buffers and launches |\n", reportFile)
	if missing != "" {
		fmt.Fprintf(&b, "\nThere is no machine code: %s.\n", printable(missing))
	}
	d.values(&b)
	b.WriteString(readmeLaunch)
	d.example(&b)
	b.WriteString(readmeCompile)
	return rtl.File{Name: readmeFile, Data: []byte(b.String())}, nil
}

// values lists inputs and outputs.
func (d *Design) values(b *strings.Builder) {
	b.WriteString("\n## Values\n\n| | name | buffer | elements | shape of a sample | format |\n" +
		"|---|---|---|---|---|---|\n")
	for i, p := range slices.Concat(d.Inputs, d.Outputs) {
		direction := "in"
		if i >= len(d.Inputs) {
			direction = "out"
		}
		fmt.Fprintf(b, "| %s | %s | %d | %s | %v | `%s` |\n", direction, printable(p.Name), p.Codes, p.Store,
			p.Node.Type.Shape, p.Node.Type.Format)
	}
}

// example shows the first launch in numbers.
func (d *Design) example(b *strings.Builder) {
	list := d.Launches(readmeSamples)
	if len(list) == 0 {
		return
	}
	l := list[0]
	var args []string
	for _, a := range l.Args {
		if a.Buffer < 0 {
			args = append(args, fmt.Sprintf("%d (%d bytes)", a.Bits, max(a.Size, 1)))
			continue
		}
		args = append(args, fmt.Sprintf("buffer %d + %d", a.Buffer, a.Offset))
	}
	fmt.Fprintf(b, "\nThe first launch on %d samples: `%s`, grid %d x %d, %d threads, %d bytes of shared memory, "+
		"arguments\n%s.\n", readmeSamples, l.Kernel, l.Grid[0], l.Grid[1], l.Block[0], l.Shared, strings.Join(args, ", "))
}
