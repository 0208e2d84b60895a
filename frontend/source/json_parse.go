// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"lathe/internal/diag"
)

// jsonParser is a place in a JSON text.
type jsonParser struct {
	file  string
	data  []byte
	at    int
	limit int // of values that may still come
}

func (p *jsonParser) fail(msg string, args ...any) *diag.Error {
	pos := p.file + ": byte " + strconv.Itoa(p.at)
	if p.file == "" {
		pos = "byte " + strconv.Itoa(p.at)
	}
	return diag.New(diag.ModelBroken, pos, msg, args...)
}

// found names what stands at the place.
func (p *jsonParser) found() string {
	if p.at >= len(p.data) {
		return "the end of the text"
	}
	r, _ := utf8.DecodeRune(p.data[p.at:])
	return strconv.QuoteRune(r)
}

func (p *jsonParser) space() {
	for p.at < len(p.data) {
		switch p.data[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// peek is the next byte behind spaces, 0 at the end.
func (p *jsonParser) peek() byte {
	if p.space(); p.at < len(p.data) {
		return p.data[p.at]
	}
	return 0
}

// value reads one value into v, at a depth of nesting.
func (p *jsonParser) value(v *JSON, depth int) (err error) {
	if p.limit--; p.limit < 0 {
		return diag.New(diag.ModelLimit, p.file, "the JSON text holds too many values")
	}
	switch c := p.peek(); {
	case c == '{' || c == '[':
		if depth >= maxJSONDepth {
			return diag.New(diag.ModelLimit, p.file, "the JSON text is nested more than %d deep", maxJSONDepth)
		}
		return p.items(v, c, depth)
	case c == '"':
		v.Kind = JSONString
		v.text, err = p.str()
		return err
	case c == '-' || c >= '0' && c <= '9':
		v.Kind = JSONNumber
		v.text, err = p.number()
		return err
	}
	for _, w := range []struct {
		word string
		kind JSONKind
		text string
	}{{"true", JSONBool, "true"}, {"false", JSONBool, ""}, {"null", JSONNull, ""}} {
		if len(p.data)-p.at >= len(w.word) && string(p.data[p.at:p.at+len(w.word)]) == w.word {
			p.at += len(w.word)
			v.Kind, v.text = w.kind, w.text
			return nil
		}
	}
	return p.fail("%s where a value is needed", p.found())
}

// items reads a list or an object, whose opening bracket is open.
func (p *jsonParser) items(v *JSON, open byte, depth int) error {
	v.Kind = JSONArray
	end := byte(']')
	if open == '{' {
		v.Kind, end = JSONObject, '}'
	}
	p.at++
	if p.peek() == end {
		p.at++
		return nil
	}
	for {
		key := ""
		if v.Kind == JSONObject {
			var err error
			if key, err = p.key(v); err != nil {
				return err
			}
		}
		v.Items = append(v.Items, JSON{Key: key})
		if err := p.value(&v.Items[len(v.Items)-1], depth+1); err != nil {
			return err
		}
		c := p.peek()
		p.at++
		if c == end {
			break
		}
		if c != ',' {
			p.at--
			return p.fail("%s where a comma or %q is needed", p.found(), end)
		}
	}
	v.adopt()
	return nil
}

// adopt tells the values where they stand, once they stay there.
func (v *JSON) adopt() {
	for i := range v.Items {
		item := &v.Items[i]
		item.parent = v
		for j := range item.Items { // item was moved
			item.Items[j].parent = item
		}
	}
}

// key reads the name of the next value of an object, and the colon.
func (p *jsonParser) key(v *JSON) (string, error) {
	if p.peek() != '"' {
		return "", p.fail("%s where a name in quotes is needed", p.found())
	}
	at := p.at
	key, err := p.str()
	if err != nil {
		return "", err
	}
	if v.Get(key) != nil {
		p.at = at
		return "", diag.New(diag.DuplicateName, p.fail("").Pos, "the name %s occurs twice in an object", Quote(key))
	}
	if v.index == nil && len(v.Items) == indexed {
		v.index = make(map[string]int, 2*indexed)
		for i := range v.Items {
			v.index[v.Items[i].Key] = i
		}
	}
	if v.index != nil {
		v.index[key] = len(v.Items)
	}
	if p.peek() != ':' {
		return "", p.fail("%s where a colon is needed", p.found())
	}
	p.at++
	return key, nil
}

// number reads a number as RFC 8259 writes it.
func (p *jsonParser) number() (string, error) {
	start := p.at
	digits := func() bool {
		from := p.at
		for p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '9' {
			p.at++
		}
		return p.at > from
	}
	is := func(set string) bool {
		for i := range len(set) {
			if p.at < len(p.data) && p.data[p.at] == set[i] {
				p.at++
				return true
			}
		}
		return false
	}
	is("-")
	zero := p.at < len(p.data) && p.data[p.at] == '0'
	first := p.at
	ok := digits() && (!zero || p.at == first+1)
	if ok && is(".") {
		ok = digits()
	}
	if ok && is("eE") {
		is("+-")
		ok = digits()
	}
	if !ok {
		return "", p.fail("the number that begins at byte %d is broken", start)
	}
	return string(p.data[start:p.at]), nil
}

// str reads a string in quotes.
func (p *jsonParser) str() (string, error) {
	start := p.at
	p.at++
	from := p.at
	for p.at < len(p.data) { // most strings have no escapes
		c := p.data[p.at]
		if c == '\\' || c < ' ' {
			break
		}
		p.at++
		if c == '"' {
			return p.text(start, p.data[from:p.at-1])
		}
	}
	out := append([]byte(nil), p.data[from:p.at]...)
	for p.at < len(p.data) {
		c := p.data[p.at]
		p.at++
		switch {
		case c == '"':
			return p.text(start, out)
		case c < ' ':
			p.at--
			return "", p.fail("a control character in a string")
		case c != '\\':
			out = append(out, c)
		default:
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		}
	}
	return "", p.fail("the string that begins at byte %d does not end", start)
}

// text refuses strings that are not UTF-8.
func (p *jsonParser) text(start int, b []byte) (string, error) {
	if !utf8.Valid(b) {
		return "", p.fail("the string that begins at byte %d is not UTF-8", start)
	}
	return string(b), nil
}

// escape reads what follows a backslash. Halves of surrogate pairs that stand alone become U+FFFD.
func (p *jsonParser) escape() (rune, error) {
	if p.at >= len(p.data) {
		return 0, p.fail("the text ends in a string")
	}
	c := p.data[p.at]
	p.at++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		r, err := p.hex()
		if err != nil || !utf16.IsSurrogate(r) {
			return r, err
		}
		if at := p.at; at+1 < len(p.data) && p.data[at] == '\\' && p.data[at+1] == 'u' {
			p.at += 2
			low, err := p.hex()
			if pair := utf16.DecodeRune(r, low); err != nil || pair != utf8.RuneError {
				return pair, err
			}
			p.at = at
		}
		return utf8.RuneError, nil
	}
	p.at -= 2
	return 0, p.fail("an unknown escape in a string")
}

// hex reads four hexadecimal digits.
func (p *jsonParser) hex() (rune, error) {
	if p.at+4 > len(p.data) {
		return 0, p.fail("the text ends in a string")
	}
	n, err := strconv.ParseUint(string(p.data[p.at:p.at+4]), 16, 16)
	if err != nil {
		return 0, p.fail("%q are not four hexadecimal digits", p.data[p.at:p.at+4])
	}
	p.at += 4
	return rune(n), nil
}
