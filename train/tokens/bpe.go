// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"cmp"
	"container/heap"
	"encoding/json"
	"fmt"
	"strings"
)

// bpe joins neighbours of a word, the pair of the lowest rank first (Sennrich et al. 2016).
type bpe struct {
	vocab        map[string]int64
	merges       map[[2]int64]merge
	unknown      int64 // -1 for none: then what is not known has no token
	fuse         bool  // unknown neighbours are one token
	bytes        bool  // what is not known is read byte by byte
	ignoreMerges bool  // words of the vocabulary are tokens, whether merges lead there or not
}

type merge struct {
	rank int
	id   int64
}

func (r *reader) bpe(raw json.RawMessage) (model, error) {
	var p struct {
		Vocab        map[string]int64
		Merges       []json.RawMessage
		Dropout      *float64
		UnkToken     *string `json:"unk_token"`
		Prefix       *string `json:"continuing_subword_prefix"`
		Suffix       *string `json:"end_of_word_suffix"`
		FuseUnk      bool    `json:"fuse_unk"`
		ByteFallback bool    `json:"byte_fallback"`
		IgnoreMerges bool    `json:"ignore_merges"`
	}
	if err := r.decode("model", raw, &p); err != nil {
		return nil, err
	}
	switch {
	case p.Dropout != nil && *p.Dropout != 0:
		return nil, r.bad("model", "dropout is random")
	case p.Prefix != nil && *p.Prefix != "":
		return nil, r.bad("model", "continuing_subword_prefix %q is not supported", *p.Prefix)
	case p.Suffix != nil && *p.Suffix != "":
		return nil, r.bad("model", "end_of_word_suffix %q is not supported", *p.Suffix)
	}
	m := &bpe{vocab: p.Vocab, merges: map[[2]int64]merge{}, unknown: -1, fuse: p.FuseUnk, bytes: p.ByteFallback,
		ignoreMerges: p.IgnoreMerges}
	if p.UnkToken != nil {
		id, ok := p.Vocab[*p.UnkToken]
		if !ok {
			return nil, r.bad("model", "unk_token %q is not in vocab", *p.UnkToken)
		}
		m.unknown = id
	}
	for rank, raw := range p.Merges {
		left, right, ok := sides(raw)
		at := fmt.Sprintf("model.merges[%d]", rank)
		if !ok {
			return nil, r.bad(at, "%s is no pair", raw)
		}
		a, okA := p.Vocab[left]
		b, okB := p.Vocab[right]
		both, ok := p.Vocab[left+right]
		if !okA || !okB || !ok {
			return nil, r.bad(at, "%q and %q, and both together, are not in vocab", left, right)
		}
		m.merges[[2]int64{a, b}] = merge{rank, both}
	}
	r.vocabulary = p.Vocab
	return m, nil
}

// sides are the two parts of a merge: "a b" in older files, ["a", "b"] in newer ones.
func sides(raw json.RawMessage) (left, right string, ok bool) {
	var pair []string
	if json.Unmarshal(raw, &pair) == nil && len(pair) == 2 {
		return pair[0], pair[1], true
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "", "", false
	}
	left, right, ok = strings.Cut(text, " ")
	return left, right, ok
}

// symbol is a part of a word, with its neighbours; dead parts have gone into the one on their left.
type symbol struct {
	id         int64
	prev, next int
	dead       bool
}

// candidate is a pair that may be merged: the symbol on its left.
type candidate struct {
	rank, at int
	id       int64
}

type candidates []candidate

func (c candidates) Len() int { return len(c) }
func (c candidates) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(c[i].rank, c[j].rank), cmp.Compare(c[i].at, c[j].at)) < 0
}
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *candidates) Push(x any)   { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

func (m *bpe) tokens(word string, out []int64) []int64 {
	if id, ok := m.vocab[word]; ok && m.ignoreMerges {
		return append(out, id)
	}
	parts := m.symbols(word)
	var queue candidates
	pair := func(i int) (merge, bool) {
		if i < 0 || parts[i].next < 0 {
			return merge{}, false
		}
		v, ok := m.merges[[2]int64{parts[i].id, parts[parts[i].next].id}]
		return v, ok
	}
	offer := func(i int) {
		if v, ok := pair(i); ok {
			heap.Push(&queue, candidate{v.rank, i, v.id})
		}
	}
	for i := range parts {
		offer(i)
	}
	for len(queue) > 0 {
		c := heap.Pop(&queue).(candidate)
		left := &parts[c.at]
		if v, ok := pair(c.at); left.dead || !ok || v.id != c.id {
			continue // a part has been merged meanwhile
		}
		right := &parts[left.next]
		right.dead = true
		left.id, left.next = c.id, right.next
		if left.next >= 0 {
			parts[left.next].prev = c.at
		}
		offer(left.prev)
		offer(c.at)
	}
	for _, s := range parts {
		if !s.dead {
			out = append(out, s.id)
		}
	}
	return out
}

// symbols are the characters of a word. An unknown one is put down when the next known one comes, or another unknown
// that it is not joined to: behind bytes that come in between, as the library has it.
func (m *bpe) symbols(word string) []symbol {
	var out []symbol
	add := func(id int64) { out = append(out, symbol{id: id, prev: len(out) - 1, next: len(out) + 1}) }
	waits := false
	settle := func() {
		if waits {
			add(m.unknown)
		}
		waits = false
	}
	for _, r := range word {
		if id, ok := m.vocab[string(r)]; ok {
			settle()
			add(id)
		} else if ids := m.byBytes(string(r)); ids != nil {
			for _, id := range ids {
				add(id)
			}
		} else if m.unknown >= 0 {
			if !m.fuse {
				settle()
			}
			waits = true
		}
	}
	settle()
	if len(out) > 0 {
		out[len(out)-1].next = -1
	}
	return out
}

// byBytes are the tokens <0x00> to <0xFF> of a character; nil unless there are all of them.
func (m *bpe) byBytes(s string) []int64 {
	if !m.bytes {
		return nil
	}
	var out []int64
	for _, b := range []byte(s) {
		id, ok := m.vocab[fmt.Sprintf("<0x%02X>", b)]
		if !ok {
			return nil
		}
		out = append(out, id)
	}
	return out
}
