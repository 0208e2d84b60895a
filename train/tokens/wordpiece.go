// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"encoding/json"
	"unicode/utf8"
)

// wordPiece takes the longest piece of a word that it knows, then the longest of the rest, and so on (Wu et al. 2016,
// as BERT has it).
type wordPiece struct {
	Vocab   map[string]int64
	Unknown string `json:"unk_token"`
	Prefix  string `json:"continuing_subword_prefix"`
	Most    int    `json:"max_input_chars_per_word"`
	unknown int64
}

func (r *reader) wordPiece(raw json.RawMessage) (model, error) {
	w := &wordPiece{Unknown: "[UNK]", Prefix: "##", Most: 100}
	if err := r.decode("model", raw, w); err != nil {
		return nil, err
	}
	id, ok := w.Vocab[w.Unknown]
	if !ok {
		return nil, r.bad("model", "unk_token %q is not in vocab", w.Unknown)
	}
	w.unknown = id
	r.vocabulary = w.Vocab
	return w, nil
}

func (w *wordPiece) tokens(word string, out []int64) []int64 {
	first := len(out)
	if utf8.RuneCountInString(word) > w.Most {
		return append(out, w.unknown)
	}
	for at := 0; at < len(word); {
		end := len(word)
		for ; end > at; end-- {
			if end < len(word) && !utf8.RuneStart(word[end]) {
				continue
			}
			piece := word[at:end]
			if at > 0 {
				piece = w.Prefix + piece
			}
			if id, ok := w.Vocab[piece]; ok {
				out = append(out, id)
				break
			}
		}
		if end == at { // no part of a word stands for a word that has parts unknown
			return append(out[:first], w.unknown)
		}
		at = end
	}
	return out
}
