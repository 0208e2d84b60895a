// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	kernels "lathe/cuda"
	"lathe/emit/cuda"
)

// TestReadme: the page of a folder names every file, the GPUs of each machine code, and the first launch in numbers.
func TestReadme(t *testing.T) {
	d, err := cuda.Emit(network(), cuda.Options{Version: "7"})
	if err != nil {
		t.Fatal(err)
	}
	files, err := d.Files([]cuda.Binary{{Arch: "sm_90", File: "kernels.sm_90.cubin"}, {Arch: "sm_90a", File: "a.cubin"},
		{Arch: kernels.PortablePTX, File: cuda.PTXFile}}, "", cuda.Host{})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, f := range files {
		if f.Name == "README.md" {
			text = string(f.Data)
		}
	}
	u := d.Units[0]
	for _, want := range []string{"| kernels.cu |", "| tables.bin |", "| report.json |",
		"| kernels.sm_90.cubin | machine code for compute capability 9.0 and later ones with the same major number: H100",
		"| a.cubin | machine code for compute capability 9.0 only: H100", "| kernels.ptx | PTX",
		"| in | x | 1 | i8 | [1 6] | `fixed(8,4)` |", "| out | p |",
		fmt.Sprintf("`%s`: grid 1 x 1, %d threads, %d bytes of shared memory, arguments\nbuffer 1 + 0, buffer 0 + 0,",
			u.Kernel, u.Threads, u.Shared), " 10 (4 bytes),"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for i := range files {
		if name := files[i].Name; !strings.Contains(text, name) && name != "README.md" {
			t.Errorf("the page does not name %s", name)
		}
	}
	if !strings.Contains(string(files[len(files)-1].Data), "\"README.md\",\n") {
		t.Error("report.json does not list the page: it would be somebody else's file")
	}
	options := strings.Fields(text[strings.Index(text, " --gpu-architecture"):])[1:4]
	source, err := os.ReadFile("../../sim/nvrtc/nvrtc.go")
	if want := `"` + strings.Join(options, `", "`) + `"`; err != nil || !strings.Contains(string(source), want) {
		t.Errorf("the compiler does not take the options %s that the page tells, %v", want, err)
	}
}

// TestArchTable: docs/cuda.md tells the GPUs of every architecture.
func TestArchTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/cuda.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range kernels.Archs() {
		if want := "| `" + a.Name + "` | " + a.GPUs + " |\n"; a.GPUs == "" || !strings.Contains(string(page), want) {
			t.Errorf("docs/cuda.md does not hold %q", want)
		}
	}
}
