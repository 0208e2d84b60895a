// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"go/ast"
	"go/token"
	"hash/crc32"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lathe/internal/diag"
	"lathe/ir/target"
)

// Cost is what a module is expected to take on a family of FPGAs as Yosys counts it, without that of a routed design.
// BRAM counts blocks of 18 Kbit: a block of 36 Kbit is two. URAM counts blocks of 288 Kbit, 4096 words of 72 bits.
type Cost struct {
	LUT  int `json:"lut"`
	FF   int `json:"ff"`
	DSP  int `json:"dsp"`
	BRAM int `json:"bram18"`
	URAM int `json:"uram,omitempty"`
}

// Add returns the sum of both.
func (c Cost) Add(o Cost) Cost {
	return Cost{c.LUT + o.LUT, c.FF + o.FF, c.DSP + o.DSP, c.BRAM + o.BRAM, c.URAM + o.URAM}
}

// Times returns n of them.
func (c Cost) Times(n int) Cost {
	return Cost{c.LUT * n, c.FF * n, c.DSP * n, c.BRAM * n, c.URAM * n}
}

// costs are the lines of a header that state what a module costs: its own cells, and the instances inside it.
// Every line is optional; a module without any is not modelled.
type costs struct {
	lut, ff, dsp, bram, uram, parts Expr
	lut4                            Expr // in place of lut, of families whose LUTs have four inputs; may be missing
	stated                          bool
	locals                          []ParamDecl         // integer localparams of the body
	lets                            []ParamDecl         // names that only these lines and those of the flow use
	instances                       map[string]Instance // by instance name, and by module.instance
}

// Instance is an instance of a library module inside another, with the texts of its parameters.
type Instance struct {
	Module string
	Params []Param
}

var (
	factRE  = regexp.MustCompile(`(?m)^(let|flow|front|turns|lut|lut4|ff|dsp|bram|uram|parts):`)
	fieldRE = regexp.MustCompile(`\b(let|flow|front|turns|lut|lut4|ff|dsp|bram|uram|parts):`)
	localRE = regexp.MustCompile(`\blocalparam\s+integer\s+(\w+)\s*=\s*([^;]*);`)
	usedRE  = regexp.MustCompile(`\b(\w+)\s+(?:#\s*\(|(\w+)\s*\()`)
	nameRE  = regexp.MustCompile(`^\s*(\w+)\s*\(`)
	boundRE = regexp.MustCompile(`^\.(\w+)\s*\((.*)\)$`)
)

// cutFacts takes the lines on cost and flow off the end of a header comment and reads them.
func (h *Header) cutFacts(comment string) (string, error) {
	at := factRE.FindStringIndex(comment)
	if at == nil {
		return comment, nil
	}
	text := strings.ReplaceAll(comment[at[0]:], "\n", " ")
	marks := fieldRE.FindAllStringSubmatchIndex(text, -1)
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		field := text[m[2]:m[3]]
		if field == "let" {
			for _, def := range strings.Split(text[m[1]:end], ";") {
				name, value, _ := strings.Cut(def, "=")
				h.costs.lets = append(h.costs.lets, ParamDecl{Name: strings.TrimSpace(name), Default: value})
			}
			continue
		}
		if err := h.fact(field, text[m[1]:end]); err != nil {
			return "", err
		}
	}
	return comment[:at[0]], nil
}

// fact reads one line of a header.
func (h *Header) fact(field, text string) error {
	if field == "turns" {
		for _, item := range split(text) {
			e, err := ParseExpr(item)
			if err != nil {
				return h.bad(err.Error())
			}
			h.turns = append(h.turns, e)
		}
		return nil
	}
	e, err := ParseExpr(text)
	if err != nil {
		return h.bad(err.Error())
	}
	switch field {
	case "flow":
		h.flows = e
	case "front":
		h.front = e
	default:
		h.costs.stated = true
		*map[string]*Expr{"lut": &h.costs.lut, "lut4": &h.costs.lut4, "ff": &h.costs.ff, "dsp": &h.costs.dsp,
			"bram": &h.costs.bram, "uram": &h.costs.uram, "parts": &h.costs.parts}[field] = e
	}
	return nil
}

