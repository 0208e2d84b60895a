// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"lathe/cuda/word"
)

// Prelude is what printed kernels need before them: the names of types, and integer operations without undefined
// results.
//
//go:embed prelude.cuh
var Prelude string

// Print is the text of one kernel.
func Print(k *Kernel) string {
	p := &printer{}
	for _, d := range k.Doc {
		p.line("// %s", d)
	}
	params := make([]string, len(k.Params))
	for i, q := range k.Params {
		form := "    const %s* __restrict__ %s"
		if q.Out {
			form = "    %s* __restrict__ %s"
		}
		params[i] = fmt.Sprintf(form, q.Type, q.Name)
		if i < len(k.Params)-1 {
			params[i] += ","
		}
		if q.Doc != "" {
			params[i] += "  // " + q.Doc
		}
	}
	p.line("extern \"C\" __global__ void __launch_bounds__(%d)\n%s(\n%s\n) {", k.Threads(), k.Name,
		strings.Join(params, "\n"))
	p.depth++
	p.index(k)
	for _, q := range k.Params {
		if q.Stride != 0 {
			p.line("%s += (u64)blockIdx.y * %d;", q.Name, q.Stride)
		}
	}
	for _, q := range k.Local {
		p.line("__shared__ %s %s[%d];  // %s", q.Type, q.Name, q.Stride, q.Doc)
	}
	p.block(k.Body)
	p.depth--
	p.line("}")
	return p.text.String()
}

// index prints the variable that tells threads, or blocks, apart.
func (p *printer) index(k *Kernel) {
	index := k.Index.Type
	if k.Team > 0 {
		p.line("const %s %s = blockIdx.x;", index, k.Index.Name)
		return
	}
	if index == word.U64 {
		p.line("const u64 %s = (u64)blockIdx.x * %d + threadIdx.x;", k.Index.Name, Threads)
	} else {
		p.line("const u32 %s = blockIdx.x * %d + threadIdx.x;", k.Index.Name, Threads)
	}
	if k.Count%Threads != 0 {
		p.line("if (%s >= %s) return;", k.Index.Name, literal(Int(index, k.Count)))
	}
}

type printer struct {
	text  strings.Builder
	depth int
}

func (p *printer) line(form string, args ...any) {
	p.text.WriteString(strings.Repeat("  ", p.depth))
	fmt.Fprintf(&p.text, form, args...)
	p.text.WriteByte('\n')
}

func (p *printer) block(b *Block) {
	for _, s := range b.List {
		switch s := s.(type) {
		case Let:
			p.line("const %s %s = %s;", s.Var.Type, s.Var.Name, text(s.Value, 0))
		case Declare:
			p.line("%s %s = %s;", s.Var.Type, s.Var.Name, text(s.Value, 0))
		case Set:
			p.line("%s = %s;", s.Var.Name, text(s.Value, 0))
		case For:
			v := s.Var
			p.line("for (%s %s = 0; %s < %s; %s++) {", v.Type, v.Name, v.Name, literal(Int(v.Type, s.Count)), v.Name)
			p.inner(s.Body)
			p.line("}")
		case Each:
			v := s.Var
			p.line("for (%s %s = threadIdx.x; %s < %s; %s += blockDim.x) {", v.Type, v.Name, v.Name,
				literal(Int(v.Type, s.Count)), v.Name)
			p.inner(s.Body)
			p.line("}")
		case Barrier:
			p.line("__syncthreads();")
		case If:
			p.line("if (%s) {", text(s.Cond, 0))
			p.inner(s.Then)
			if s.Else != nil {
				p.line("} else {")
				p.inner(s.Else)
			}
			p.line("}")
		case Store:
			p.line("%s[%s] = %s;", s.Param.Name, text(s.Index, 0), text(s.Value, 0))
		}
	}
}

func (p *printer) inner(b *Block) {
	p.depth++
	p.block(b)
	p.depth--
}

// Binding strengths of what is printed without parentheses around it.
const (
	ternary = 1 + iota
	infix
	sum
	product
	prefix
)

// strength of an infix operator. All but sums and products, whose order everybody knows, get parentheses.
func strength(operator string) int {
	switch operator {
	case "+", "-":
		return sum
	case "*", "/", "%":
		return product
	}
	return infix
}

// text prints e, in parentheses where it binds no stronger than outer.
func text(e *Expr, outer int) string {
	s, own := "", prefix
	switch e.Kind {
	case Lit:
		return literal(e)
	case Ref:
		return e.Var.Name
	case Load:
		return e.Param.Name + "[" + text(e.Args[0], 0) + "]"
	case Call:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = text(a, 0)
		}
		return e.Name + "(" + strings.Join(args, ", ") + ")"
	case Infix:
		own = strength(e.Name)
		left := own - 1 // x - y - z needs none
		if own == infix {
			left = own
		}
		s = text(e.Args[0], left) + " " + e.Name + " " + text(e.Args[1], own)
	case Prefix:
		s = e.Name + text(e.Args[0], prefix)
	case Cast:
		s = "(" + string(e.Type) + ")" + text(e.Args[0], prefix)
	case Choose:
		own = ternary
		s = text(e.Args[0], ternary) + " ? " + text(e.Args[1], ternary) + " : " + text(e.Args[2], ternary)
	}
	if own <= outer {
		return "(" + s + ")"
	}
	return s
}

// literal prints a value so that it has its type and all its bits.
func literal(e *Expr) string {
	switch e.Type {
	case word.Bool:
		return strconv.FormatBool(e.Bits != 0)
	case word.F32:
		return float(float64(math.Float32frombits(uint32(e.Bits))), "f", fmt.Sprintf("__int_as_float(0x%x)", e.Bits))
	case word.F64:
		v := math.Float64frombits(e.Bits)
		return float(v, "", fmt.Sprintf("__longlong_as_double(0x%xll)", e.Bits))
	case word.U32:
		return strconv.FormatUint(uint64(uint32(e.Bits)), 10) + "u"
	case word.U64:
		return strconv.FormatUint(e.Bits, 10) + "ull"
	}
	x := truncate(e.Type, int64(e.Bits))
	suffix := ""
	if e.Type == word.I64 {
		suffix = "ll"
	}
	switch {
	case x == math.MinInt64:
		return "(-9223372036854775807ll - 1)"
	case e.Type == word.I32 && x == math.MinInt32:
		return "(-2147483647 - 1)"
	case e.Type == word.I32 || e.Type == word.I64:
		if x < 0 {
			return "(" + strconv.FormatInt(x, 10) + suffix + ")"
		}
		return strconv.FormatInt(x, 10) + suffix
	}
	return fmt.Sprintf("(%s)%d", e.Type, x)
}

// float prints an exact decimal, or the bits of what is no finite number.
func float(v float64, suffix, bits string) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return bits
	}
	size := 64
	if suffix == "f" {
		size = 32
	}
	s := strconv.FormatFloat(v, 'g', -1, size)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	if s[0] == '-' {
		return "(" + s + suffix + ")"
	}
	return s + suffix
}
