// SPDX-License-Identifier: Apache-2.0

package format

import (
	"slices"
	"strings"

	"lathe/internal/diag"
)

// Family is one line of the list of formats: a name that format texts begin with.
type Family struct {
	Name    string
	Syntax  string   // with named arguments
	Doc     string   // one sentence: codes and values
	Example string   // a complete format text
	Alias   string   // the text that the name stands for; empty for a family of its own
	Options []Option // in the order in which they are printed
	build   func(*call) (Format, error)
}

// Option is one key=value argument of a family.
type Option struct {
	Key    string
	Values []string // nil: an integer
	Doc    string
}

// Limits of the arguments in format texts.
const (
	maxFrac  = 1000
	maxZero  = 1<<32 - 1
	maxBlock = 1 << 16
	maxAxis  = 15
	maxAffW  = 32
)

var (
	optZero  = Option{"z", nil, "zero point, subtracted from the code; may lie outside the code range"}
	optRound = Option{"round", roundNames[:RoundLog], "how a value between two codes is rounded; default even"}
	optOver  = Option{"over", append(overNames[:], limitWord), "what happens beyond the largest code: saturate " +
		"(default), symmetric, wrap; or saturate at LO and HI, where LO = 0 or -HI"}
	optBias  = Option{"bias", nil, "what fields exceed exponents by, if not as usual"}
	optPower = Option{"round", roundNames[:RoundMASE], "as for the others, or log: the nearest logarithm"}
	optTop   = Option{"over", []string{"sat", "inf", "nan"}, "what becomes of a value beyond the greatest one: the " +
		"greatest (default), infinity (ieee, default there), NaN (fn, fnuz)"}
	optDelta   = Option{"delta", nil, "the greatest magnitude that becomes 0; default S/2"}
	optScales  = Option{"scales", nil, "[s0:s1:...], a scale for each level; default S*2^(L-1-l)"}
	optAxis    = Option{"axis", nil, "axis that is cut into blocks; default the last"}
	optDialect = Option{"dialect", []string{"mase"}, "that of MASE: scales from ceil(log2 max|x|); for mxint, values " +
		"are q*2^-(W-1)*2^(X-127), and X = 255 is no NaN"}
	optDiv  = Option{"div", divNames[:], "exact quotient (default), or rounded to float32 first"}
	optMASE = Option{"dialect", []string{"mase"}, "how MASE encodes, for models trained with it: see above"}
)

// All lists the formats, aliases behind the families.
func All() []Family {
	return slices.Concat(scalars(), blocks(), unquantized(), aliases())
}

// scalars are the formats whose codes have values by themselves.
func scalars() []Family {
	rules := []Option{optRound, optOver}
	integer := []Option{optZero, optRound, optOver, optDiv}
	return []Family{
		{Name: "fixed", Syntax: "fixed(W,F)", Example: "fixed(8,4)", build: buildFixed, Options: rules,
			Doc: "two's complement q of W bits, value q*2^-F; F has any sign and may exceed W"},
		{Name: "ufixed", Syntax: "ufixed(W,F)", Example: "ufixed(8,8)", build: buildFixed, Options: rules,
			Doc: "unsigned q of W bits, value q*2^-F"},
		{Name: "int", Syntax: "int(W) or int(W,z=Z)*S", Example: "int(8,z=-3)*0.05", build: buildInt, Options: integer,
			Doc: "two's complement integer q, value q, or affine (q-Z)*S; S is a number, [axis] or [axis:group]"},
		{Name: "uint", Syntax: "uint(W) or uint(W,z=Z)*S", Example: "uint(8,z=128)*[1]", build: buildInt, Options: integer,
			Doc: "unsigned integer q, value q, or affine (q-Z)*S"},
		{Name: "float", Syntax: "float(e,m) or float(e,m,KIND)", Example: "float(4,3)", build: buildFloat,
			Options: []Option{optBias, optRound, optTop, optMASE},
			Doc: "sign, exponent field f of e bits, fraction k of m bits; bias 2^(e-1)-1, subnormals. All codes are finite, " +
				"but with ieee those of the greatest field (infinities, NaN), with fn the one of all ones (NaN), with fnuz, " +
				"whose bias is 2^(e-1), -0 (NaN)"},
		{Name: "dfloat", Syntax: "dfloat(e,m)", Example: "dfloat(4,3)", build: buildDFloat,
			Options: []Option{optBias, optRound, optMASE},
			Doc: "sign, exponent field f of e bits, k of m bits: +-k*2^(f-bias-m), bias 2^(e-1)-1; encoding takes the " +
				"least f"},
		{Name: "log", Syntax: "log(W)", Example: "log(5)", build: buildLog,
			Options: []Option{optBias, optPower, optMASE},
			Doc:     "sign and a field f of W-1 bits: 0, or +-2^(f-bias), bias 2^(W-2)-1"},
		{Name: "binary", Syntax: "binary, binary*S, binary*[0]", Example: "binary", build: buildBinary,
			Doc: "1 is S, 0 is -S; S is a number, default 1, or [0]: weights find one for each output channel. What " +
				"is not negative becomes S"},
		{Name: "ternary", Syntax: "ternary, ternary(delta=D)*S", Example: "ternary", build: buildTernary,
			Options: []Option{optDelta}, Doc: "00 is 0, 01 is S, 11 is -S; 10, which encoding never " +
				"makes, is 0 too. Magnitudes up to D become 0"},
		{Name: "residual", Syntax: "residual(L) or residual(L)*S", Example: "residual(3)*0.125", build: buildResidual,
			Options: []Option{optScales}, Doc: "the sum of +-s_l over L levels, bit l is 1 for +; each level takes the " +
				"sign of what those before it leave"},
		{Name: "codebook", Syntax: "codebook(nf4) or codebook(V0:V1:...)*S", Example: "codebook(nf4)*0.5",
			build: buildCodebook, Doc: "code k is T[k]*S, T an ascending table of 2 to 256 float32 values; nf4 is 4-bit " +
				"NormalFloat. Ties go to the even code; codes behind the last have its value"},
		{Name: "e8m0", Syntax: "e8m0", Example: "e8m0", build: buildE8M0, Doc: "the scale X of OCP blocks by itself: " +
			"2^(X-127), 255 is NaN. Ties go up, what is not positive becomes the least; for lathe convert"},
	}
}

