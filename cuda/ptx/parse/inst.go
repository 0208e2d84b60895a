// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"strconv"
	"strings"
)

// instruction reads a label, or a guard, an opcode and its operands.
func (p *parser) instruction() error {
	in := Inst{Guard: -1, Line: p.tok.line, From: p.from}
	if p.at("@") {
		if err := p.guard(&in); err != nil {
			return err
		}
	}
	word, err := p.take()
	if err != nil {
		return err
	}
	if p.at(":") && in.Guard < 0 {
		return p.label(word.text)
	}
	parts := strings.Split(word.text, ".")
	if parts[0] == "" || !wordByte(parts[0][0]) || strings.Contains(word.text, "..") {
		return p.lex.fault(word.line, "%q is not an opcode", word.text)
	}
	in.Op, in.Mods = parts[0], parts[1:]
	for !p.at(";") {
		o, err := p.operand(0)
		if err != nil {
			return err
		}
		in.Args = append(in.Args, o)
		if more, err := p.skip(","); err != nil {
			return err
		} else if !more && !p.at(";") {
			return p.fault("%q stands after an operand of %s", p.tok.text, word.text)
		}
	}
	p.fn.Body = append(p.fn.Body, in)
	return p.advance()
}

func (p *parser) guard(in *Inst) error {
	if err := p.advance(); err != nil {
		return err
	}
	not, err := p.skip("!")
	if err != nil {
		return err
	}
	name, err := p.take()
	if err != nil {
		return err
	}
	in.Unless = not
	if in.Guard = p.register(name.text); in.Guard < 0 || p.fn.Regs[in.Guard].Type != "pred" {
		return p.lex.fault(name.line, "%q is not a predicate", name.text)
	}
	return nil
}

// label notes where a label stands, or reads the list of labels that follows it.
func (p *parser) label(name string) error {
	if err := p.advance(); err != nil {
		return err
	}
	s := p.scopes[len(p.scopes)-1]
	if _, twice := p.fn.Labels[name]; twice || p.fn.Tables[name] != nil {
		return p.fault("label %s stands twice", name)
	}
	switch p.tok.text {
	case ".branchtargets":
		list := []string{}
		for !p.at(";") {
			var target string
			if err := p.directive(&target); err != nil {
				return err
			}
			list = append(list, target)
		}
		p.fn.Tables[name] = list
		return p.advance()
	case ".callprototype", ".calltargets":
		for !p.at(";") {
			if _, err := p.take(); err != nil {
				return err
			}
		}
		return p.advance()
	}
	s.labels[name] = true
	p.fn.Labels[name] = len(p.fn.Body)
	return nil
}

// operand reads one operand; depth counts the braces around it.
func (p *parser) operand(depth int) (Operand, error) {
	none := Operand{Reg: -1, Pair: -1}
	if depth > 2 {
		return none, p.fault("braces within braces")
	}
	switch p.tok.text {
	case "{":
		return p.group(KindVector, "}", depth)
	case "(":
		return p.group(KindList, ")", depth)
	case "[":
		return p.address(depth)
	case "!":
		if err := p.advance(); err != nil {
			return none, err
		}
		o, err := p.word()
		if err == nil && o.Kind != KindReg {
			err = p.fault("only a predicate can be negated")
		}
		o.Not = true
		return o, err
	}
	return p.word()
}

func (p *parser) group(kind Kind, end string, depth int) (Operand, error) {
	o := Operand{Kind: kind, Reg: -1, Pair: -1}
	if err := p.advance(); err != nil {
		return o, err
	}
	for !p.at(end) {
		e, err := p.operand(depth + 1)
		if err != nil {
			return o, err
		}
		o.Elems = append(o.Elems, e)
		if more, err := p.skip(","); err != nil {
			return o, err
		} else if !more && !p.at(end) {
			return o, p.fault("%q stands where %q should", p.tok.text, end)
		}
	}
	return o, p.advance()
}

