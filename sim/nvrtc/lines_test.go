// SPDX-License-Identifier: Apache-2.0

package nvrtc_test

import (
	"encoding/binary"
	"regexp"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/ptx"
	"lathe/internal/diag"
)

// TestLines demands of kernels with lines the same instructions as without, and of an address error the line of the
// source, that of a function inlined into the kernel.
func TestLines(t *testing.T) {
	const source = "__device__ __forceinline__ float twice(const float* p) {\n  return *p * 2.0f;\n}\n" +
		"extern \"C\" __global__ void k(float* p, int n) {\n  p[0] = 1.0f;\n  p[1] = twice(p + n);\n}\n"
	c := open(t, t.TempDir())
	plain, err := c.Compile(t.Context(), "k.cu", source, cuda.PortablePTX)
	if err != nil {
		t.Fatal(err)
	}
	c.Lines = true
	lined, err := c.Compile(t.Context(), "k.cu", source, cuda.PortablePTX)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(lined.PTX), "\t.file")
	space := regexp.MustCompile(`\s+`)
	bare := space.ReplaceAllString(regexp.MustCompile(`(?m)^\s*\.loc.*$`).ReplaceAllString(text, ""), " ")
	if want := space.ReplaceAllString(string(plain.PTX), " "); bare != want || text == string(plain.PTX) {
		t.Errorf("lines change more than lines:\n%s\n%s", bare, want)
	}
	mod, err := ptx.Parse("k.ptx", lined.PTX)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[uint32]string{1 << 20: "ld.global.f32", 0: ""} {
		m := ptx.NewMachine(ptx.Options{})
		at, err := m.Alloc(64, ptx.AllocOptions{Name: "p"})
		if err != nil {
			t.Fatal(err)
		}
		args := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, at), n)
		_, err = m.Launch(mod.Kernel("k"), [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, args)
		if want == "" {
			if err != nil {
				t.Error(err)
			}
		} else if diag.CodeOf(err) != "L0964" || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), ", from k.cu:2\n") {
			t.Errorf("got %v", err)
		}
	}
}
