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
	for text, code := range map[string]diag.Code{"fixed(0)": diag.FormatNumbers, "fixed(8,ruond=floor)": diag.FormatOption,
		"fixed(8)*2": diag.FormatScale,
		"mxint(8)":   diag.FormatNumbers, "": diag.FormatSyntax, "fixde(8)": diag.UnknownFormat} {
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
		if _, err := Parse(text); diag.CodeOf(err) != diag.FormatNumbers {
			t.Errorf("a complete format %s: %v", text, err)
		}
	}
	for text, says := range map[string]string{"fixed(8,4,bias=fit)": "is for float, dfloat and log",
		"fixed(8,bias=fit)": "is for float, dfloat and log", "bfp(4,8,3,bias=fit)": "use float(2,1,bias=fit)",
		"e4m3(bias=fit)": "use float(4,3,fn,bias=fit)", "mxfp8(bias=fit)": "use float(2,1,bias=fit)",
		"float(2,1,bias=fit,bias=3)":   "given twice",
		"log(4,bias=fit,dialect=mase)": "without a dialect"} {
		if _, err := ParsePattern(text); diag.CodeOf(err) != diag.FormatOption || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// illegalTexts names for each text the code of its error and a part of the message.
var illegalTexts = []struct {
	text string
	code diag.Code
	part string
}{
	{"", diag.FormatSyntax, "begins with its name"},
	{"(8,4)", diag.FormatSyntax, "column 1"},
	{"fixed(8, 4)", diag.FormatSyntax, "column 9"},
	{"fixed(8,4\n)", diag.FormatSyntax, "column 10"},
	{"fixed(8,é)", diag.FormatSyntax, "column 9"},
	{"fixed(8,4", diag.FormatSyntax, "not closed"},
	{"fixed(8,4))", diag.FormatSyntax, `found ')'`},
	{"fixed(8,,4)", diag.FormatSyntax, "column 9"},
	{"fixed()", diag.FormatSyntax, "missing"},
	{"fixed(round=even,8,4)", diag.FormatSyntax, "options come last"},
	{"fixed(8,4,=even)", diag.FormatSyntax, "key=value"},
	{"int(8)*[0", diag.FormatSyntax, "not closed"},
	{strings.Repeat("x", maxText+1), diag.FormatSyntax, "longer"},
	{"fixd(8,4)", diag.UnknownFormat, "did you mean fixed?"},
	{"mxitn", diag.UnknownFormat, "did you mean mxint, such as mxint(6,16)?"},
	{"int8", diag.UnknownFormat, "did you mean int(8)?"},
	{"posit(8,1)", diag.UnknownFormat, "known formats: fixed"},
	{"binary(3)", diag.FormatNumbers, "takes 0 numbers"}, {"ternary(delta=-1)", diag.FormatOption, "not negative"},
	{"ternary(delta=x)", diag.FormatNumbers, "not a float32 number"}, {"residual(9)", diag.FormatNumbers, "1..8"},
	{"ternary(delta=inf)", diag.FormatNumbers, "not a float32"}, {"residual(1,scales=[inf])", diag.FormatNumbers,
		"not a float32"},
	{"codebook(-inf:0:1)", diag.FormatNumbers, "not a float32"},
	{"residual(2,scales=[1])", diag.FormatNumbers, "1 scales for 2 levels"}, {"residual(1,scales=1)", diag.FormatNumbers,
		"in brackets"},
	{"residual(1,scales=[0])", diag.FormatNumbers, "not positive"}, {"residual(1,scales=[1])*2", diag.FormatScale,
		"not both"},
	{"codebook", diag.FormatNumbers, "one table"}, {"codebook(1)", diag.FormatNumbers, "2 to 256"}, {"codebook(1:0)",
		diag.FormatNumbers, "each above"},
	{"codebook(0:nan)", diag.FormatNumbers, "not a float32"}, {"codebook(nf5)", diag.FormatNumbers, "not a float32"},
	{"float(4,3,over=inf)", diag.FormatOption, "have no inf"}, {"float(4,0,ieee)", diag.FormatNumbers,
		"no code for a number or none"},
	{"float(4,3,fn,bias=501)", diag.FormatNumbers, "-500..500"}, {"float(4,3,fm)", diag.FormatNumbers, "found 3"},
	{"fixed(8,4,round=log)", diag.FormatOption, "no value"}, {"log(5,over=sat)", diag.FormatOption, "no option"},
	{"fixed(8,4,2)", diag.FormatNumbers, "takes 2 numbers (W, F), found 3"},
	{"fixed(0,4)", diag.FormatNumbers, "1..64"},
	{"fixed(65,4)", diag.FormatNumbers, "1..64"},
	{"ufixed(64,4)", diag.FormatNumbers, "1..63"},
	{"fixed(8,4.5)", diag.FormatNumbers, "F is not an integer"},
	{"fixed(8,1001)", diag.FormatNumbers, "-1000..1000"},
	{"fixed(8,99999999999999999999)", diag.FormatNumbers, "-1000..1000"},
	{"fixed(8,--4)", diag.FormatNumbers, "not an integer"},
	{"fixed(8,+4)", diag.FormatNumbers, "not an integer"},
	{"int(40)*0.5", diag.FormatNumbers, "1..32"},
	{"int", diag.FormatNumbers, "found 0"},
	{"mxint(8)", diag.FormatNumbers, "for example mxint(6,16)"},
	{"mxint(8,4xy)", diag.FormatNumbers, "k is not an integer"},
	{"mxint(1,4)", diag.FormatNumbers, "2..32"},
	{"mxint8(3)", diag.FormatNumbers, "takes no arguments"},
	{"fp32()", diag.FormatSyntax, "missing"},
	{"fp32(3)", diag.FormatNumbers, "takes no arguments"},
	{"fp32*2", diag.FormatNumbers, "takes no arguments"},
	{"int(8,z=x)*2", diag.FormatNumbers, "z is not an integer"},
	{"int(8)*[16]", diag.FormatNumbers, "0..15"},
	{"int(8)*[]", diag.FormatNumbers, "axis is not an integer"},
	{"int(8)*[0:0]", diag.FormatNumbers, "group is 0"},
	{"fixed(8,4,ruond=even)", diag.FormatOption, "did you mean round=?"},
	{"fixed(8,4,round=evn)", diag.FormatOption, "did you mean round=even?"},
	{"fixed(8,4,round=even,round=up)", diag.FormatOption, "twice"},
	{"fixed(8,4,over=inf)", diag.FormatOption, "no value"},
	{"fixed(1,0,over=sym)", diag.FormatOption, "one code"},
	{"ufixed(8,5,over=0..256)", diag.FormatOption, "the largest code is 255"},
	{"ufixed(8,5,over=0..255)", diag.FormatOption, "is over=sat"},
	{"fixed(8,5,over=-127..127)", diag.FormatOption, "is over=sym"},
	{"ufixed(8,5,over=-5..5)", diag.FormatOption, "begin at 0"},
	{"fixed(8,5,over=LO..HI)", diag.FormatOption, "no value"},
	{"fixed(8,5,over=0..0)", diag.FormatOption, "no value"},
	{"fixed(8,5,over=-3..5)", diag.FormatOption, "no value"},
	{"fixed(8,5,over=0..05)", diag.FormatOption, "no value"},
	{"int(1,over=sym)*2", diag.FormatOption, "one code"},
	{"mxint(8,32,over=wrap)", diag.FormatOption, "its options are round, axis"},
	{"fixed(8,4)*0.5", diag.FormatScale, "takes no scale"},
	{"mxint(8,4)*0.5", diag.FormatScale, "takes no scale"},
	{"int(8,z=3)", diag.FormatScale, "needs a scale"},
	{"int(8,div=f32)", diag.FormatScale, "needs a scale"},
	{"int(8)*", diag.FormatScale, "missing"},
	{"int(8)*0", diag.FormatScale, "positive"},
	{"int(8)*-1", diag.FormatScale, "positive"},
	{"int(8)*1e-60", diag.FormatScale, "positive"},
	{"int(8)*1e60", diag.FormatScale, "positive"},
	{"int(8)*inf", diag.FormatScale, "neither"},
	{"int(8)*nan", diag.FormatScale, "neither"},
	{"int(8)*0x", diag.FormatScale, "neither"},
	{"fixed(8)", diag.OpenFormat, "use fixed(8,F)"},
	{"fixed<8,3>", diag.FormatSyntax, "did you mean fixed(8,5), or"},
	{"mxfp8_e4m3", diag.FormatSyntax, "did you mean mxfp(e4m3,32)?"},
}

// TestElsewhere checks what is asked of names that other tools give formats: a plan takes each answer.
func TestElsewhere(t *testing.T) {
	for text, want := range map[string]string{
		"nf4": "codebook(nf4)", "fp4": "e2m1 or float(2,1)", "fp8": "e4m3 or e5m2", "fp6": "e3m2 or e2m3",
		"float8_e4m3fn": "e4m3", "e4m3fn": "e4m3", "fp8_e5m2": "e5m2", "e5m2fnuz": "float(5,2,fnuz)",
		"mxint4": "mxint(4,32)", "MXINT8": "mxint(8,32)", "mxfp8_e5m2": "mxfp(e5m2,32)", "mxfp8e4m3": "mxfp(e4m3,32)",
		"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "s8": "int(8)", "u4": "uint(4)",
		"fixed8": "fixed(8) or fixed(8,4), with 4 fraction bits", "integer": "fixed(8,4)", "minifloat_ieee": "float(4,3)",
		"minifloat_denorm(4,3)": "dfloat(4,3)", "block_fp": "bfp(8,16,8)", "bfp4": "bfp(4,16,8)",
		"block_minifloat": "bminifloat(4,3,16,8)", "block_log": "blog(5,16,8)",
	} {
		if got := meantElsewhere(text); got != "did you mean "+want+"?" {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"ap_fixed<16,6>": "fixed(16,10", "ap_ufixed<8,0,AP_RND>": "ufixed(8,8",
		"fixed<8,9>": "fixed(8,-1"} {
		got := meantElsewhere(text)
		if !strings.HasPrefix(got, "did you mean "+want+"), or ") || !known(want+",round=floor,over=wrap)") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"posit(8,1)", "mxint1", "e9m9", "fixed(8,4)"} {
		if got := meantElsewhere(text); got != "" {
			t.Errorf("%q: %q, want nothing", text, got)
		}
	}
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
			if got != nil || !strings.HasPrefix(string(diag.CodeOf(err)), "L05") {
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
