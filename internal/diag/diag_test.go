// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"errors"
	"fmt"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"inspect", "run", "verify", "x", "b1", "dot", "Size", "Add", "weight"}
	for name, want := range map[string]string{
		"inspekt": "inspect", "Verify": "verify", "rnu": "run", "b2": "b1", "ru": "run",
		"q": "", "zz": "", "": "", "something": "", "X": "x", "dto": "dot", "wieght": "weight", "wiegth": "weight",
		"foo": "", "Resize": "", "Pad": "", "Sized": "Size", "wxyght": "weight", "wxyzht": "", "dt": "dot", "d": "",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestText(t *testing.T) {
	e := New("L0412", "m.onnx: fc (Gemm)", "%d lanes", 5).WithNote("set by %s", "plan.toml:9").WithHint("use %d", 4)
	want := "m.onnx: fc (Gemm): L0412: 5 lanes\n  note: set by plan.toml:9\n  hint: use 4"
	if e.Error() != want {
		t.Errorf("%q", e.Error())
	}
	two := List{New("L0101", "", "a"), e}
	if two.Error() != "L0101: a\n"+want || two.Err() == nil || two[:1].Err() != two[0] || two[:0].Err() != nil {
		t.Errorf("%q", two.Error())
	}
}

func TestCodeOf(t *testing.T) {
	e := New("L0412", "", "lanes")
	for _, c := range []struct {
		err  error
		want Code
	}{
		{e, "L0412"}, {fmt.Errorf("in between: %w", e), "L0412"}, {List{e, New("L0101", "", "b")}, "L0412"},
		{errors.New("plain"), ""}, {nil, ""}, {List{}, ""},
	} {
		if got := CodeOf(c.err); got != c.want {
			t.Errorf("CodeOf(%v) = %q, want %q", c.err, got, c.want)
		}
	}
}

func TestAdd(t *testing.T) {
	placed := New("L0902", "y.npz", "broken")
	var l List
	for _, err := range []error{
		errors.New("plain"), New("L0903", "", "bare"), List{placed, New("L0904", "", "b")}, fmt.Errorf("between: %w", placed),
	} {
		l = l.Add(err, "L0901", "x")
	}
	want := "x: L0901: plain\nx: L0903: bare\ny.npz: L0902: broken\nx: L0904: b\nx: L0902: between: y.npz: L0902: broken"
	if l.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", l, want)
	}
}

func TestAt(t *testing.T) {
	plain := At(errors.New("plain"), "L0901", "x.npz")
	if plain.Error() != "x.npz: L0901: plain" {
		t.Error(plain)
	}
	bare := New("L0902", "", "broken")
	if moved := At(bare, "L0901", "x.npz"); moved.Error() != "x.npz: L0902: broken" || bare.Pos != "" {
		t.Errorf("%v, and the error itself %v", moved, bare)
	}
	if placed := At(New("L0902", "y.npz", "broken"), "L0901", "x.npz"); placed.Error() != "y.npz: L0902: broken" {
		t.Error(placed)
	}
}

// TestNumber holds numbers to their full length.
func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v      float64
		digits int
		want   string
	}{{18360.4, 4, "18360"}, {1e6, 3, "1000000"}, {1234.5678, 6, "1234.57"}, {0.00001234, 2, "1.2e-05"}, {0, 3, "0"},
		{-98765.4, 3, "-98765"}, {1e12, -1, "1000000000000"}, {1234567.25, -1, "1234567.25"}} {
		if got := Number(c.v, c.digits); got != c.want {
			t.Errorf("%v to %d digits is %s, want %s", c.v, c.digits, got, c.want)
		}
	}
}