// blocks are the formats whose codes share scales.
func blocks() []Family {
	rules := []Option{optRound, optAxis}
	return []Family{
		{Name: "mxint", Syntax: "mxint(W,k)", Example: "mxint(6,16)", build: buildMXInt,
			Options: []Option{optRound, optAxis, optDialect},
			Doc: "blocks of k two's complement q of W bits, value q*2^-(W-2)*2^(X-127), a byte X per block; X = 255 is NaN. " +
				"Of all blocks, k may be a tile RxC of the last two axes, for weights"},
		{Name: "mxfp", Syntax: "mxfp(E,k)", Example: "mxfp(e4m3,16)", build: buildMXFP, Options: rules,
			Doc: "blocks of k floats E, value E*2^(X-127), a byte X per block; E is e4m3, e5m2, e3m2, e2m3, e2m1 or a float"},
		{Name: "bfp", Syntax: "bfp(W,k,E)", Example: "bfp(8,16,8)", build: buildBFP,
			Options: []Option{optBias, optRound, optAxis, optDialect},
			Doc:     "blocks of k signs and magnitudes q of W-1 bits: +-q*2^(f-bias-(W-1)), a field f of E bits a block"},
		{Name: "bminifloat", Syntax: "bminifloat(e,m,k,B)", Example: "bminifloat(4,3,16,8)", build: buildBMinifloat,
			Options: rules, Doc: "blocks of k float(e,m) whose bias is a field of B bits per block"},
		{Name: "blog", Syntax: "blog(W,k,B)", Example: "blog(5,16,8)", build: buildBLog,
			Options: []Option{optPower, optAxis},
			Doc:     "blocks of k powers of two, log(W), whose bias is a field of B bits per block"},
	}
}

// unquantized are the formats of float graphs.
func unquantized() []Family {
	return []Family{
		{Name: "fp32", Syntax: "fp32", Example: "fp32", build: buildFloat32,
			Doc: "IEEE 754 binary32: the values of a graph that is not quantized"},
		{Name: "bf16", Syntax: "bf16", Example: "bf16", build: buildHalf,
			Doc: "bfloat16, the upper half of fp32: values of a float graph that are rounded to it"},
		{Name: "f16", Syntax: "f16", Example: "f16", build: buildHalf,
			Doc: "IEEE 754 binary16: values of a float graph that are rounded to it"},
	}
}

