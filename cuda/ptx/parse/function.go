// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"fmt"
	"strconv"
	"strings"
)

// function reads ".entry name(...) {...}" or ".func (...) name(...) {...}"; one without a body is passed over.
func (p *parser) function() error {
	p.from = Place{}
	f := &Func{Entry: p.at(".entry"), Line: p.tok.line, Labels: map[string]int{}, Tables: map[string][]string{}}
	p.fn, p.scopes = f, nil
	if err := p.advance(); err != nil {
		return err
	}
	if p.at("(") {
		if err := p.params(&f.Returns); err != nil {
			return err
		}
	}
	name, err := p.take()
	if err != nil {
		return err
	}
	f.Name = name.text
	if p.at("(") {
		if err := p.params(&f.Params); err != nil {
			return err
		}
	}
	for !p.at("{") {
		if p.at(";") {
			return p.advance()
		}
		if err := p.performance(); err != nil {
			return err
		}
	}
	if err := p.block(); err != nil {
		return err
	}
	p.mod.Funcs = append(p.mod.Funcs, f)
	return p.resolve()
}

// params reads a list of parameters in parentheses.
func (p *parser) params(into *[]*Var) error {
	if err := p.advance(); err != nil {
		return err
	}
	for !p.at(")") {
		if !p.at(".param") {
			return p.fault("%q stands where a parameter should", p.tok.text)
		}
		v, err := p.variable()
		if err != nil {
			return err
		}
		*into = append(*into, v)
		if _, err := p.skip(","); err != nil {
			return err
		}
	}
	return p.advance()
}

// performance reads a directive such as .maxntid between the head of a function and its body.
func (p *parser) performance() error {
	what, err := p.take()
	if err != nil {
		return err
	}
	if !strings.HasPrefix(what.text, ".") {
		return p.lex.fault(what.line, "%q stands where the body of %s should", what.text, p.fn.Name)
	}
	if what.text == ".pragma" {
		if _, err := p.take(); err != nil {
			return err
		}
		return p.want(";")
	}
	size := [3]uint32{1, 1, 1}
	seen := 0
	for p.tok.text != "" && '0' <= p.tok.text[0] && p.tok.text[0] <= '9' {
		n, err := p.integer()
		if err != nil {
			return err
		}
		if n < 0 || n > 1<<31 || seen == 3 {
			return p.fault("%s with %d", what.text, n)
		}
		size[seen] = uint32(n)
		seen++
		if _, err := p.skip(","); err != nil {
			return err
		}
	}
	if seen > 0 && (what.text == ".maxntid" || what.text == ".reqntid") {
		p.fn.MaxThreads = size
	}
	return nil
}

// block reads a body or an inner pair of braces.
func (p *parser) block() error {
	if len(p.scopes) > maxDepth {
		return p.fault("braces within braces")
	}
	s := &scope{regs: map[string]int{}, ranges: map[string]regRange{}, vars: map[string]string{}}
	s.labels, s.from = map[string]bool{}, len(p.fn.Body)
	p.scopes = append(p.scopes, s)
	if err := p.want("{"); err != nil {
		return err
	}
	for !p.at("}") {
		if err := p.statement(); err != nil {
			return err
		}
	}
	p.scopes = p.scopes[:len(p.scopes)-1]
	if len(p.scopes) > 0 {
		p.ownLabels(s)
	}
	return p.advance()
}

// ownLabels gives the labels of an inner scope names that no other scope can use.
func (p *parser) ownLabels(s *scope) {
	if len(s.labels) == 0 {
		return
	}
	p.serial++
	for name := range s.labels {
		own := fmt.Sprintf("%s'%d", name, p.serial)
		p.fn.Labels[own] = p.fn.Labels[name]
		delete(p.fn.Labels, name)
		for i := s.from; i < len(p.fn.Body); i++ {
			for k := range p.fn.Body[i].Args {
				if o := &p.fn.Body[i].Args[k]; o.Kind == KindSymbol && o.Name == name {
					o.Name = own
				}
			}
		}
	}
}

func (p *parser) statement() error {
	switch p.tok.text {
	case "{":
		return p.block()
	case ";":
		return p.advance()
	case ".reg":
		return p.registers()
	case ".loc", ".file", ".pragma":
		return p.debug()
	case ".shared", ".local", ".param", ".global", ".const":
		v, err := p.variable()
		if err != nil {
			return err
		}
		inner := p.scopes[len(p.scopes)-1]
		own := v.Name
		if len(p.scopes) > 1 {
			p.serial++
			own = fmt.Sprintf("%s'%d", v.Name, p.serial)
		}
		inner.vars[v.Name] = own
		v.Name = own
		p.fn.Vars = append(p.fn.Vars, v)
		return p.want(";")
	}
	return p.instruction()
}

// registers reads ".reg .b32 %r<128>, a, b;".
func (p *parser) registers() error {
	var kind string
	if err := p.directive(&kind); err != nil {
		return err
	}
	kind = strings.TrimPrefix(kind, ".")
	if _, ok := typeSize(kind); !ok && kind != "pred" {
		return p.fault("registers of type %q", kind)
	}
	s := p.scopes[len(p.scopes)-1]
	for {
		name, err := p.take()
		if err != nil {
			return err
		}
		if !wordByte(name.text[0]) {
			return p.fault("%q is not a register name", name.text)
		}
		count := int64(-1)
		if more, err := p.skip("<"); err != nil {
			return err
		} else if more {
			if count, err = p.integer(); err != nil {
				return err
			}
			if err := p.want(">"); err != nil {
				return err
			}
		}
		if count > maxRegs || len(p.fn.Regs) > maxRegs {
			return p.fault("%d registers", count)
		}
		p.declare(s, name.text, kind, int(count))
		if more, err := p.skip(","); err != nil {
			return err
		} else if !more {
			return p.want(";")
		}
	}
}

// declare adds one register, or a numbered range of count registers where count is not negative.
func (p *parser) declare(s *scope, name, kind string, count int) {
	base := len(p.fn.Regs)
	if count < 0 {
		s.regs[name] = base
		p.fn.Regs = append(p.fn.Regs, Reg{Name: name, Type: kind})
		return
	}
	s.ranges[name] = regRange{base: base, count: count}
	for i := range count {
		p.fn.Regs = append(p.fn.Regs, Reg{Name: name + strconv.Itoa(i), Type: kind})
	}
}

// register finds a register by name, innermost scope first; -1 if there is none.
func (p *parser) register(name string) int {
	stem := strings.TrimRight(name, "0123456789")
	n, err := strconv.Atoi(name[len(stem):])
	ranged := err == nil && strconv.Itoa(n) == name[len(stem):]
	for i := len(p.scopes) - 1; i >= 0; i-- {
		if r, ok := p.scopes[i].regs[name]; ok {
			return r
		}
		if r, ok := p.scopes[i].ranges[stem]; ok && ranged && n < r.count {
			return r.base + n
		}
	}
	return -1
}