// parseBody notes localparams and instances, which cost lines may name.
func (h *Header) parseBody(body string) {
	for _, m := range localRE.FindAllStringSubmatch(body, -1) {
		value := strings.Join(strings.Fields(m[2]), " ")
		h.costs.locals = append(h.costs.locals, ParamDecl{Name: m[1], Default: value, Local: true})
	}
	h.costs.instances = map[string]Instance{}
	for _, m := range usedRE.FindAllStringSubmatchIndex(body, -1) {
		in := Instance{Module: body[m[2]:m[3]]}
		if _, ok := entries()[in.Module]; !ok {
			continue
		}
		name := ""
		if m[4] >= 0 {
			name = body[m[4]:m[5]]
		} else {
			list, after, _ := group(body[m[1]:])
			for _, item := range split(list) {
				if b := boundRE.FindStringSubmatch(item); b != nil {
					in.Params = append(in.Params, Param{Name: b[1], Value: b[2]})
				}
			}
			if n := nameRE.FindStringSubmatch(after); n != nil {
				name = n[1]
			}
		}
		if _, twice := h.costs.instances[name]; !twice {
			h.costs.instances[name] = in
		}
		h.costs.instances[in.Module+"."+name] = in
	}
}

// Costed says whether the header states what the module costs.
func (h *Header) Costed() bool { return h.costs.stated }

// Cost evaluates the cost lines of the module and of all inside it under the given parameters, for a family; nil is
// UltraScale+. Error L0655 for a module, here or inside, that states none; L0603 where an expression cannot be
// evaluated.
func (h *Header) Cost(set []Param, f *target.Family) (Cost, error) {
	if f == nil {
		f = target.Usual()
	}
	return h.cost(h.scope(set), f)
}

// scope is the values of the parameters: set, completed by the declared defaults, texts as codes.
func (h *Header) scope(set []Param) map[string]int {
	env := map[string]int{}
	given := map[string]string{}
	for _, p := range set {
		given[p.Name] = p.Value
	}
	for _, decl := range h.Params {
		text := decl.Default
		if v, ok := given[decl.Name]; ok {
			text = v
		}
		if v, ok := scalar(text, env); ok {
			env[decl.Name] = v
		}
	}
	return env
}

// derive adds what the body and the header's lets define.
func (h *Header) derive(env map[string]int) {
	for _, l := range slices.Concat(h.costs.locals, h.costs.lets) {
		if _, have := env[l.Name]; have {
			continue
		}
		if v, ok := scalar(l.Default, env); ok {
			env[l.Name] = v
		}
	}
}

// textCode stands for a text in expressions, which only compare texts.
func textCode(quoted string) int { return 1<<40 + int(crc32.ChecksumIEEE([]byte(quoted))) }

func (h *Header) cost(env map[string]int, t *target.Family) (Cost, error) {
	if !h.costs.stated {
		return Cost{}, diag.New(diag.ModuleCost, "", "module %s does not state what it costs", h.Name)
	}
	maps.Copy(env, t.Names())
	h.derive(env)
	var c Cost
	lut := h.costs.lut
	if t.Inputs == 4 && h.costs.lut4.tree != nil {
		lut = h.costs.lut4
	}
	for _, f := range []struct {
		e    Expr
		into *int
	}{{lut, &c.LUT}, {h.costs.ff, &c.FF}, {h.costs.dsp, &c.DSP}, {h.costs.bram, &c.BRAM},
		{h.costs.uram, &c.URAM}} {
		if f.e.tree == nil {
			continue
		}
		v, err := f.e.Eval(env)
		if err != nil {
			return c, h.blame(err)
		}
		*f.into = v
	}
	if h.costs.parts.tree == nil {
		return c, nil
	}
	inside, err := h.parts(h.costs.parts.tree, env, t)
	return c.Add(inside), err
}

func (h *Header) blame(err error) error {
	if d, ok := err.(*diag.Error); ok {
		return d.WithNote("in the header of %s", h.Name)
	}
	return err
}