// aliases are names of formats.
func aliases() []Family {
	return []Family{
		{Name: "mxint8", Syntax: "mxint8", Example: "mxint8", Alias: "mxint(8,32)", Doc: "OCP MXINT8"},
		{Name: "e4m3", Syntax: "e4m3", Example: "e4m3", Alias: "float(4,3,fn)", Doc: "OCP FP8 with 3 bits of " +
			"fraction: one NaN"},
		{Name: "e5m2", Syntax: "e5m2", Example: "e5m2", Alias: "float(5,2,ieee,over=sat)", Doc: "OCP FP8 with 2 bits of " +
			"fraction: infinities and NaN"},
		{Name: "e3m2", Syntax: "e3m2", Example: "e3m2", Alias: "float(3,2)", Doc: "OCP FP6 with 2 bits of fraction"},
		{Name: "e2m3", Syntax: "e2m3", Example: "e2m3", Alias: "float(2,3)", Doc: "OCP FP6 with 3 bits of fraction"},
		{Name: "e2m1", Syntax: "e2m1", Example: "e2m1", Alias: "float(2,1)", Doc: "OCP FP4"},
		{Name: "fp16", Syntax: "fp16", Example: "fp16", Alias: "float(5,10,ieee)", Doc: "IEEE 754 binary16 as codes that " +
			"are decoded exactly; f16 is that of float graphs"},
		{Name: "mxfp8", Syntax: "mxfp8", Example: "mxfp8", Alias: "mxfp(e4m3,32)", Doc: "OCP MXFP8 of E4M3"},
		{Name: "mxfp6", Syntax: "mxfp6", Example: "mxfp6", Alias: "mxfp(e2m3,32)", Doc: "OCP MXFP6 of E2M3"},
		{Name: "mxfp4", Syntax: "mxfp4", Example: "mxfp4", Alias: "mxfp(e2m1,32)", Doc: "OCP MXFP4 of E2M1"},
	}
}

// FamilyOf is the name that the text of f begins with.
func FamilyOf(f Format) string {
	name := f.String()
	if i := strings.IndexAny(name, "(*"); i >= 0 {
		return name[:i]
	}
	return name
}

// fixedArgs are W and F of fixed and ufixed. Unsigned codes stop at 63 bits, so that every code is an int64.
func fixedArgs(c *call) []intRange {
	w := intRange{"W", 1, 64}
	if c.name[0] == 'u' {
		w.hi = 63
	}
	return []intRange{w, {"F", -maxFrac, maxFrac}}
}

func buildFixed(c *call) (Format, error) {
	if len(c.args) == 1 {
		if _, err := c.integer(c.args[0].val, c.args[0].col, fixedArgs(c)[0]); err != nil {
			return nil, err
		}
		return nil, c.fail(diag.OpenFormat, len(c.name)+1, "the fraction bits are missing; only a plan may omit them").
			WithHint("use %s(%s,F)", c.name, c.args[0].val)
	}
	v, err := c.ints(fixedArgs(c)...)
	if err != nil {
		return nil, err
	}
	return c.finishFixed(v[0], v[1])
}

// overFits checks the overflow rule of f: a rule has one text.
func (c *call) overFits(f Fixed) error {
	lo, hi, limited := f.Over.Limits()
	most := Fixed{W: f.W, Signed: f.Signed}.Max()
	switch {
	case f.W == 1 && f.Over == Sym:
		return c.fail(diag.FormatOption, 1, "over=sym leaves one code of a single bit")
	case !limited:
	case lo < 0 && !f.Signed:
		return c.fail(diag.FormatOption, 1, "over=%v: codes without a sign begin at 0", f.Over)
	case hi > min(most, MaxLimit):
		return c.fail(diag.FormatOption, 1, "over=%v: the largest code is %d", f.Over, min(most, MaxLimit))
	case hi == most && (lo < 0 || !f.Signed):
		return c.fail(diag.FormatOption, 1, "over=%v is over=%v", f.Over, map[bool]Over{true: Sym}[f.Signed])
	}
	return nil
}

// finishFixed makes the format once W and F are known.
func (c *call) finishFixed(w, frac int) (Format, error) {
	f := Fixed{W: w, F: frac, Signed: c.name[0] != 'u', Round: c.round(), Over: c.over()}
	if err := c.noScale(); err != nil {
		return nil, err
	}
	return f, c.overFits(f)
}

func buildInt(c *call) (Format, error) {
	w := fixedArgs(c)[0]
	if c.scale.col > 0 {
		w.hi = maxAffW
	}
	v, err := c.ints(w)
	if err != nil {
		return nil, err
	}
	if c.scale.col == 0 {
		for _, key := range []string{"z", "div"} {
			if c.option(key) != "" {
				return nil, c.fail(diag.FormatScale, len(c.text)+1, "option %s needs a scale", key).WithHint("append *1")
			}
		}
		return c.finishFixed(v[0], 0)
	}
	a := Affine{W: v[0], Signed: c.name == "int", Round: c.round(), Over: c.over()}
	if c.option("div") == "f32" {
		a.Div = DivF32
	}
	if err := c.overFits(a.Integers()); err != nil {
		return nil, err
	}
	zero, err := c.intOption(0, intRange{"z", -maxZero, maxZero})
	if err != nil {
		return nil, err
	}
	a.Zero = int64(zero)
	a.Scale, a.Axis, a.Group, err = c.readScale()
	return a, err
}

func buildFloat32(c *call) (Format, error) {
	if c.bracket || c.scale.col > 0 {
		return nil, c.fail(diag.FormatNumbers, len(c.name)+1, "fp32 takes no arguments")
	}
	return FP32, nil
}
