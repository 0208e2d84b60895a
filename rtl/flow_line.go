// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"go/ast"
	"go/token"

	"lathe/internal/diag"
)

// Flow is how beats move through a unit, as the header of its module says; a unit without a module is a wire. A header
// without a flow line is that of a pipeline. Errors: those of Lookup, and L0603 for a line that cannot be evaluated.
func (u *Unit) Flow() (Flow, error) {
	switch {
	case u.Body != nil:
		return u.Body.flow()
	case u.Module == "":
		return nil, nil
	}
	h, env, err := u.scope()
	if err != nil {
		return nil, err
	}
	return h.flow(env, max(len(u.In), 1))
}

// Front is the beats of the FIFO that always stands in front of a unit, as the header of its module says: the unit
// takes so many in one go and then none for longer. 0: none.
func (u *Unit) Front() (int, error) {
	if u.Body != nil && u.Body.Window != nil {
		return u.Body.Window.Front()
	}
	if u.Module == "" {
		return 0, nil
	}
	h, env, err := u.scope()
	if err != nil || h.front.tree == nil {
		return 0, err
	}
	return h.value(h.front, env, func(h *Header) Expr { return h.front })
}

// Turns are, for a unit that takes its streams by turns, the beats of each that gather at most while the unit takes
// none of them, as the header of its module says; nil for other units.
func (u *Unit) Turns() ([]int, error) {
	if u.Module == "" {
		return nil, nil
	}
	h, env, err := u.scope()
	if err != nil {
		return nil, err
	}
	var beats []int
	for _, e := range h.turns {
		v, err := e.Eval(env)
		if err != nil {
			return nil, h.blame(err)
		}
		beats = append(beats, v)
	}
	return beats, nil
}

// scope is the header of the unit's module, and what its lines may name.
func (u *Unit) scope() (*Header, map[string]int, error) {
	h, err := u.read()
	if err != nil {
		return nil, nil, err
	}
	env := h.scope(u.Params)
	h.derive(env)
	return h, env, nil
}

func (h *Header) flow(env map[string]int, streams int) (Flow, error) {
	switch {
	case h.flows.tree != nil && h.flows.text == "parts":
		return h.stages(h.costs.parts.tree, env, streams)
	case h.flows.tree != nil:
		return h.stages(h.flows.tree, env, streams)
	}
	values, err := h.value(h.Latency, env, latencyOf)
	if err == nil && values < 1 {
		err = diag.New(diag.ModuleTiming, "", "a module of latency %d needs a flow line", values)
	}
	return pipeline(streams, values), h.blame(err)
}

// stages evaluates a flow line: a + b, b behind a; c ? a : b; 0, nothing; instances by name, as in parts; stages.
func (h *Header) stages(tree ast.Expr, env map[string]int, streams int) (Flow, error) {
	switch x := tree.(type) {
	case *ast.ParenExpr:
		return h.stages(x.X, env, streams)
	case *ast.BasicLit:
		return nil, nil
	case *ast.BinaryExpr:
		if x.Op != token.ADD {
			break
		}
		a, err := h.stages(x.X, env, streams)
		if err != nil {
			return nil, err
		}
		if len(a) > 0 && a[len(a)-1].Before == 0 {
			streams = 1 // what the first stage gives
		}
		b, err := h.stages(x.Y, env, streams)
		return append(a[:len(a):len(a)], b...), err
	case *ast.CallExpr:
		return h.stage(x, env, streams)
	case *ast.Ident:
		return h.within(x.Name, env, streams)
	case *ast.SelectorExpr:
		if m, ok := x.X.(*ast.Ident); ok {
			return h.within(m.Name+"."+x.Sel.Name, env, streams)
		}
	}
	return nil, h.blame(diag.New(diag.ModuleTiming, "", "unsupported construct in flow"))
}

// within is the flow of an instance inside the module.
func (h *Header) within(name string, env map[string]int, streams int) (Flow, error) {
	sub, inner, err := h.inside(name, env)
	if err != nil {
		return nil, err
	}
	sub.derive(inner)
	return sub.flow(inner, streams)
}

