// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math/big"
	"slices"
	"testing"

	"lathe/internal/diag"
	"pgregory.net/rapid"
)

// TestAccTable holds the table of exact accumulator widths.
func TestAccTable(t *testing.T) {
	int8f := Fixed{W: 8, Signed: true}
	sym := Fixed{W: 8, Signed: true, Over: Sym}
	ternary := Fixed{W: 2, Signed: true, Over: Sym}
	for _, c := range []struct {
		f    Format
		want [4]int // n = 1, 32, 256, 4096
	}{
		{int8f, [4]int{16, 21, 24, 28}}, {sym, [4]int{15, 20, 23, 27}}, {e4m3, [4]int{37, 42, 45, 49}},
		{e3m2, [4]int{19, 24, 27, 31}}, {e2m3, [4]int{13, 18, 21, 25}}, {e2m1, [4]int{9, 14, 17, 21}},
		{log4, [4]int{14, 19, 22, 26}}, {ternary, [4]int{2, 7, 10, 14}},
	} {
		for i, n := range []int{1, 32, 256, 4096} {
			if bits, _, err := AccBits(n, c.f, c.f); bits != c.want[i] || err != nil {
				t.Errorf("%d products of %v: %d bits, want %d (%v)", n, c.f, bits, c.want[i], err)
			}
		}
	}
	e5m2 := big.NewInt(57344 << 16)
	for i, n := range []int{1, 32, 256, 4096} {
		if bits := DotWidth(e5m2, e5m2, n); bits != [4]int{65, 70, 73, 77}[i] {
			t.Errorf("%d products of e5m2: %d bits", n, bits)
		}
	}
	if _, exp, _ := AccBits(1, Fixed{W: 8, F: 4, Signed: true}, e4m3); exp != -13 {
		t.Errorf("step 2^%d", exp)
	}
	affine := Affine{W: 8, Zero: 128, Scale: 0.3, Axis: PerTensor}
	if bits, exp, err := AccBits(1, affine, int8f); bits != 16 || exp != 0 || err != nil {
		t.Errorf("affine: %d bits at 2^%d, %v", bits, exp, err)
	}
}

func TestAccErrors(t *testing.T) {
	wide := Fixed{W: 63, Signed: true}
	for _, c := range [][2]Format{{wide, wide}, {FP32, wide}, {wide, mxint8}} {
		if _, _, err := AccBits(4, c[0], c[1]); diag.CodeOf(err) != codeAcc {
			t.Errorf("%v times %v: %v", c[0], c[1], err)
		}
		row := slices.Repeat([]int64{1 << 61}, 9)
		if _, _, err := AccBitsRows([][]int64{row}, c[1], c[0]); diag.CodeOf(err) != codeAcc {
			t.Errorf("rows of %v times %v: %v", c[0], c[1], err)
		}
	}
	if bits, _, err := AccBits(1, Fixed{W: 62, Signed: true}, Fixed{W: 63, Signed: true}); bits != 125 || err != nil {
		t.Errorf("two limbs: %d, %v", bits, err)
	}
}

// TestAccRows finds the extremes of small rows by trying every input.
func TestAccRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Affine{W: 2, Scale: 1, Axis: PerTensor, Signed: rapid.Bool().Draw(t, "s"),
			Zero: rapid.Int64Range(-3, 3).Draw(t, "z")}
		w := Fixed{W: 5, F: 2, Signed: true}
		row := rapid.SliceOfN(rapid.Int64Range(-16, 15), 0, 3).Draw(t, "row")
		lo, hi := int64(1<<60), int64(-1<<60)
		q := a.Integers()
		var try func(i int, sum int64)
		try = func(i int, sum int64) {
			if i == len(row) {
				lo, hi = min(lo, sum), max(hi, sum)
				return
			}
			for c := q.Min(); c <= q.Max(); c++ {
				try(i+1, sum+row[i]*(c-a.Zero))
			}
		}
		try(0, 0)
		l, h := RowRange(row, q.Min()-a.Zero, q.Max()-a.Zero)
		if l.Int64() != lo || h.Int64() != hi {
			t.Fatalf("row %v of %v: [%v, %v], want [%d, %d]", row, a, l, h, lo, hi)
		}
		want := 1
		for want < 64 && (lo < -1<<(want-1) || hi > 1<<(want-1)-1) {
			want++
		}
		if bits, exp, err := AccBitsRows([][]int64{row}, w, a); bits != want || exp != -2 || err != nil {
			t.Fatalf("row %v of %v: %d bits at 2^%d, want %d (%v)", row, a, bits, exp, want, err)
		}
	})
}

