// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"encoding/binary"
	"math"
	"strings"
)

// variable reads ".space .align 16 .b8 name[64] = {...}" without the stop behind it.
func (p *parser) variable() (*Var, error) {
	v := &Var{Line: p.tok.line, Space: strings.TrimPrefix(p.tok.text, ".")}
	if err := p.advance(); err != nil {
		return nil, err
	}
	vector, err := p.attributes(v)
	if err != nil {
		return nil, err
	}
	name, err := p.take()
	if err != nil {
		return nil, err
	}
	v.Name = name.text
	if !wordByte(v.Name[0]) || v.Name[0] == '.' {
		return nil, p.fault("%q is not a variable name", v.Name)
	}
	size, ok := typeSize(v.Type)
	if !ok {
		return nil, p.fault("variable %s has no type that is known", v.Name)
	}
	v.Align = max(v.Align, size*vector)
	if v.Size, err = p.dimensions(size * vector); err != nil {
		return nil, err
	}
	if start, err := p.skip("="); err != nil || !start {
		return v, err
	}
	return v, p.initial(v, size)
}

// attributes reads what stands between a space and a name; it returns the length of a vector.
func (p *parser) attributes(v *Var) (int64, error) {
	vector := int64(1)
	pointer := false // what follows is said of what a parameter points to
	for strings.HasPrefix(p.tok.text, ".") {
		word := p.tok.text[1:]
		if err := p.advance(); err != nil {
			return 0, err
		}
		switch word {
		case "align":
			n, err := p.integer()
			if err != nil {
				return 0, err
			}
			if n <= 0 || n > 1<<16 || n&(n-1) != 0 {
				return 0, p.fault("an alignment of %d", n)
			}
			if !pointer {
				v.Align = n
			}
		case "v2":
			vector = 2
		case "v4":
			vector = 4
		case "ptr":
			pointer = true
		case "global", "const", "shared", "local", "param", "managed", "unified":
		default:
			if v.Type != "" {
				return 0, p.fault("a variable has the types %s and %s", v.Type, word)
			}
			v.Type = word
		}
	}
	return vector, nil
}

// dimensions reads [4][16] and returns the bytes that the variable has.
func (p *parser) dimensions(size int64) (int64, error) {
	for p.at("[") {
		if err := p.advance(); err != nil {
			return 0, err
		}
		if open, err := p.skip("]"); err != nil || open {
			size = 0
			if err != nil {
				return 0, err
			}
			continue
		}
		n, err := p.integer()
		if err != nil {
			return 0, err
		}
		if n < 0 || n > maxSize || size*n > maxSize {
			return 0, p.fault("a variable of %d times %d bytes", n, size)
		}
		size *= n
		if err := p.want("]"); err != nil {
			return 0, err
		}
	}
	return size, nil
}

// initial reads what a variable holds at the beginning.
func (p *parser) initial(v *Var, size int64) error {
	if v.Size > maxInit {
		return p.fault("an initialised variable of %d bytes", v.Size)
	}
	v.Init = make([]byte, v.Size)
	at := int64(0)
	for depth := 0; ; {
		switch {
		case p.at("{"):
			depth++
		case p.at("}"):
			depth--
		case p.at(",") && depth > 0:
		default:
			if at+size > int64(len(v.Init)) {
				return p.fault("variable %s has more values than room", v.Name)
			}
			if err := p.value(v, at, size); err != nil {
				return err
			}
			at += size
			if depth == 0 {
				return nil
			}
			continue
		}
		if depth > maxDepth {
			return p.fault("braces within braces")
		}
		if err := p.advance(); err != nil || depth <= 0 {
			return err
		}
		if p.tok.text == "" {
			return p.fault("the text ends too early")
		}
	}
}

// value reads one number or address into v at an offset.
func (p *parser) value(v *Var, at, size int64) error {
	minus, err := p.skip("-")
	if err != nil {
		return err
	}
	t, err := p.take()
	if err != nil {
		return err
	}
	o, ok := number(t.text)
	if !ok {
		return p.reference(v, at, size, t.text)
	}
	if minus {
		o, _ = negate(o)
	}
	if o.Kind == KindF64 && size == 4 {
		o.Val = uint64(math.Float32bits(float32(math.Float64frombits(o.Val))))
	}
	var word [16]byte
	binary.LittleEndian.PutUint64(word[:], o.Val)
	copy(v.Init[at:at+size], word[:])
	return nil
}

// reference reads symbol, generic(symbol), and what is added to it.
func (p *parser) reference(v *Var, at, size int64, name string) error {
	r := Ref{Offset: at, Size: size, Symbol: name}
	if name == "generic" && p.at("(") {
		r.Generic = true
		var inner string
		if err := p.directive(&inner); err != nil {
			return err
		}
		r.Symbol = inner
		if err := p.want(")"); err != nil {
			return err
		}
	}
	if r.Symbol == "" || !wordByte(r.Symbol[0]) {
		return p.fault("%q is not a value", r.Symbol)
	}
	plus, err := p.skip("+")
	if err != nil {
		return err
	}
	if plus || p.at("-") {
		if r.Add, err = p.integer(); err != nil {
			return err
		}
	}
	v.Refs = append(v.Refs, r)
	return nil
}
