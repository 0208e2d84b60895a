// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/internal/diag"
)

// sound is a kernel file with every header line.
const sound = `// SPDX-License-Identifier: Apache-2.0
// tiled: does something. And more.
//   threads: WARPS * 32
//   shared: (A + B) * 128 * sizeof(T)
//   blocks: 2
//   regs: SM >= 100 ? 96 : T == f32 ? 80 : 64
//   sass: LDG.128 | LDG.NA.128, T == bf16: HMMA.16816, WARPS > 4:BAR
//   uses: num/mxint8.cuh
//   archs: sm_90a, sm_100
template <class T, int A, int B, int WARPS>
__device__ __forceinline__ void tiled(const T* __restrict__ x, T y,
                                      i64 n) {
}
`

func instance(t *testing.T, params ...string) cuda.Instance {
	t.Helper()
	tmpl, err := cuda.ReadTemplate("map/tiled.cu", sound)
	if err != nil {
		t.Fatal(err)
	}
	return cuda.Instance{Template: tmpl, Kernel: "k", Params: params}
}

func TestHeader(t *testing.T) {
	i := instance(t, "bf16", "3", "4", "8")
	if got := i.Template.Purpose; got != "does something." {
		t.Errorf("purpose %q", got)
	}
	threads, err := i.Threads()
	if err != nil || threads != 256 {
		t.Errorf("threads %d, %v", threads, err)
	}
	if shared, err := i.Shared(); err != nil || shared != 7*128*2 {
		t.Errorf("shared %d, %v", shared, err)
	}
	for _, c := range []struct {
		arch, params string
		regs, sass   int
	}{{"sm_80", "bf16 1 1 8", 64, 3}, {"sm_80", "f32 1 1 4", 80, 1}, {"sm_100", "f32 1 1 4", 96, 1}} {
		a, err := cuda.FindArch(c.arch)
		if err != nil {
			t.Fatal(err)
		}
		i := instance(t, strings.Fields(c.params)...)
		regs, err := i.Registers(a)
		if err != nil || regs != c.regs {
			t.Errorf("%s %s: %d registers, %v", c.arch, c.params, regs, err)
		}
		if sass, err := i.SASS(a); err != nil || len(sass) != c.sass {
			t.Errorf("%s %s: %q, %v", c.arch, c.params, sass, err)
		}
	}
	args := i.Template.Args
	if len(args) != 3 || args[0] != (cuda.ArgDecl{Name: "x", Type: "const T*", Pointer: true}) || args[1].Type != "T" {
		t.Errorf("arguments %+v", args)
	}
	if !slices.Equal(i.Template.Archs, []string{"sm_90a", "sm_100"}) {
		t.Errorf("architectures %q", i.Template.Archs)
	}
}

// TestBrokenHeaders takes one thing after the other away from a sound file.
func TestBrokenHeaders(t *testing.T) {
	for _, c := range [][3]string{
		{"threads:", "threats:", "header line threads is missing"}, {"regs:", "reg:", "header line regs is missing"},
		{"WARPS * 32", "WARPS * ", `header line threads: "WARPS *" is not an expression`},
		{"(A + B)", "(A + B", `A + B`}, {"void tiled", "void other", "needs one"},
		{"int A", "long A", `template parameter "long A"`}, {"i64 n", "n", `argument "n"`},
		{"sm_90a", "sm_95", `archs: "sm_95" is unknown`},
		{"WARPS > 4:", "WARPS >:", `header line sass: "WARPS >" is not an expression`},
		{"\ntemplate", "\n#include <cuda.h>\ntemplate", "includes a file"},
		{"num/mxint8.cuh", "num/nothing.cuh", "uses: unknown file cuda/kernels/num/nothing.cuh"},
	} {
		text := strings.Replace(sound, c[0], c[1], 1)
		if text == sound {
			t.Fatalf("%q is not there", c[0])
		}
		_, err := cuda.ReadTemplate("map/tiled.cu", text)
		said := fmt.Sprint(err)
		if !strings.HasPrefix(said, "cuda/kernels/map/tiled.cu: L0931: ") || !strings.Contains(said, c[2]) ||
			strings.Count(said, "L0931") != 1 {
			t.Errorf("%q for %q: %v", c[1], c[0], err)
		}
	}
}

func TestExpr(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"1 + 2 * 3", 7}, {"(1 + 2) * 3", 9}, {"7 / 2 % 2", 1}, {"1 << 4 | 0", -1}, {"1 << 4", 16}, {"-3 + 5", 2},
		{"2 > 1 && 1 >= 2 || 3 != 4", 1}, {"0 ? 1 : 1 ? 2 : 3", 2}, {"min(3, max(1, 2))", 2}, {"sizeof(bf16)", 2},
		{"!1", 0}, {"!0 + 1", 2}, {"SM == 0", 1}, {"1 2", -1}, {"", -1}, {"sizeof(3)", -1}, {"1 / 0", -1}, {"Q", -1},
	} {
		text := strings.Replace(sound, "WARPS * 32", c.text, 1)
		tmpl, err := cuda.ReadTemplate("map/tiled.cu", text)
		got := -1
		if err == nil {
			got, err = cuda.Instance{Template: tmpl, Kernel: "k", Params: []string{"f32", "1", "1", "1"}}.Threads()
		}
		if c.want >= 0 && (err != nil || got != c.want) || c.want < 0 && diag.CodeOf(err) != "L0931" {
			t.Errorf("%q = %d, %v, want %d", c.text, got, err, c.want)
		}
	}
}

