// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/text"
)

// Number is a number of an attribute as a text that formulas and graphs take.
func Number(v float64) string {
	if v == float64(float32(v)) { // as the model means it: 0.1, not 0.10000000149011612
		return strconv.FormatFloat(v, 'g', -1, 32)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Numbers is a list of numbers as Number.
func Numbers(list []float64) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = Number(v)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// valueText is a value of the file as a text.
func valueText(v any) (string, bool) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return Number(v), true
	case bool:
		return strconv.FormatBool(v), true
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			text, ok := valueText(e)
			if parts[i] = text; !ok {
				return "", false
			}
		}
		return "[" + strings.Join(parts, ", ") + "]", true
	}
	return "", false
}

var named = regexp.MustCompile(`\$[A-Za-z_][A-Za-z_0-9]*`)

// filled replaces $name by the attribute, given or default. false: a name is no attribute.
func (o *Op) filled(text string, given map[string]string) (string, bool) {
	all := true
	text = named.ReplaceAllStringFunc(text, func(name string) string {
		v, ok := given[name[1:]]
		if !ok {
			v, ok = o.defaults[name[1:]]
		}
		if all = all && ok; o.formula != "" { // x - -1 is no formula
			v = "(" + v + ")"
		}
		return v
	})
	return text, all
}

// readSamples reads points: pairs in the file itself, or a CSV file of two columns.
func (o *Op) readSamples(v any, dir string) error {
	o.points = &curve.PolylineAttrs{}
	switch v := v.(type) {
	case string:
		if err := o.readCSV(v, dir); err != nil {
			return err
		}
	case []any:
		for i, e := range v {
			pair, ok := e.([]any)
			if !ok || len(pair) != 2 || !o.point(pair[0], pair[1]) {
				return o.fail("samples[%d] is no pair of numbers [x, y]", i)
			}
		}
	default:
		return o.fail("samples are pairs [[x, y], ...] or the name of a CSV file")
	}
	return o.at(o.points.Check())
}

func (o *Op) point(x, y any) bool {
	var v [2]float64
	for i, n := range [...]any{x, y} {
		switch n := n.(type) {
		case int64:
			v[i] = float64(n)
		case float64:
			v[i] = n
		default:
			return false
		}
	}
	o.points.X, o.points.Y = append(o.points.X, float32(v[0])), append(o.points.Y, float32(v[1]))
	return true
}

// readCSV reads points of two columns; the first line may be their names.
func (o *Op) readCSV(name, dir string) error {
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return o.fail("samples %s: cannot be opened: %v", name, reason(err))
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.FieldsPerRecord, r.TrimLeadingSpace, r.Comment = 2, true, '#'
	for line := 1; ; line++ {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return o.fail("samples %s: %s", name, diag.OneLine(err.Error()))
		}
		x, badX := strconv.ParseFloat(row[0], 64)
		y, badY := strconv.ParseFloat(row[1], 64)
		if badX != nil || badY != nil {
			if line == 1 {
				continue
			}
			at, _ := r.FieldPos(0)
			return o.fail("samples %s:%d: %s, %s are no two numbers", name, at, row[0], row[1])
		}
		o.point(x, y)
	}
}

// fileName is how messages call a text graph: by its file, or else by its key.
func fileName(key, v string) string {
	if strings.Contains(v, "\n") {
		return key
	}
	return v
}

// textOrFile is a text graph, or what the file of that name holds.
func (o *Op) textOrFile(key, v, dir string) (string, error) {
	if strings.HasPrefix(strings.TrimSpace(v), "lathe 1") {
		return v, nil
	}
	data, err := os.ReadFile(filepath.Join(dir, v))
	if err != nil {
		return "", o.fail("%s = %q is neither a text graph (\"lathe 1 ...\") nor a file that can be read: %v", key, v,
			reason(err))
	}
	return string(data), nil
}

// parse reads a text graph of some stage, and checks it.
func (o *Op) parse(name, src string, stage ir.Stage) (*ir.Graph, error) {
	g, err := text.Parse(name, src, nil)
	if err == nil {
		err = g.Check()
	}
	var list diag.List
	if errors.As(err, &list) && len(list) > 0 {
		err = list[0]
	}
	if d := (*diag.Error)(nil); errors.As(err, &d) {
		return nil, o.fail("%s: %s", d.Pos, d.Msg).WithHint("%s", d.Hint)
	} else if err != nil {
		return nil, o.at(err)
	}
	if g.Stage != stage {
		return nil, o.fail("its graph is %s; a %s one is needed", g.Stage, stage)
	}
	return g, nil
}

// readGraph reads the expansion, and parses it where its attributes have defaults.
func (o *Op) readGraph(v, dir string) (err error) {
	o.named = fileName("graph", v)
	if o.graph, err = o.textOrFile("graph", v, dir); err != nil {
		return err
	}
	if src, ok := o.filled(o.graph, nil); ok {
		_, err = o.parse(o.named, src, ir.StageFloat)
	}
	return err
}