// parts evaluates a sum of instances: a + b, n * a, c ? a : b, sum(i, from, to, a), and instance names.
func (h *Header) parts(tree ast.Expr, env map[string]int, t *target.Family) (Cost, error) {
	switch x := tree.(type) {
	case *ast.ParenExpr:
		return h.parts(x.X, env, t)
	case *ast.BasicLit:
		return Cost{}, nil // 0: nothing in this case
	case *ast.BinaryExpr:
		if x.Op == token.MUL {
			n, cause := eval(x.X, env)
			if cause != "" {
				return Cost{}, h.blame(diag.New(diag.ModuleTiming, "", "cannot evaluate parts: %s", cause))
			}
			if n == 0 {
				return Cost{}, nil
			}
			c, err := h.parts(x.Y, env, t)
			return c.Times(n), err
		}
		a, err := h.parts(x.X, env, t)
		if err != nil {
			return a, err
		}
		b, err := h.parts(x.Y, env, t)
		return a.Add(b), err
	case *ast.CallExpr:
		return h.choice(x, env, t)
	case *ast.Ident:
		return h.instance(x.Name, env, t)
	case *ast.SelectorExpr:
		if m, ok := x.X.(*ast.Ident); ok {
			return h.instance(m.Name+"."+x.Sel.Name, env, t)
		}
	}
	return Cost{}, h.blame(diag.New(diag.ModuleTiming, "", "unsupported construct in parts"))
}

func (h *Header) choice(x *ast.CallExpr, env map[string]int, t *target.Family) (Cost, error) {
	chosen, err := h.chosen(x, env)
	if err != nil {
		return Cost{}, err
	}
	return h.parts(chosen, env, t)
}

// chosen is the side of c ? a : b that env chooses.
func (h *Header) chosen(x *ast.CallExpr, env map[string]int) (ast.Expr, error) {
	name, ok := x.Fun.(*ast.Ident)
	if !ok || name.Name != "cond" || len(x.Args) != 3 {
		return nil, h.blame(diag.New(diag.ModuleTiming, "", "parts take instance names, sums, multiples and choices"))
	}
	c, cause := eval(x.Args[0], env)
	switch {
	case cause != "":
		return nil, h.blame(diag.New(diag.ModuleTiming, "", "cannot evaluate parts: %s", cause))
	case c != 0:
		return x.Args[1], nil
	}
	return x.Args[2], nil
}

// instance is the cost of one instance.
func (h *Header) instance(name string, env map[string]int, t *target.Family) (Cost, error) {
	sub, inner, err := h.inside(name, env)
	if err != nil {
		return Cost{}, err
	}
	key := t.Name + " " + sub.valuesOf(inner)
	if c, known := partCosts.Load(key); known {
		return c.(Cost), nil
	}
	c, err := sub.cost(inner, t)
	if err != nil {
		return c, h.blame(err)
	}
	partCosts.Store(key, c)
	return c, nil
}

// partCosts holds the costs of modules inside others, by valuesOf: units of thousands of foldings have the same parts.
var partCosts sync.Map

// valuesOf is the name of the module and the values of its parameters, in their order.
func (h *Header) valuesOf(env map[string]int) string {
	key := make([]byte, 0, 128)
	key = append(key, h.Name...)
	for _, decl := range h.Params {
		key = append(key, ' ')
		if v, known := env[decl.Name]; known {
			key = strconv.AppendInt(key, int64(v), 16)
		}
	}
	return string(key)
}

// inside is the header of an instance and the values of its parameters; one whose text cannot be evaluated is unknown
// there, not defaulted.
func (h *Header) inside(name string, env map[string]int) (*Header, map[string]int, error) {
	in, ok := h.costs.instances[name]
	if !ok {
		return nil, nil, h.blame(diag.New(diag.ModuleTiming, "", "no instance %s", name))
	}
	sub, err := Lookup(in.Module)
	if err != nil {
		return nil, nil, err
	}
	inner, set := map[string]int{}, map[string]string{}
	for _, p := range in.Params {
		set[p.Name] = p.Value
	}
	for _, decl := range sub.Params {
		scope, text := inner, decl.Default
		if t, ok := set[decl.Name]; ok {
			scope, text = env, t
		}
		if v, ok := scalar(text, scope); ok {
			inner[decl.Name] = v
		}
	}
	return sub, inner, nil
}

// eachSum evaluates sum(i, from, to, term).
func eachSum(x *ast.CallExpr, params map[string]int) (int, string) {
	name, ok := x.Args[0].(*ast.Ident)
	if !ok {
		return 0, "sum needs a name to count with"
	}
	from, cause := eval(x.Args[1], params)
	if cause != "" {
		return 0, cause
	}
	to, cause := eval(x.Args[2], params)
	if cause != "" {
		return 0, cause
	}
	inner, total := maps.Clone(params), 0
	for i := from; i <= to; i++ {
		inner[name.Name] = i
		v, cause := eval(x.Args[3], inner)
		if cause != "" {
			return 0, cause
		}
		total += v
	}
	return total, ""
}
