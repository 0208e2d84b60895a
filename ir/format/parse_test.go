// SPDX-License-Identifier: Apache-2.0

package format

import (
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
)

var legalTexts = []string{"fixed(8,4)", "fixed(64,-3)", "fixed(4,12)", "fixed(8,4,round=floor,over=wrap)",
	"ufixed(63,1000)",
	"int(8)", "int(8,over=-100..100)", "int(32,over=-1073741821..1073741821)", "int(8,over=0..127)*0.05", "uint(63)",
	"int(8)*0.05", "int(8,z=-3)*0.05", "uint(8,z=300,round=away,over=sym,div=f32)*1e-08",
	"int(4)*[0]",
	"int(4)*[1:32]", "mxint8", "mxint(8,16)", "mxint(4,32)", "mxint(8,32,round=away)", "mxint(8,32,axis=0)", "fp32",
	"binary", "binary*0.3", "ternary", "ternary*0.25", "ternary(delta=0.2)*0.25", "residual(3)", "residual(3)*0.125",
	"residual(2,scales=[1:0.3])", "codebook(nf4)", "codebook(nf4)*0.05", "codebook(-1:0:0.5:1)*3", "codebook(-2:5)",
	"binary*[0]", "ternary(delta=0.3)*[0]", "residual(3)*[0]", "codebook(nf4)*[0]"}

func TestTextRoundTrip(t *testing.T) {
	for _, s := range legalTexts {
		f, err := Parse(s)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		if f.String() != s {
			t.Errorf("%s prints %s", s, f)
		}
		p, err := ParsePattern(s)
		if err != nil || p.Format != f || !p.HasF || p.With(9) != f || p.String() != s || p.W != f.Width() {
			t.Errorf("%s as a pattern: %+v %v", s, p, err)
		}
	}
	for text, want := range map[string]string{"fixed(8,0)": "int(8)", "ufixed(9,0,over=sat)": "uint(9)",
		"mxint(8,32)": "mxint8", "binary*1": "binary", "ternary(delta=0.125)*0.25": "ternary*0.25",
		"codebook(-0:1)": "codebook(0:1)", "float(4,3,fn,bias=7)": "e4m3", "float(5,2,ieee,over=sat)": "e5m2",
		"float(5,2,ieee,over=inf)": "float(5,2,ieee)", "residual(2,scales=[0x1p-1:0.25])": "residual(2,scales=[0.5:0.25])",
		"int(8,z=0)*0x1p-4": "int(8)*0.0625", "fixed(08,4)": "fixed(8,4)",
		"int(8,over=wrap,z=2)*0.1":     "int(8,z=2,over=wrap)*0.1",
		"int(8)*0.1000000000000000055": "int(8)*0.1"} {
		f, err := Parse(text)
		if err != nil || f.String() != want {
			t.Errorf("%s: %v %v, want %s", text, f, err, want)
		}
	}
}

func TestFamilies(t *testing.T) {
	seen := []string{}
	for _, f := range All() {
		if slices.Contains(seen, f.Name) || f.Doc == "" {
			t.Errorf("%s is listed twice or has no text", f.Name)
		}
		seen = append(seen, f.Name)
		example := f.Example
		got, err := Parse(example)
		if err != nil || got.String() != example {
			t.Errorf("%s: %v %v", example, got, err)
		}
		for _, o := range f.Options {
			if o.Doc == "" {
				t.Errorf("%s: option %s has no text", f.Name, o.Key)
			}
		}
	}
}

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		text, with string
	}{{"fixed(8)", "fixed(8,5)"}, {"ufixed(16,round=floor)", "ufixed(16,5,round=floor)"},
		{"fixed(8,over=sym)", "fixed(8,5,over=sym)"}, {"ufixed(8,over=0..192)", "ufixed(8,5,over=0..192)"}} {
		p, err := ParsePattern(c.text)
		if err != nil || p.HasF || p.String() != c.text || p.With(5).String() != c.with {
			t.Errorf("%s: %+v %v", c.text, p, err)
		}
	}
	if p, _ := ParsePattern("fixed(8)"); p.With(0).String() != "int(8)" || p.W != 8 {
		t.Error("no fraction bits")
	}
	for text, code := range map[string]string{"fixed(0)": codeArgs, "fixed(8,ruond=floor)": codeOption,
		"fixed(8)*2": codeScale,
		"mxint(8)":   codeArgs, "": codeSyntax, "fixde(8)": codeName} {
		if _, err := ParsePattern(text); diag.CodeOf(err) != code {
			t.Errorf("%q: %v, want %s", text, err, code)
		}
	}
	if (Pattern{}).String() != "" || (Pattern{}).With(3) != nil {
		t.Error("empty pattern")
	}
}

