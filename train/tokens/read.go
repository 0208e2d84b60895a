// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"lathe/internal/diag"
)

// reader reads a tokenizer.json. Messages name the part of the file that they are about.
type reader struct {
	path       string
	vocabulary map[string]int64
}

func (r *reader) bad(at, format string, args ...any) *diag.Error {
	if at != "" {
		format = at + ": " + format
	}
	return diag.New(diag.TokenizerFile, r.path, format, args...)
}

func (r *reader) unknown(at, kind string, known ...string) error {
	err := r.bad(at, "type %q is not supported: one of %s is", kind, strings.Join(known, ", "))
	return err.WithHint("pass token numbers in an .npz file, made by the library itself")
}

func (r *reader) decode(at string, raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return r.bad(at, "%v", err)
	}
	return nil
}

// none says that a part is not there.
func none(raw json.RawMessage) bool { return len(raw) == 0 || bytes.Equal(raw, []byte("null")) }

// expression reads a pattern; a text stands for itself.
func (r *reader) expression(at string, p pattern) (*expression, error) {
	switch {
	case p.String != nil:
		return compile(quote(*p.String))
	case p.Regex != nil:
		e, err := compile(*p.Regex)
		if err != nil {
			return nil, r.bad(at, "the pattern %q is not supported: %v", *p.Regex, err)
		}
		return e, nil
	}
	return nil, r.bad(at, "there is no pattern")
}

// Read reads a tokenizer.json.
func Read(path string) (*Tokenizer, error) {
	r := &reader{path: path}
	raw, err := os.ReadFile(path)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, r.bad("", "%v", err)
	}
	var file struct {
		Added      []added `json:"added_tokens"`
		Normalizer json.RawMessage
		Splitter   json.RawMessage `json:"pre_tokenizer"`
		Model      json.RawMessage
		Frame      json.RawMessage `json:"post_processor"`
		Padding    *struct {
			Direction string
			Pad       int64 `json:"pad_id"`
		}
	}
	if err := r.decode("", raw, &file); err != nil {
		return nil, err
	}
	t := &Tokenizer{}
	if t.normalize, err = r.normalizer("normalizer", file.Normalizer); err != nil {
		return nil, err
	}
	if t.split, err = r.splitter("pre_tokenizer", file.Splitter); err != nil {
		return nil, err
	}
	if t.model, err = r.model(file.Model); err != nil {
		return nil, err
	}
	if err := r.frame("post_processor", file.Frame, t); err != nil {
		return nil, err
	}
	r.tokens(t, file.Added)
	if file.Padding != nil {
		t.Pad, t.PadLeft = file.Padding.Pad, file.Padding.Direction == "Left"
	}
	return t, nil
}

func (r *reader) model(raw json.RawMessage) (model, error) {
	if none(raw) {
		return nil, r.bad("model", "there is none: is this a tokenizer.json?")
	}
	var p struct{ Type string }
	if err := r.decode("model", raw, &p); err != nil {
		return nil, err
	}
	switch p.Type {
	case "WordPiece":
		return r.wordPiece(raw)
	case "BPE":
		return r.bpe(raw)
	}
	return nil, r.unknown("model", p.Type, "BPE", "WordPiece")
}

// tokens sorts the added tokens, and finds that which fills.
func (r *reader) tokens(t *Tokenizer, all []added) {
	var before, behind []added
	named := map[string]int64{}
	for token, id := range r.vocabulary {
		t.size, named[token] = max(t.size, id+1), id
	}
	for _, a := range all {
		t.size, named[a.Content] = max(t.size, a.ID+1), a.ID
		if a.Normalized {
			a.Content = t.normalize(a.Content)
			behind = append(behind, a)
		} else {
			before = append(before, a)
		}
	}
	t.raw, t.normal = newFinder(before), newFinder(behind)
	for _, name := range []string{"<pad>", "[PAD]"} {
		if id, ok := named[name]; ok {
			t.Pad = id
		}
	}
}