func TestDotWindow(t *testing.T) {
	acc := Fixed{W: 48, F: 24, Signed: true}
	m := NewMXInt(8, 2)
	ones := []int64{64, 64, 64, 64} // 1 at scale 127
	for _, c := range []struct {
		name   string
		ac, as []int64
		bs     []int64
		acc    Fixed
		want   WindowSum
	}{
		{"exact", ones, []int64{127, 127}, []int64{127, 127}, acc, WindowSum{4 << 24, false, 0}},
		{"two exponents", ones, []int64{127, 130}, []int64{127, 120}, acc, WindowSum{2<<24 + 2<<20, false, 0}},
		{"floor", []int64{-64, 0, 64, 0}, []int64{100, 100}, []int64{100, 100}, acc, WindowSum{-1, false, 2}},
		{"far below", []int64{-64, 0, 64, 0}, []int64{0, 0}, []int64{0, 0}, acc, WindowSum{-1, false, 2}},
		{"saturates at the end", ones, []int64{127 + 22, 127 + 22}, []int64{127, 127},
			Fixed{W: 25, F: 0, Signed: true}, WindowSum{1<<24 - 1, false, 0}},
		{"never wraps", ones, []int64{127 + 22, 127 + 22}, []int64{127, 127},
			Fixed{W: 25, F: 0, Signed: true, Over: Wrap}, WindowSum{1<<24 - 1, false, 0}},
		{"sticky", []int64{64, 64, -64, -64}, []int64{254, 127}, []int64{254, 127}, acc,
			WindowSum{1<<47 - 1 - 2<<24, true, 0}},
		{"NaN", ones, []int64{255, 127}, []int64{127, 127}, acc, WindowSum{2 << 24, true, 0}},
		{"zeros far up", []int64{0, 0, 64, 64}, []int64{254, 127}, []int64{254, 127}, acc, WindowSum{2 << 24, false, 0}},
	} {
		got, err := DotWindow(m, c.ac, c.as, m, ones, c.bs, c.acc)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, want %+v (%v)", c.name, got, c.want, err)
		}
	}
}

// TestWindowExact: where no bit is lost and nothing saturates, the window holds the exact dot product.
func TestWindowExact(t *testing.T) {
	acc := Fixed{W: 62, F: 30, Signed: true}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(t, "n")
		_, ac, as := encodeAll(mxint8, rapid.SliceOfN(rapid.Float32Range(-8, 8), n, n).Draw(t, "a"))
		_, bc, bs := encodeAll(mxint8, rapid.SliceOfN(rapid.Float32Range(-8, 8), n, n).Draw(t, "b"))
		win, err := DotWindow(mxint8, ac, as, mxint8, bc, bs, acc)
		if err != nil || win.Sticky {
			t.Fatalf("%+v %v", win, err)
		}
		exact, err := DotExact(mxint8, ac, as, mxint8, bc, bs)
		if err != nil {
			t.Fatal(err)
		}
		low := exact.Sub(FromInt(win.Code, -acc.F))
		if low.Sign() < 0 || low.Cmp(FromInt(int64(win.Lost), -acc.F)) > 0 || win.Lost == 0 && !low.IsZero() {
			t.Fatalf("window %+v is %v below %v", win, low, exact)
		}
	})
}

func TestDotErrors(t *testing.T) {
	m := NewMXInt(8, 2)
	one := []int64{1}
	if _, err := DotExact(m, one, nil, m, one, one); diag.CodeOf(err) != codeData {
		t.Errorf("missing scale: %v", err)
	}
	if _, err := DotExact(e4m3, one, nil, e4m3, nil, nil); diag.CodeOf(err) != codeData {
		t.Errorf("lengths: %v", err)
	}
	axis := Affine{W: 8, Axis: 0}
	if _, err := DotExact(e4m3, one, nil, axis, one, nil); diag.CodeOf(err) != codeData {
		t.Errorf("scales beside the codes: %v", err)
	}
	if _, err := DotWindow(m, one, one, mxint8, one, one, Fixed{W: 48, Signed: true}); diag.CodeOf(err) != codeData {
		t.Errorf("block sizes: %v", err)
	}
}
