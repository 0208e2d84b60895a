// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// limits that no sound module reaches; they bound what broken text can make the parser do.
const (
	maxRegs  = 1 << 17
	maxSize  = 1 << 32
	maxInit  = 1 << 24
	maxDepth = 64
)

type parser struct {
	lex lexer
	tok token // the next one
	mod *Module
	fn  *Func // that being read
	// scopes of the function, innermost last.
	scopes []*scope
	// serial makes the names of variables and labels of inner scopes unique.
	serial int
	// from is the line of the source that the last .loc named.
	from Place
}

// scope is what a pair of braces declares.
type scope struct {
	regs   map[string]int
	ranges map[string]regRange
	vars   map[string]string // name to unique name
	labels map[string]bool
	from   int // index of the first instruction inside
}

type regRange struct{ base, count int }

// Parse reads the text of a module. name stands in messages. Errors are diag.Errors with code L0960.
func Parse(name string, src []byte) (*Module, error) {
	text := string(src)
	p := &parser{lex: lexer{name: name, src: text, line: 1}, mod: &Module{Name: name}}
	p.mod.Lines = strings.Split(text, "\n")
	if err := p.advance(); err != nil {
		return nil, err
	}
	for p.tok.text != "" {
		if err := p.top(); err != nil {
			return nil, err
		}
	}
	if p.mod.Version == "" || p.mod.Target == "" {
		return nil, p.fault("this is not PTX: no .version and .target")
	}
	return p.mod, nil
}

func (p *parser) fault(msg string, args ...any) *diag.Error {
	return p.lex.fault(p.tok.line, msg, args...)
}

func (p *parser) advance() error {
	t, err := p.lex.next()
	p.tok = t
	return err
}

// take returns the next token and moves on.
func (p *parser) take() (token, error) {
	t := p.tok
	if t.text == "" {
		return t, p.fault("the text ends too early")
	}
	return t, p.advance()
}

func (p *parser) at(text string) bool { return p.tok.text == text }

// skip takes the next token if it is text.
func (p *parser) skip(text string) (bool, error) {
	if !p.at(text) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) want(text string) error {
	if !p.at(text) {
		return p.fault("%q stands where %q should", p.tok.text, text)
	}
	return p.advance()
}

// integer takes a constant, with its sign.
func (p *parser) integer() (int64, error) {
	minus, err := p.skip("-")
	if err != nil {
		return 0, err
	}
	t, err := p.take()
	if err != nil {
		return 0, err
	}
	o, ok := number(t.text)
	if !ok || o.Kind != KindInt {
		return 0, p.lex.fault(t.line, "%q is not an integer", t.text)
	}
	if minus {
		return -int64(o.Val), nil
	}
	return int64(o.Val), nil
}

// top reads one directive of module scope.
func (p *parser) top() error {
	switch p.tok.text {
	case ".version":
		return p.directive(&p.mod.Version)
	case ".target":
		if err := p.directive(&p.mod.Target); err != nil {
			return err
		}
		for p.at(",") {
			var other string
			if err := p.directive(&other); err != nil {
				return err
			}
		}
		return nil
	case ".address_size":
		var size string
		if err := p.directive(&size); err != nil {
			return err
		}
		if size != "64" {
			return p.fault("addresses have %s bits, not 64", size)
		}
		return nil
	case ".file", ".loc", ".section", ".pragma":
		return p.debug()
	case ";":
		return p.advance()
	}
	return p.declaration()
}

// directive takes a directive and stores the word behind it.
func (p *parser) directive(into *string) error {
	if err := p.advance(); err != nil {
		return err
	}
	t, err := p.take()
	*into = t.text
	return err
}

// debug passes what says where code came from.
func (p *parser) debug() error {
	what, err := p.take()
	if err != nil {
		return err
	}
	switch what.text {
	case ".pragma":
		if _, err := p.take(); err != nil {
			return err
		}
		return p.want(";")
	case ".section":
		for !p.at("}") {
			if _, err := p.take(); err != nil {
				return err
			}
		}
		return p.advance()
	case ".file":
		number, err := p.integer()
		if err != nil {
			return err
		}
		name, err := p.take()
		if err != nil {
			return err
		}
		p.mod.name(number, strings.Trim(name.text, `"`))
	default:
		file, err := p.integer()
		if err != nil {
			return err
		}
		line, err := p.integer()
		if err != nil {
			return err
		}
		if p.from = (Place{int(file), int(line)}); p.from.File < 0 || p.from.File >= maxFiles {
			p.from = Place{}
		}
		if _, err := p.integer(); err != nil {
			return err
		}
	}
	return p.debugTail()
}

// maxFiles bounds the numbers of files.
const maxFiles = 1 << 10

// name gives a file its number.
func (m *Module) name(number int64, name string) {
	if number < 0 || number >= maxFiles {
		return
	}
	for int64(len(m.Files)) <= number {
		m.Files = append(m.Files, "")
	}
	m.Files[number] = name
}

func (p *parser) integers(n int) error {
	for range n {
		if _, err := p.integer(); err != nil {
			return err
		}
	}
	return nil
}

// debugTail passes ", function_name x, inlined_at 1 2 3" and the size and time of a file.
func (p *parser) debugTail() error {
	for p.at(",") {
		if err := p.advance(); err != nil {
			return err
		}
		switch p.tok.text {
		case "function_name":
			var name string
			if err := p.directive(&name); err != nil {
				return err
			}
			if plus, err := p.skip("+"); err != nil {
				return err
			} else if plus {
				if _, err := p.integer(); err != nil {
					return err
				}
			}
		case "inlined_at":
			if err := p.advance(); err != nil {
				return err
			}
			if err := p.integers(3); err != nil {
				return err
			}
		default:
			if _, err := p.integer(); err != nil {
				return err
			}
		}
	}
	return nil
}

// declaration reads a function or a variable of module scope.
func (p *parser) declaration() error {
	extern := false
	for {
		switch p.tok.text {
		case ".visible", ".weak", ".common":
		case ".extern":
			extern = true
		case ".entry", ".func":
			return p.function()
		case ".global", ".const", ".shared":
			v, err := p.variable()
			if err != nil {
				return err
			}
			v.Extern = extern
			p.mod.Vars = append(p.mod.Vars, v)
			return p.want(";")
		default:
			return p.fault("unknown directive %s", strconv.Quote(p.tok.text))
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
}
