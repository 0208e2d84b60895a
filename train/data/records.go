// SPDX-License-Identifier: Apache-2.0

package data

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"lathe/internal/diag"
)

// record is a line of a table of texts: columns and what is in them.
type record struct {
	line    int
	columns []string
	cells   []string
	texts   []bool // of JSON: that a cell is a text; nil: all are
}

// records reads a table of texts.
func (s *sequences) records(d *Data) error {
	raw, err := os.ReadFile(s.path)
	if err != nil {
		return unreadable(s.path, err)
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	labels, err := answersOf(s.path, s.Wanted)
	if err != nil {
		return err
	}
	take := s.taker(d, labels)
	switch {
	case strings.HasSuffix(strings.ToLower(s.path), ".jsonl"):
		err = s.jsonLines(raw, take)
	case strings.HasSuffix(strings.ToLower(s.path), ".tsv"):
		err = s.tabbed(raw, take)
	default:
		err = s.commas(raw, take)
	}
	labels.into(d)
	return err
}

// taker takes texts and labels of a record; the first one says which columns hold texts.
func (s *sequences) taker(d *Data, labels *answers) func(*record) error {
	var texts []string
	return func(r *record) error {
		if texts == nil {
			if texts = s.Text; len(texts) == 0 {
				texts = r.others(labels.columns)
			}
			if len(texts) == 0 || len(texts) > 2 {
				return diag.New(diag.ArrayShape, s.path, "line %d: %d columns hold texts: %s", r.line, len(texts),
					strings.Join(texts, ", ")).WithHint("--text COLUMN, or --text COLUMN,COLUMN for two, says which; --labels which " +
					"holds the classes")
			}
			d.Texts = texts
		}
		at, err := places(s.path, r.columns, texts)
		if err != nil {
			return err
		}
		cells := make([]string, len(at))
		for i, p := range at {
			if r.texts != nil && !r.texts[p] {
				return diag.New(diag.ArrayBroken, s.path, "line %d, column %q: %s is no text", r.line, r.columns[p], r.cells[p])
			}
			cells[i] = r.cells[p]
		}
		if at, err = places(s.path, r.columns, labels.columns); err != nil {
			return err
		}
		for _, p := range at {
			if err := labels.add(r.line, r.columns[p], r.cells[p]); err != nil {
				return err
			}
		}
		s.add(s.Tokens.Encode(s.Length, cells...))
		return nil
	}
}

// others are the columns of texts but for some: without those of whole numbers, such as ids, if others are left.
func (r *record) others(but []string) []string {
	var out, all []string
	for i, c := range r.columns {
		if !slices.Contains(but, c) && (r.texts == nil || r.texts[i]) {
			if all = append(all, c); !whole.MatchString(r.cells[i]) {
				out = append(out, c)
			}
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

// whole is a number as ids are.
var whole = regexp.MustCompile(`^\s*-?[0-9]+\s*$`)

// commas reads a table with a header, as RFC 4180 has it.
func (s *sequences) commas(raw []byte, take func(*record) error) error {
	r := csv.NewReader(bytes.NewReader(raw))
	header, err := r.Read()
	if err != nil {
		return badTable(s.path, err)
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return badTable(s.path, err)
		}
		line, _ := r.FieldPos(0)
		if err := take(&record{line: line, columns: header, cells: row}); err != nil {
			return err
		}
	}
}

// tabbed reads lines of cells between tabs, which hold what stands there: quotes are quotes.
func (s *sequences) tabbed(raw []byte, take func(*record) error) error {
	var header []string
	line := 0
	for text := range strings.Lines(string(raw)) {
		line++
		cells := strings.Split(strings.TrimRight(text, "\r\n"), "\t")
		switch {
		case header == nil:
			header = cells
		case len(cells) != len(header):
			return diag.New(diag.ArrayBroken, s.path, "line %d has %d columns, the header has %d", line, len(cells), len(header))
		default:
			if err := take(&record{line: line, columns: header, cells: cells}); err != nil {
				return err
			}
		}
	}
	return nil
}

// jsonLines reads an object a line.
func (s *sequences) jsonLines(raw []byte, take func(*record) error) error {
	line := 0
	for text := range bytes.Lines(raw) {
		line++
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		r, err := object(text)
		if err != nil {
			return diag.New(diag.ArrayBroken, s.path, "line %d: %v", line, err)
		}
		r.line = line
		if err := take(r); err != nil {
			return err
		}
	}
	return nil
}

// number is a number in JSON.
var number = regexp.MustCompile(`^-?[0-9]`)

// object reads the fields of an object in their order.
func object(text []byte) (*record, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("this is no object in JSON")
	}
	r := &record{texts: []bool{}}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		var cell string
		isText := json.Unmarshal(value, &cell) == nil && value[0] == '"'
		if !isText {
			if cell = string(value); !number.MatchString(cell) {
				cell = "" // null, true or a list: there is neither a text nor a number
			}
		}
		r.columns, r.cells, r.texts = append(r.columns, key.(string)), append(r.cells, cell), append(r.texts, isText)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more stands behind the object")
	}
	return r, nil
}
