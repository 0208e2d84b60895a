// SPDX-License-Identifier: Apache-2.0

package format

import "testing"

func TestFits(t *testing.T) {
	for _, c := range []struct {
		pattern, format string
		want            bool
	}{
		{"fixed(8)", "fixed(8,4)", true}, {"fixed(8)", "int(8)", true}, {"fixed(8)", "fixed(8,4,over=wrap)", true},
		{"fixed(8)", "fixed(9,4)", false}, {"fixed(8)", "ufixed(8,4)", false}, {"fixed(8)", "int(8)*0.5", false},
		{"fixed(8,4)", "fixed(8,4,round=floor)", true}, {"fixed(8,4)", "fixed(8,3)", false}, {"mxint8", "mxint(8,32)", true},
	} {
		p, err := ParsePattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(c.format)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Fits(f); got != c.want {
			t.Errorf("%s fits %s: %v", c.format, c.pattern, got)
		}
	}
}

// TestScaledViews asks formats with and without scales beside their codes.
func TestScaledViews(t *testing.T) {
	for _, c := range []struct {
		text, moved string // with scales along axis 3
		axis        int    // -1: none
		channels    bool
	}{
		{"int(8)*[0]", "int(8)*[3]", 0, true}, {"int(8,div=f32)*[0]", "int(8,div=f32)*[3]", 0, true},
		{"int(8)*[0:1]", "int(8)*[3:1]", 0, true}, {"int(8)*[0:2]", "int(8)*[3:2]", 0, false},
		{"int(8,z=1)*[0]", "int(8,z=1)*[3]", 0, false}, {"uint(4)*[1]", "uint(4)*[3]", 1, false},
		{"int(8)*0.5", "int(8)*0.5", -1, false}, {"fixed(8,4)", "fixed(8,4)", -1, false},
		{"mxint8", "mxint8", -1, false},
	} {
		f, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if axis, ok := ScaleAxis(f); ok != (c.axis >= 0) || ok && axis != c.axis {
			t.Errorf("%s has scales along axis %d: %v", c.text, axis, ok)
		}
		if ints, ok := OutputChannels(f); ok != c.channels || ok && ints != (Fixed{W: 8, Signed: true}) {
			t.Errorf("%s has a scale for each output channel: %v of %s", c.text, ok, ints)
		}
		if got := WithScaleAxis(f, 3).String(); got != c.moved {
			t.Errorf("%s along axis 3 is %s", c.text, got)
		}
	}
	rounded, _ := Parse("int(8,div=f32)*0.1")
	if got := WithExactQuotients(rounded).String(); got != "int(8)*0.1" {
		t.Errorf("with exact quotients: %s", got)
	}
}

// TestKeeps: where a format keeps what another makes, no code changes, over all codes that values become, infinities
// included; where it does not, some do. Formats differ in one option.
func TestKeeps(t *testing.T) {
	texts := []string{
		"fixed(4,1)", "fixed(4,1,over=sym)", "fixed(4,1,over=wrap)", "fixed(4,1,round=floor)", "fixed(4,1,over=0..5)",
		"fixed(4,1,over=-5..5)",
		"ufixed(4,1)", "ufixed(4,1,over=sym)", "ufixed(4,1,round=ceil)", "int(4,z=3)*0.3", "int(4,z=3,over=sym)*0.3",
		"uint(4,z=3)*0.3", "uint(4,z=3,round=floor)*0.3", "float(4,3,fn)", "float(4,3,fn,over=nan)", "float(3,2,ieee)",
		"float(3,2,ieee,over=sat)", "fixed(4,2)",
	}
	values := []Exact{Inf(true), Inf(false)}
	for i := -400; i <= 400; i++ {
		values = append(values, FromFloat64(float64(i)/8), FromFloat64(float64(i)*3))
	}
	for _, a := range texts {
		for _, b := range texts {
			from, errA := Parse(a)
			to, errB := Parse(b)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			same := SameType(from, to)
			for _, v := range values {
				code := from.Encode(v)
				same = same && to.Encode(from.Decode(code)) == code
			}
			if got := Keeps(from, to); got != same {
				t.Errorf("%s keeps what %s makes: %v, want %v", b, a, got, same)
			}
		}
	}
}