// stage is a choice, or one stage.
func (h *Header) stage(x *ast.CallExpr, env map[string]int, streams int) (Flow, error) {
	name, ok := x.Fun.(*ast.Ident)
	if ok && name.Name == "cond" {
		chosen, err := h.chosen(x, env)
		if err != nil {
			return nil, err
		}
		return h.stages(chosen, env, streams)
	}
	if ok && name.Name == "before" && len(x.Args) == 2 {
		return h.before(x, env, streams)
	}
	c := &compiler{header: h, env: env}
	args := make([]term, len(x.Args))
	for i, a := range x.Args {
		args[i] = c.term(a)
	}
	s := Stage{}
	at := func(i int) int { return c.constant(args, i) }
	switch {
	case !ok:
		c.fail("unsupported call in flow")
	case name.Name == "steps" && (len(args) == 4 || len(args) == 5):
		s = Stage{Kind: StageSteps, Period: at(0), Regs: at(3), Step: steps(args)}
	case name.Name == "bursts" && len(args) == 5:
		s = Stage{Kind: StageSteps, Period: at(0), Regs: at(3), Step: steps(args[:4]), Burst: at(4)}
	case name.Name == "memory" && (len(args) == 6 || len(args) == 7):
		s = Stage{Kind: StageMemory, Period: at(2), Stores: []Store{{at(0), at(1), args[3].at, args[4].at}}, Regs: at(5)}
		if len(args) == 7 {
			s.Late = at(6)
		}
	case name.Name == "memories" && len(args) == 3+4*streams:
		s = Stage{Kind: StageMemory, Period: at(0), Gives: func(s int) bool { return args[1].at(s) != 0 }, Regs: at(2)}
		for i := 3; i < len(args); i += 4 {
			s.Stores = append(s.Stores, Store{at(i), at(i + 1), args[i+2].at, args[i+3].at})
		}
	case name.Name == "columns" && len(args) == 5:
		s = Stage{Kind: StageColumns, Columns: Columns{at(0), at(1), at(2), at(3), at(4)}}
	case name.Name == "fifo" && len(args) == 1:
		s = Stage{Kind: StageFifo, N: at(0)}
	case name.Name == "widen" && len(args) == 1:
		s = Stage{Kind: StageWiden, N: at(0)}
	case name.Name == "narrow" && len(args) == 1:
		s = Stage{Kind: StageNarrow, N: at(0)}
	case name.Name == "skid" && len(args) == 0:
		s = Stage{Kind: StageSkid}
	case name.Name == "credit" && len(args) == 2:
		s = Stage{Kind: StageCredit, Regs: at(0), N: at(1)}
	case name.Name == "fork" && len(args) == 0:
		s = Stage{Kind: StageFork}
	default:
		c.fail("no stage " + name.Name + " of so many arguments")
	}
	if c.cause != "" {
		return nil, h.blame(diag.New(diag.ModuleTiming, "", "cannot evaluate flow: %s", c.cause))
	}
	return Flow{s}, nil
}

// before is before(i, flow): stages that only stream i of the module goes through.
func (h *Header) before(x *ast.CallExpr, env map[string]int, streams int) (Flow, error) {
	c := &compiler{header: h, env: env}
	i := c.constant([]term{c.term(x.Args[0])}, 0)
	if c.cause != "" || i < 0 || i >= streams {
		return nil, h.blame(diag.New(diag.ModuleTiming, "", "cannot evaluate flow: no stream %d of %d %s", i, streams,
			c.cause))
	}
	f, err := h.stages(x.Args[1], env, 1)
	f = append(Flow(nil), f...)
	for k := range f {
		f[k].Before = i + 1
	}
	return f, err
}

// tabled is the longest period whose steps are computed once.
const tabled = 1 << 12

// steps is the Step function of steps(period, take, give, regs[, free]).
func steps(args []term) func(s int) Step {
	one := func(s int) Step {
		return Step{Take: uint(args[1].at(s)), Give: args[2].at(s) != 0, Free: len(args) == 5 && args[4].at(s) != 0}
	}
	if n := args[0].value; n <= tabled {
		table := make([]Step, max(n, 0))
		for s := range table {
			table[s] = one(s)
		}
		return func(s int) Step { return table[s] }
	}
	return one
}
