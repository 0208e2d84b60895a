// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// added is a token that is found in the text as it stands, before words are made.
type added struct {
	ID         int64
	Content    string
	SingleWord bool `json:"single_word"`
	LStrip     bool
	RStrip     bool
	Normalized bool
	Special    bool
}

// finder finds added tokens, the longest at each place.
type finder struct {
	byFirst map[byte][]added // the longest first
}

// found is a token, or text between tokens where token is -1.
type found struct {
	token int64
	text  string
}

func newFinder(all []added) finder {
	f := finder{map[byte][]added{}}
	for _, a := range all {
		if a.Content != "" {
			f.byFirst[a.Content[0]] = append(f.byFirst[a.Content[0]], a)
		}
	}
	for _, s := range f.byFirst {
		slices.SortStableFunc(s, func(x, y added) int { return cmp.Compare(len(y.Content), len(x.Content)) })
	}
	return f
}

// find cuts a text at added tokens; blanks beside them go with those that take them.
func (f finder) find(text string) []found {
	var out []found
	from := 0 // of what is not given out
	for at := 0; at < len(text); at++ {
		i := slices.IndexFunc(f.byFirst[text[at]], func(a added) bool { return strings.HasPrefix(text[at:], a.Content) })
		if i < 0 {
			continue
		}
		a := f.byFirst[text[at]][i]
		start, end := at, at+len(a.Content)
		at = end - 1
		if a.SingleWord && (wordEnds(text[:start]) || wordBegins(text[end:])) {
			continue
		}
		if a.LStrip {
			start = max(len(strings.TrimRightFunc(text[:start], unicode.IsSpace)), from)
		}
		if a.RStrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if from < start {
			out = append(out, found{-1, text[from:start]})
		}
		out = append(out, found{a.ID, ""})
		from = end
	}
	if from < len(text) {
		out = append(out, found{-1, text[from:]})
	}
	return out
}

// ofWord says that a character belongs to a word (Unicode UTS 18, annex C).
func ofWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic,
		unicode.Join_Control)
}

func wordEnds(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && ofWord(r)
}

func wordBegins(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && ofWord(r)
}