// quote makes a text an expression of itself. Characters of expressions are escaped one by one.
func quote(s string) string {
	var b strings.Builder
	for _, c := range s {
		if strings.ContainsRune(`\.+*?()|[]{}^$&`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// frame reads what stands around texts.
func (r *reader) frame(at string, raw json.RawMessage, t *Tokenizer) error {
	t.single = []slot{{text: 0}}
	t.both = []slot{{text: 0}, {text: 1, kind: 1}}
	if none(raw) {
		return nil
	}
	var p struct {
		Type       string
		Processors []json.RawMessage
		Single     []piece
		Pair       []piece
		Special    map[string]struct{ IDs []int64 } `json:"special_tokens"`
		Sep, Cls   []json.RawMessage
	}
	if err := r.decode(at, raw, &p); err != nil {
		return err
	}
	switch p.Type {
	case "ByteLevel": // it only moves offsets
		return nil
	case "Sequence":
		return r.frames(at, p.Processors, t)
	case "TemplateProcessing":
		ids := func(name string) []int64 { return p.Special[name].IDs }
		var err error
		if t.single, err = r.template(at+".single", p.Single, ids, 1); err != nil {
			return err
		}
		if len(p.Pair) > 0 {
			t.both, err = r.template(at+".pair", p.Pair, ids, 2)
		}
		return err
	case "BertProcessing", "RobertaProcessing":
		cls, sep, err := r.ends(at, p.Cls, p.Sep)
		if err != nil {
			return err
		}
		t.single = []slot{cls, {text: 0}, sep}
		if t.both = []slot{cls, {text: 0}, sep, sep, {text: 1}, sep}; p.Type == "BertProcessing" {
			second := sep
			second.kind = 1
			t.both = []slot{cls, {text: 0}, sep, {text: 1, kind: 1}, second}
		}
		return nil
	}
	return r.unknown(at, p.Type, "BertProcessing", "ByteLevel", "RobertaProcessing", "Sequence", "TemplateProcessing")
}

// frames reads a sequence, of which one may put something around texts.
func (r *reader) frames(at string, all []json.RawMessage, t *Tokenizer) error {
	found := false
	for i, raw := range all {
		var kind struct{ Type string }
		at := fmt.Sprintf("%s.processors[%d]", at, i)
		if err := r.decode(at, raw, &kind); err != nil {
			return err
		}
		if kind.Type == "ByteLevel" {
			continue
		}
		if found {
			return r.bad(at, "a second frame around texts is not supported")
		}
		found = true
		if err := r.frame(at, raw, t); err != nil {
			return err
		}
	}
	return nil
}

// ends are the tokens in front of texts and behind them: [name, number].
func (r *reader) ends(at string, cls, sep []json.RawMessage) (front, back slot, err error) {
	front.text, back.text = -1, -1
	if len(cls) != 2 || len(sep) != 2 {
		return front, back, r.bad(at, "cls and sep are a token and its number each")
	}
	if err = r.decode(at+".cls", cls[1], &front.token); err == nil {
		err = r.decode(at+".sep", sep[1], &back.token)
	}
	return front, back, err
}

// piece is a place in a template.
type piece struct {
	SpecialToken *placed
	Sequence     *placed
}

type placed struct {
	ID   string
	Kind int64 `json:"type_id"`
}

func (r *reader) template(at string, pieces []piece, ids func(string) []int64, texts int) ([]slot, error) {
	var out []slot
	for i, p := range pieces {
		at := fmt.Sprintf("%s[%d]", at, i)
		switch {
		case p.SpecialToken != nil:
			tokens := ids(p.SpecialToken.ID)
			if tokens == nil {
				return nil, r.bad(at, "special_tokens lack %q", p.SpecialToken.ID)
			}
			for _, id := range tokens {
				out = append(out, slot{id, -1, p.SpecialToken.Kind})
			}
		case p.Sequence != nil && (p.Sequence.ID == "A" || p.Sequence.ID == "B" && texts == 2):
			out = append(out, slot{text: strings.Index("AB", p.Sequence.ID), kind: p.Sequence.Kind})
		default:
			return nil, r.bad(at, "this is neither a special token nor a text")
		}
	}
	return out, nil
}