// TestLibrary reads every kernel, and prints each file once however many entries need it.
func TestLibrary(t *testing.T) {
	all, err := cuda.Templates()
	files, _ := filepath.Glob("kernels/*/*.cu")
	if err != nil || len(all) == 0 || len(all) != len(files) {
		t.Fatalf("%d templates in %d files, %v", len(all), len(files), err) // two of one name would hide one
	}
	for _, tmpl := range all {
		if tmpl.Purpose == "" {
			t.Errorf("%s does not say what it does", tmpl.Name)
		}
	}
	a, errA := cuda.Make("dequant", "a", "bf16", "0")
	b, errB := cuda.Make("dequant", "b", "f32", "1")
	text, err := cuda.Print(a, b)
	if errA != nil || errB != nil || err != nil {
		t.Fatal(errA, errB, err)
	}
	for part, count := range map[string]int{
		"void dequant(": 1, "typedef unsigned char u8;": 1, "mxint8_scale_bf16(u32 X)": 1, "SPDX": 1, "extern \"C\"": 2,
		"b(const u8* q, const u8* X, f32* y, i64 n) {\n  dequant<f32, 1>(q, X, y, n);": 1, "__launch_bounds__(256)": 2,
	} {
		if n := strings.Count(text, part); n != count {
			t.Errorf("%q stands there %d times, want %d", part, n, count)
		}
	}
	if _, err := cuda.Print(a, a); diag.CodeOf(err) != "L0932" {
		t.Errorf("two kernels of one name: %v", err)
	}
}

func TestMake(t *testing.T) {
	for _, c := range [][]string{{"k"}, {"k", "bf16"}, {"k", "4", "0"}, {"k", "bf16", "x"}, {"2k", "bf16", "0"}} {
		if _, err := cuda.Make("dequant", c[0], c[1:]...); diag.CodeOf(err) != "L0932" {
			t.Errorf("%q: %v", c, err)
		}
	}
	if _, err := cuda.Find("dequnt"); err == nil || !strings.Contains(err.Error(), "did you mean dequant?") {
		t.Errorf("a misspelt name: %v", err)
	}
}

func TestLaunch(t *testing.T) {
	i := instance(t, "f32", "1", "1", "1")
	good := cuda.Launch{Kernel: "k", Grid: [3]uint32{7, 1, 1}, Block: [3]uint32{32, 1, 1}, Shared: 1024,
		Args: []cuda.Arg{cuda.BufferAt(1, 16), cuda.F32(1), cuda.I64(-2)}}
	if err := i.Fit(good); err != nil {
		t.Error(err)
	}
	packed, err := good.Pack([]uint64{0, 0x1000})
	want := []byte{0x10, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0, 0xfe, 255, 255, 255, 255, 255, 255, 255}
	if err != nil || !slices.Equal(packed, want) {
		t.Errorf("%x, %v", packed, err)
	}
	if _, err := good.Pack(nil); diag.CodeOf(err) != "L0933" {
		t.Errorf("a buffer that is not there: %v", err)
	}
	if _, err := (cuda.Launch{Args: []cuda.Arg{{}}}).Pack([]uint64{0}); diag.CodeOf(err) != "L0933" {
		t.Errorf("an argument without a size: %v", err)
	}
	wide := good
	wide.Grid = [3]uint32{1 << 20, 1 << 12, 1} // 2^32 blocks
	if err := i.Fit(wide); err != nil {
		t.Errorf("a grid that every GPU takes: %v", err)
	}
	for k, spoil := range []func(*cuda.Launch){
		func(l *cuda.Launch) { l.Kernel = "j" },
		func(l *cuda.Launch) { l.Args = l.Args[:2] },
		func(l *cuda.Launch) { l.Args = []cuda.Arg{cuda.Null(), cuda.U64(1), cuda.U64(1)} },
		func(l *cuda.Launch) { l.Args = []cuda.Arg{cuda.Null(), cuda.F32(1), cuda.Buffer(0)} },
		func(l *cuda.Launch) { l.Block[1] = 2 },
		func(l *cuda.Launch) { l.Shared = 0 },
		func(l *cuda.Launch) { l.Grid[2] = 0 },
		func(l *cuda.Launch) { l.Grid[0] = 1 << 31 },
		func(l *cuda.Launch) { l.Grid[1] = 1 << 16 },
	} {
		bad := good
		spoil(&bad)
		if err := i.Fit(bad); diag.CodeOf(err) != "L0933" {
			t.Errorf("case %d: %v", k, err)
		}
	}
}

func TestFindArch(t *testing.T) {
	for name, near := range map[string]string{
		"sm_91": "sm_90?", "sm90": "sm_90?", "sm_87": "sm_86?", "sm_121": "sm_120?", "sn_xx": "there are", "sm_75": "sm_80?",
		"compute_87": "sm_86?", "h100": "hint: there are", "GH200": "hint: there are", "sn_90": "sm_90?",
	} {
		_, err := cuda.FindArch(name)
		if diag.CodeOf(err) != "L0934" || !strings.Contains(err.Error(), near) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, a := range cuda.Archs() {
		if got, err := cuda.FindArch(a.Name); err != nil || got != a {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
}