// address reads [base], [base+constant] or [base, {x, y}].
func (p *parser) address(depth int) (Operand, error) {
	if err := p.advance(); err != nil {
		return Operand{}, err
	}
	o, err := p.word()
	if err != nil {
		return o, err
	}
	switch o.Kind {
	case KindReg:
	case KindInt:
		o.Reg = -1
	case KindSymbol:
	default:
		return o, p.fault("an address that begins with neither register, name nor number")
	}
	if o.Pair >= 0 {
		return o, p.fault("a pair of registers as address")
	}
	if o.Kind == KindReg {
		if o.Val, err = p.plus(); err != nil {
			return o, err
		}
	}
	o.Kind = KindAddr
	for p.at(",") {
		if err := p.advance(); err != nil {
			return o, err
		}
		e, err := p.operand(depth + 1)
		if err != nil {
			return o, err
		}
		o.Elems = append(o.Elems, e)
	}
	return o, p.want("]")
}

// plus reads what is added to a base: +8, +-8, -8.
func (p *parser) plus() (uint64, error) {
	more, err := p.skip("+")
	if err != nil || !more && !p.at("-") {
		return 0, err
	}
	v, err := p.integer()
	return uint64(v), err
}

// word reads a constant, a register, a pair of registers, or a name.
func (p *parser) word() (Operand, error) {
	minus, err := p.skip("-")
	if err != nil {
		return Operand{}, err
	}
	t, err := p.take()
	if err != nil {
		return Operand{}, err
	}
	if !wordByte(t.text[0]) {
		return Operand{}, p.lex.fault(t.line, "%s is not an operand", strconv.Quote(t.text))
	}
	if o, ok := number(t.text); ok {
		if minus {
			o, _ = negate(o)
		}
		return o, nil
	}
	o, err := p.name(t)
	if err == nil && minus {
		err = p.lex.fault(t.line, "a minus before %s", t.text)
	}
	return o, err
}

func (p *parser) name(t token) (Operand, error) {
	o := Operand{Kind: KindReg, Reg: -1, Pair: -1, Name: t.text}
	if t.text == "_" {
		o.Kind = KindSink
	} else {
		o.Reg = p.register(t.text)
	}
	if o.Kind == KindSink || o.Reg >= 0 {
		if more, err := p.skip("|"); err != nil || !more {
			return o, err
		}
		second, err := p.take()
		if err != nil {
			return o, err
		}
		if o.Pair = p.register(second.text); o.Pair < 0 && second.text != "_" {
			return o, p.lex.fault(second.line, "%q is not a register", second.text)
		}
		return o, nil
	}
	if t.text[0] == '%' {
		o.Kind = KindSpecial
		return o, nil
	}
	if c := t.text[0]; '0' <= c && c <= '9' || c == '.' {
		return o, p.lex.fault(t.line, "%q is not an operand", t.text)
	}
	o.Kind = KindSymbol
	for i := len(p.scopes) - 1; i >= 0; i-- {
		if own, ok := p.scopes[i].vars[t.text]; ok {
			o.Name = own
			break
		}
	}
	var err error
	o.Val, err = p.plus()
	return o, err
}

// resolve checks the labels of a function that has been read.
func (p *parser) resolve() error {
	known := func(line int, name string) error {
		if _, ok := p.fn.Labels[name]; !ok {
			return p.lex.fault(line, "unknown label %s in %s", name, p.fn.Name)
		}
		return nil
	}
	for _, in := range p.fn.Body {
		if in.Op == "bra" && len(in.Args) == 1 {
			if err := known(in.Line, in.Args[0].Name); err != nil {
				return err
			}
		}
		if in.Op != "brx" || len(in.Args) == 0 {
			continue
		}
		for _, target := range p.fn.Tables[in.Args[len(in.Args)-1].Name] {
			if err := known(in.Line, target); err != nil {
				return err
			}
		}
	}
	return nil
}
