// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/diag"
)

// kernel reads a kernel of testdata.
func kernel(t testing.TB, file, name string) *Kernel {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := Parse(file, src)
	if err != nil {
		t.Fatal(err)
	}
	k := mod.Kernel(name)
	if k == nil {
		t.Fatalf("%s has no kernel %s", file, name)
	}
	return k
}

// params lays values out as the kernel's parameters want them.
func params(k *Kernel, values ...uint64) []byte {
	out := make([]byte, k.ParamBytes())
	for i, v := range values {
		p := k.Params[i]
		copy(out[p.Offset:p.Offset+p.Size], little(v))
	}
	return out
}

// buffer makes a buffer that holds data.
func put(t testing.TB, m *Machine, name string, data []byte) uint64 {
	t.Helper()
	addr, err := m.Alloc(int64(len(data)), AllocOptions{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Write(addr, data); err != nil {
		t.Fatal(err)
	}
	return addr
}

func get(t testing.TB, m *Machine, addr uint64, n int) []byte {
	t.Helper()
	data := make([]byte, n)
	if err := m.Read(addr, data); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestLaunchNothing refuses to launch the kernel of a name that a module does not have.
func TestLaunchNothing(t *testing.T) {
	none := kernel(t, "dequant.ptx", "dequant").mod.Kernel("dequnt")
	if _, err := NewMachine(Options{}).Launch(none, [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0, nil); err == nil {
		t.Error("no error")
	} else if diag.CodeOf(err) != "L0962" {
		t.Error(err)
	}
}

// TestUnload gives the variables of a module back, and places them anew at its next launch.
func TestUnload(t *testing.T) {
	mod, err := Parse("k.ptx", []byte(`.version 8.8
.target sm_90
.address_size 64
.global .align 4 .b32 seven = 7;
.visible .entry k(.param .u64 out)
{
.reg .b32 %r<2>;
.reg .b64 %rd<2>;
ld.param.u64 %rd1, [out];
ld.global.b32 %r1, [seven];
st.global.b32 [%rd1], %r1;
add.s32 %r1, %r1, 1;
st.global.b32 [seven], %r1;
ret;
}
`))
	if err != nil {
		t.Fatal(err)
	}
	m := NewMachine(Options{})
	y, k := put(t, m, "y", make([]byte, 4)), mod.Kernel("k")
	for i, want := range []byte{7, 8, 7} {
		if i == 2 {
			at := m.loaded[0].vars["seven"]
			if err := m.Unload(mod); err != nil || len(m.loaded) != 0 {
				t.Errorf("%v, %d modules are left", err, len(m.loaded))
			}
			if err := m.Read(at, make([]byte, 4)); err == nil {
				t.Error("the variable is left")
			}
		}
		if _, err := m.Launch(k, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, params(k, y)); err != nil {
			t.Fatal(err)
		}
		if got := get(t, m, y, 4)[0]; got != want {
			t.Errorf("launch %d: %d, want %d", i, got, want)
		}
	}
}

// everyOptions are all schedules and copy modes.
func everyOptions() []Options {
	var out []Options
	for _, c := range []Copies{Eager, Lazy} {
		for _, s := range []Schedule{RoundRobin, RunAhead, Reverse} {
			out = append(out, Options{Schedule: s, Copies: c})
		}
		for seed := range uint64(3) {
			out = append(out, Options{Schedule: Random, Seed: seed, Copies: c})
		}
	}
	return append(out, Options{Races: true, Count: true}, Options{Workers: 3})
}

// TestDequant decodes all pairs of scale and element.
func TestDequant(t *testing.T) {
	k := kernel(t, "dequant.ptx", "dequant")
	const n = 256 * 256
	q, x, want := make([]byte, n), make([]byte, n/32), make([]uint16, n)
	for i := range q {
		q[i], x[i/32] = byte(i), byte(i>>8)
		v := math.Ldexp(float64(int8(q[i])), int(x[i/32])-133)
		want[i] = uint16(math.Float32bits(float32(v)) >> 16)
		if x[i/32] == 255 {
			want[i] = 0x7FFF
		}
	}
	for _, opt := range everyOptions() {
		m := NewMachine(opt)
		a, s := put(t, m, "q", q), put(t, m, "x", x)
		y, err := m.Alloc(2*n, AllocOptions{Name: "y"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Launch(k, [3]uint32{17, 1, 1}, [3]uint32{256, 1, 1}, 0, params(k, a, s, y, n)); err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i, b := range want {
			if got := binary.LittleEndian.Uint16(get(t, m, y+uint64(2*i), 2)); got != b {
				if wrong++; wrong < 4 {
					t.Errorf("%+v: scale %d element %d: %#x, not %#x", opt, x[i/32], int8(q[i]), got, b)
				}
			}
		}
	}
}

// TestSoftmax compares with doubles.
func TestSoftmax(t *testing.T) {
	k := kernel(t, "softmax.ptx", "softmax")
	r := rand.New(rand.NewPCG(1, 2))
	const rows, n = 7, 333
	x := make([]byte, 4*rows*n)
	for i := range rows * n {
		binary.LittleEndian.PutUint32(x[4*i:], math.Float32bits(float32(r.NormFloat64())))
	}
	var first []byte
	for _, opt := range everyOptions() {
		m := NewMachine(opt)
		a, y := put(t, m, "x", x), put(t, m, "y", make([]byte, len(x)))
		if _, err := m.Launch(k, [3]uint32{2, 1, 1}, [3]uint32{128, 1, 1}, 0, params(k, a, y, rows, n)); err != nil {
			t.Fatal(err)
		}
		got := get(t, m, y, len(x))
		if first == nil {
			first = got
			checkSoftmax(t, x, got, n)
		} else if string(first) != string(got) {
			t.Errorf("%+v gives other bits", opt)
		}
	}
}

func checkSoftmax(t *testing.T, x, y []byte, n int) {
	at := func(b []byte, i int) float64 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	for row := range len(x) / 4 / n {
		most, sum := math.Inf(-1), 0.0
		for j := range n {
			most = max(most, at(x, row*n+j))
		}
		for j := range n {
			sum += math.Exp(at(x, row*n+j) - most)
		}
		for j := range n {
			if want, got := math.Exp(at(x, row*n+j)-most)/sum, at(y, row*n+j); math.Abs(want-got) > 1e-8 {
				t.Fatalf("row %d column %d: %g, not %g", row, j, got, want)
			}
		}
	}
}

// TestReduce adds integers up through shared memory and an atomic.
func TestReduce(t *testing.T) {
	k := kernel(t, "reduce.ptx", "block_sum")
	const n = 1000
	x, want := make([]byte, 4*n), uint32(0)
	for i := range n {
		binary.LittleEndian.PutUint32(x[4*i:], uint32(i*i))
		want += uint32(i * i)
	}
	for _, opt := range everyOptions() {
		m := NewMachine(opt)
		a, y := put(t, m, "x", x), put(t, m, "total", make([]byte, 4))
		if _, err := m.Launch(k, [3]uint32{4, 1, 1}, [3]uint32{256, 1, 1}, 0, params(k, a, y, n)); err != nil {
			t.Fatal(err)
		}
		if got := binary.LittleEndian.Uint32(get(t, m, y, 4)); got != want {
			t.Errorf("%+v: %d, not %d", opt, got, want)
		}
	}
}
