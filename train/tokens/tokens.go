// SPDX-License-Identifier: Apache-2.0

// Package tokens turns text into token numbers as a tokenizer.json of the library tokenizers (Hugging Face) says:
// WordPiece, and byte-pair encoding of bytes or characters.
package tokens

import (
	"slices"
	"strings"
)

// Tokenizer reads text in five steps: added tokens are found, what is left is normalized and split into words, a model
// turns words into tokens, and a frame puts special tokens around them.
type Tokenizer struct {
	raw, normal finder // added tokens, found before and behind normalization
	normalize   func(string) string
	split       splitter
	model       model
	single      []slot // the frame of one text
	both        []slot // of two
	// Pad is the token that fills sequences, PadLeft says that it does so in front.
	Pad     int64
	PadLeft bool
	size    int64
}

// model turns a word into tokens, which it appends.
type model interface {
	tokens(word string, out []int64) []int64
}

// Size is the largest token number plus one.
func (t *Tokenizer) Size() int64 { return t.size }

// Tokens are the tokens of a text or a pair of texts.
type Tokens struct {
	IDs []int64
	// Types are 0 or 1 by token: BERT tells two texts apart by them.
	Types []int64
	// Mask is 1 by token, and 0 where a sequence is filled.
	Mask []int64
}

// slot is a place in a frame: a token, or one of the texts.
type slot struct {
	token int64
	text  int // 0 or 1; -1 for a token
	kind  int64
}

// Encode gives the tokens of a text, or of a pair of texts, with special tokens. They are cut to at most the given
// number, of a pair the longer text first; 0 is no bound.
func (t *Tokenizer) Encode(most int, texts ...string) Tokens {
	frame := t.single
	if len(texts) == 2 {
		frame = t.both
	}
	parts := make([][]int64, len(texts))
	for i, text := range texts {
		parts[i] = t.numbers(text)
	}
	if most > 0 {
		cut(parts, max(most-special(frame), 0))
	}
	var out Tokens
	add := func(id, kind int64) {
		out.IDs, out.Types, out.Mask = append(out.IDs, id), append(out.Types, kind), append(out.Mask, 1)
	}
	for _, s := range frame {
		if s.text < 0 {
			add(s.token, s.kind)
			continue
		}
		for _, id := range parts[s.text] {
			add(id, s.kind)
		}
	}
	if most > 0 && len(out.IDs) > most { // a frame that is longer than the bound
		out = Tokens{out.IDs[:most], out.Types[:most], out.Mask[:most]}
	}
	return out
}

// Special is the number of tokens that a text gets beside its own.
func (t *Tokenizer) Special() int { return special(t.single) }

func special(frame []slot) int {
	n := 0
	for _, s := range frame {
		if s.text < 0 {
			n++
		}
	}
	return n
}

// cut shortens texts to a number of tokens in all: the longer one first, both to half where both are longer.
func cut(parts [][]int64, most int) {
	if len(parts) == 1 {
		parts[0] = parts[0][:min(most, len(parts[0]))]
		return
	}
	short, long := len(parts[0]), len(parts[1])
	if short+long <= most {
		return
	}
	swap := short > long
	if swap {
		short, long = long, short
	}
	if long = max(short, most-short); short > most || short+long > most {
		short = most / 2
		long = short + most%2
	}
	if swap {
		short, long = long, short
	}
	parts[0], parts[1] = parts[0][:short], parts[1][:long]
}

// Fill fills tokens up to a length.
func (t *Tokenizer) Fill(k Tokens, length int) Tokens {
	n := max(length-len(k.IDs), 0)
	if n == 0 {
		return k
	}
	ids, zeros := slices.Repeat([]int64{t.Pad}, n), make([]int64, n)
	if t.PadLeft {
		return Tokens{append(ids, k.IDs...), append(slices.Clone(zeros), k.Types...), append(zeros, k.Mask...)}
	}
	return Tokens{append(k.IDs, ids...), append(k.Types, zeros...), append(k.Mask, zeros...)}
}

// numbers are the tokens of a text without a frame.
func (t *Tokenizer) numbers(text string) []int64 {
	var out []int64
	for _, p := range t.raw.find(strings.ToValidUTF8(text, "\ufffd")) {
		if p.token >= 0 {
			out = append(out, p.token)
			continue
		}
		for _, p := range t.normal.find(t.normalize(p.text)) {
			if p.token >= 0 {
				out = append(out, p.token)
				continue
			}
			for _, word := range t.split(p.text) {
				if word != "" {
					out = t.model.tokens(word, out)
				}
			}
		}
	}
	return out
}
