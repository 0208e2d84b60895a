// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizer reads how text is normalized.
func (r *reader) normalizer(at string, raw json.RawMessage) (func(string) string, error) {
	if none(raw) {
		return chain(), nil
	}
	var p struct {
		Type         string
		Normalizers  []json.RawMessage
		CleanText    bool  `json:"clean_text"`
		Chinese      bool  `json:"handle_chinese_chars"`
		StripAccents *bool `json:"strip_accents"`
		Lowercase    bool
		StripLeft    bool `json:"strip_left"`
		StripRight   bool `json:"strip_right"`
		Prepend      string
		Pattern      pattern
		Content      string
	}
	if err := r.decode(at, raw, &p); err != nil {
		return nil, err
	}
	if f := fixed[p.Type]; f != nil {
		return f, nil
	}
	switch p.Type {
	case "Sequence":
		steps := make([]func(string) string, len(p.Normalizers))
		for i, n := range p.Normalizers {
			var err error
			if steps[i], err = r.normalizer(fmt.Sprintf("%s.normalizers[%d]", at, i), n); err != nil {
				return nil, err
			}
		}
		return chain(steps...), nil
	case "BertNormalizer":
		accents := p.Lowercase
		if p.StripAccents != nil {
			accents = *p.StripAccents
		}
		return chain(when(p.CleanText, clean), when(p.Chinese, apart), when(accents, plain), when(p.Lowercase, lower)), nil
	case "Strip":
		return chain(when(p.StripLeft, func(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) }),
			when(p.StripRight, func(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) })), nil
	case "Prepend":
		return func(s string) string {
			if s == "" {
				return s
			}
			return p.Prepend + s
		}, nil
	case "Replace":
		e, err := r.expression(at, p.Pattern)
		if err != nil {
			return nil, err
		}
		return func(s string) string { return e.replace(s, p.Content) }, nil
	}
	return nil, r.unknown(at, p.Type, "BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Prepend", "Replace",
		"Sequence", "Strip", "StripAccents")
}

// fixed are the normalizers that nothing is left to choose of.
var fixed = map[string]func(string) string{
	"Lowercase": lower, "NFC": norm.NFC.String, "NFD": norm.NFD.String, "NFKC": norm.NFKC.String, "NFKD": norm.NFKD.String,
	"StripAccents": func(s string) string { return without(s, unicode.M) },
}

func chain(steps ...func(string) string) func(string) string {
	return func(s string) string {
		for _, f := range steps {
			s = f(s)
		}
		return s
	}
}

func when(so bool, f func(string) string) func(string) string {
	if so {
		return f
	}
	return func(s string) string { return s }
}

// clean drops control characters, and makes each blank a space.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs): // not unassigned ones
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, s)
}

// ideographs are the blocks of CJK characters that BERT takes for words.
var ideographs = &unicode.RangeTable{
	R16: []unicode.Range16{{0x3400, 0x4dbf, 1}, {0x4e00, 0x9fff, 1}, {0xf900, 0xfaff, 1}},
	R32: []unicode.Range32{{0x20000, 0x2a6df, 1}, {0x2a700, 0x2b73f, 1}, {0x2b740, 0x2b81f, 1}, {0x2b920, 0x2ceaf, 1},
		{0x2f800, 0x2fa1f, 1}},
}

// apart puts blanks around ideographs.
func apart(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.Is(ideographs, r) {
			b.WriteString(" " + string(r) + " ")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain takes accents off.
func plain(s string) string { return without(norm.NFD.String(s), unicode.Mn) }

func without(s string, t *unicode.RangeTable) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(t, r) {
			return -1
		}
		return r
	}, s)
}

// lower is the lower case of each character by itself. One becomes two: I with a dot (Unicode SpecialCasing).
func lower(s string) string {
	return strings.ReplaceAll(strings.Map(func(r rune) rune {
		if r == '\u0130' {
			return r
		}
		return unicode.ToLower(r)
	}, s), "\u0130", "i\u0307")
}
