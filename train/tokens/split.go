// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitter cuts text into words.
type splitter func(string) []string

// splitter reads how text is cut into words.
func (r *reader) splitter(at string, raw json.RawMessage) (splitter, error) {
	if none(raw) {
		return func(s string) []string { return []string{s} }, nil
	}
	var p struct {
		Type       string
		Steps      []json.RawMessage `json:"pretokenizers"`
		AddPrefix  bool              `json:"add_prefix_space"`
		UseRegex   *bool             `json:"use_regex"`
		Pattern    pattern
		Behavior   string
		Invert     bool
		Individual bool `json:"individual_digits"`
	}
	if err := r.decode(at, raw, &p); err != nil {
		return nil, err
	}
	switch p.Type {
	case "Sequence":
		steps := make([]splitter, len(p.Steps))
		for i, s := range p.Steps {
			var err error
			if steps[i], err = r.splitter(fmt.Sprintf("%s.pretokenizers[%d]", at, i), s); err != nil {
				return nil, err
			}
		}
		return inTurn(steps...), nil
	case "BertPreTokenizer":
		return inTurn(strings.Fields, func(s string) []string { return alone(s, bertPunctuation) }), nil
	case "WhitespaceSplit":
		return strings.Fields, nil
	case "Whitespace":
		return func(s string) []string { return runs(s, ofWord) }, nil
	case "Digits":
		if p.Individual {
			return func(s string) []string { return alone(s, unicode.IsNumber) }, nil
		}
		return func(s string) []string { return groups(s, unicode.IsNumber) }, nil
	case "ByteLevel":
		return byteLevel(p.AddPrefix, p.UseRegex == nil || *p.UseRegex), nil
	case "Split":
		e, err := r.expression(at, p.Pattern)
		if err != nil {
			return nil, err
		}
		if p.Behavior != "Isolated" && p.Behavior != "Removed" {
			return nil, r.bad(at, "the behavior %q is none of Isolated and Removed", p.Behavior)
		}
		return func(s string) []string { return e.split(s, p.Behavior == "Removed", p.Invert) }, nil
	}
	return nil, r.unknown(at, p.Type, "BertPreTokenizer", "ByteLevel", "Digits", "Sequence", "Split", "Whitespace",
		"WhitespaceSplit")
}

// inTurn cuts by each splitter what the one before has left.
func inTurn(steps ...splitter) splitter {
	return func(s string) []string {
		words := []string{s}
		for _, f := range steps {
			var next []string
			for _, w := range words {
				if w != "" {
					next = append(next, f(w)...)
				}
			}
			words = next
		}
		return words
	}
}

// bertPunctuation are marks of Unicode, and all of ASCII that is neither letter, digit, blank nor control.
func bertPunctuation(r rune) bool {
	return unicode.IsPunct(r) || r < 0x80 && unicode.IsSymbol(r)
}

// alone makes each character of a kind a word.
func alone(s string, kind func(rune) bool) []string {
	var out []string
	for s != "" {
		i := strings.IndexFunc(s, kind)
		if i < 0 {
			return append(out, s)
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		out = append(out, s[:i], s[i:i+n])
		s = s[i+n:]
	}
	return out
}

// groups cuts where characters of a kind begin and end.
func groups(s string, kind func(rune) bool) []string {
	var out []string
	from, was := 0, false
	for i, r := range s {
		if is := kind(r); i > 0 && is != was {
			out, from, was = append(out, s[from:i]), i, is
		} else {
			was = is
		}
	}
	return append(out, s[from:])
}

// runs are runs of characters of a kind, and of others that are not blank.
func runs(s string, kind func(rune) bool) []string {
	var out []string
	for _, w := range strings.Fields(s) {
		out = append(out, groups(w, kind)...)
	}
	return out
}

// gpt2 is the expression of GPT-2: contractions, words, numbers and marks with a blank in front, and blanks, of which
// the last one belongs to what follows.
var gpt2 = must(`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`)

func byteLevel(prefix, cut bool) splitter {
	return func(s string) []string {
		if prefix && !strings.HasPrefix(s, " ") {
			s = " " + s
		}
		words := []string{s}
		if cut {
			words = gpt2.split(s, false, false)
		}
		for i, w := range words {
			var b strings.Builder
			for _, c := range []byte(w) {
				b.WriteRune(alphabet[c])
			}
			words[i] = b.String()
		}
		return words
	}
}

// alphabet is a visible character for each byte, as GPT-2 has them: its own where it has one, else those from 256 on.
var alphabet = func() (a [256]rune) {
	next := rune(256)
	for b := range rune(256) {
		if b >= '!' && b <= '~' || b >= 0xa1 && b != 0xad {
			a[b] = b
		} else {
			a[b] = next
			next++
		}
	}
	return a
}()