// TestBiasFit leaves biases to calibration, of formats that have one each.
func TestBiasFit(t *testing.T) {
	for text, finer := range map[string]string{"float(4,3,fn,bias=fit)": "float(4,3,fn,bias=10)",
		"float(2,1,bias=fit)": "float(2,1,bias=4)", "log(4,bias=fit)": "log(4,bias=6)",
		"dfloat(2,3,bias=fit,round=floor)": "dfloat(2,3,bias=4,round=floor)"} {
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		f, ok := p.Biased()
		if !ok || !p.Incomplete() || p.String() != text || f.Finer(3).String() != finer || f.Finer(0) != Format(f) {
			t.Errorf("%s: %+v, 3 finer %v", text, p, f)
		}
		if q, err := ParsePattern(p.String()); err != nil || q != p {
			t.Errorf("%s: read again %+v, %v", text, q, err)
		}
		other, err := Parse("float(2,3,bias=3)")
		if err != nil || p.Fits(other) || !p.Fits(f.Finer(7)) || PatternOf(f).Fits(f.Finer(7)) {
			t.Errorf("%s: fits what it should not, or the reverse", text)
		}
		if _, err := Parse(text); diag.CodeOf(err) != codeArgs {
			t.Errorf("a complete format %s: %v", text, err)
		}
	}
	for text, says := range map[string]string{"fixed(8,4,bias=fit)": "is for float, dfloat and log",
		"fixed(8,bias=fit)": "is for float, dfloat and log", "bfp(4,8,3,bias=fit)": "use float(2,1,bias=fit)",
		"e4m3(bias=fit)": "use float(4,3,fn,bias=fit)", "mxfp8(bias=fit)": "use float(2,1,bias=fit)",
		"float(2,1,bias=fit,bias=3)":   "given twice",
		"log(4,bias=fit,dialect=mase)": "without a dialect"} {
		if _, err := ParsePattern(text); diag.CodeOf(err) != codeOption || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// illegalTexts names for each text the code of its error and a part of the message.
var illegalTexts = []struct{ text, code, part string }{
	{"", codeSyntax, "begins with its name"},
	{"(8,4)", codeSyntax, "column 1"},
	{"fixed(8, 4)", codeSyntax, "column 9"},
	{"fixed(8,4\n)", codeSyntax, "column 10"},
	{"fixed(8,é)", codeSyntax, "column 9"},
	{"fixed(8,4", codeSyntax, "not closed"},
	{"fixed(8,4))", codeSyntax, `found ')'`},
	{"fixed(8,,4)", codeSyntax, "column 9"},
	{"fixed()", codeSyntax, "missing"},
	{"fixed(round=even,8,4)", codeSyntax, "options come last"},
	{"fixed(8,4,=even)", codeSyntax, "key=value"},
	{"int(8)*[0", codeSyntax, "not closed"},
	{strings.Repeat("x", maxText+1), codeSyntax, "longer"},
	{"fixd(8,4)", codeName, "did you mean fixed?"},
	{"mxint9", codeName, "did you mean mxint?"}, {"int8", codeName, "did you mean int(8)?"},
	{"posit(8,1)", codeName, "known formats: fixed"},
	{"binary(3)", codeArgs, "takes 0 numbers"}, {"ternary(delta=-1)", codeOption, "not negative"},
	{"ternary(delta=x)", codeArgs, "not a float32 number"}, {"residual(9)", codeArgs, "1..8"},
	{"ternary(delta=inf)", codeArgs, "not a float32"}, {"residual(1,scales=[inf])", codeArgs, "not a float32"},
	{"codebook(-inf:0:1)", codeArgs, "not a float32"},
	{"residual(2,scales=[1])", codeArgs, "1 scales for 2 levels"}, {"residual(1,scales=1)", codeArgs, "in brackets"},
	{"residual(1,scales=[0])", codeArgs, "not positive"}, {"residual(1,scales=[1])*2", codeScale, "not both"},
	{"codebook", codeArgs, "one table"}, {"codebook(1)", codeArgs, "2 to 256"}, {"codebook(1:0)", codeArgs, "each above"},
	{"codebook(0:nan)", codeArgs, "not a float32"}, {"codebook(nf5)", codeArgs, "not a float32"},
	{"float(4,3,over=inf)", codeOption, "have no inf"}, {"float(4,0,ieee)", codeArgs, "no code for a number or none"},
	{"float(4,3,fn,bias=501)", codeArgs, "-500..500"}, {"float(4,3,fm)", codeArgs, "found 3"},
	{"fixed(8,4,round=log)", codeOption, "no value"}, {"log(5,over=sat)", codeOption, "no option"},
	{"fixed(8,4,2)", codeArgs, "takes 2 numbers (W, F), found 3"},
	{"fixed(0,4)", codeArgs, "1..64"},
	{"fixed(65,4)", codeArgs, "1..64"},
	{"ufixed(64,4)", codeArgs, "1..63"},
	{"fixed(8,4.5)", codeArgs, "F is not an integer"},
	{"fixed(8,1001)", codeArgs, "-1000..1000"},
	{"fixed(8,99999999999999999999)", codeArgs, "-1000..1000"},
	{"fixed(8,--4)", codeArgs, "not an integer"},
	{"fixed(8,+4)", codeArgs, "not an integer"},
	{"int(40)*0.5", codeArgs, "1..32"},
	{"int", codeArgs, "found 0"},
	{"mxint(8)", codeArgs, "for example mxint(6,16)"},
	{"mxint(8,4xy)", codeArgs, "k is not an integer"},
	{"mxint(1,4)", codeArgs, "2..32"},
	{"mxint8(3)", codeArgs, "takes no arguments"},
	{"fp32()", codeSyntax, "missing"},
	{"fp32(3)", codeArgs, "takes no arguments"},
	{"fp32*2", codeArgs, "takes no arguments"},
	{"int(8,z=x)*2", codeArgs, "z is not an integer"},
	{"int(8)*[16]", codeArgs, "0..15"},
	{"int(8)*[]", codeArgs, "axis is not an integer"},
	{"int(8)*[0:0]", codeArgs, "group is 0"},
	{"fixed(8,4,ruond=even)", codeOption, "did you mean round=?"},
	{"fixed(8,4,round=evn)", codeOption, "did you mean round=even?"},
	{"fixed(8,4,round=even,round=up)", codeOption, "twice"},
	{"fixed(8,4,over=inf)", codeOption, "no value"},
	{"fixed(1,0,over=sym)", codeOption, "one code"},
	{"ufixed(8,5,over=0..256)", codeOption, "the largest code is 255"},
	{"ufixed(8,5,over=0..255)", codeOption, "is over=sat"},
	{"fixed(8,5,over=-127..127)", codeOption, "is over=sym"},
	{"ufixed(8,5,over=-5..5)", codeOption, "begin at 0"},
	{"fixed(8,5,over=LO..HI)", codeOption, "no value"},
	{"fixed(8,5,over=0..0)", codeOption, "no value"},
	{"fixed(8,5,over=-3..5)", codeOption, "no value"},
	{"fixed(8,5,over=0..05)", codeOption, "no value"},
	{"int(1,over=sym)*2", codeOption, "one code"},
	{"mxint(8,32,over=wrap)", codeOption, "its options are round, axis"},
	{"fixed(8,4)*0.5", codeScale, "takes no scale"},
	{"mxint(8,4)*0.5", codeScale, "takes no scale"},
	{"int(8,z=3)", codeScale, "needs a scale"},
	{"int(8,div=f32)", codeScale, "needs a scale"},
	{"int(8)*", codeScale, "missing"},
	{"int(8)*0", codeScale, "positive"},
	{"int(8)*-1", codeScale, "positive"},
	{"int(8)*1e-60", codeScale, "positive"},
	{"int(8)*1e60", codeScale, "positive"},
	{"int(8)*inf", codeScale, "neither"},
	{"int(8)*nan", codeScale, "neither"},
	{"int(8)*0x", codeScale, "neither"},
	{"fixed(8)", codePattern, "use fixed(8,F)"},
	{"nf4", codeName, "codebook(nf4)"}, {"fp4", codeName, "float(2,1)"}, {"fp8", codeName, "e4m3 or e5m2"},
}

func TestParseErrors(t *testing.T) {
	for _, c := range illegalTexts {
		f, err := Parse(c.text)
		if err == nil {
			t.Errorf("%q gives %v", c.text, f)
			continue
		}
		if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%q: %v, want %s with %q", c.text, err, c.code, c.part)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range append(legalTexts, "fixed(8)", "int(8)*[", "fixed(((", "mxint(8,[3)", "int(8,z=)*1", "fixed)(*") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, perr := ParsePattern(text)
		if perr == nil {
			if q, err := ParsePattern(p.String()); err != nil || q != p {
				t.Fatalf("%q prints %q: %v", text, p, err)
			}
			p.With(3).Encode(FromFloat64(0.7))
		}
		got, err := Parse(text)
		if err != nil {
			if got != nil || !strings.HasPrefix(diag.CodeOf(err), "L05") {
				t.Fatalf("%q: %v, %v", text, got, err)
			}
			return
		}
		if perr != nil {
			t.Fatalf("%q parses, but not as a pattern: %v", text, perr)
		}
		again, err := Parse(got.String())
		if err != nil || again != got || got.Width() < 1 || got.Width() > 64 {
			t.Fatalf("%q prints %q, which gives %v, %v", text, got, again, err)
		}
		for _, v := range []Exact{{}, NaN(), Inf(true), FromFloat64(-0.3), FromInt(1, 900)} {
			code := got.Encode(v)
			if w := got.Width(); w < 63 && (code < -1<<(w-1) || code >= 1<<w) {
				t.Fatalf("%v: code %d of %v", got, code, v)
			}
			got.Decode(code)
		}
		got.Lattice()
		got.Limits()
		SameType(got, again)
	})
}
