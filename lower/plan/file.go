// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"lathe/internal/diag"
)

// file is the TOML form of a plan; a nil pointer is a key that is not given.
type file struct {
	Target struct {
		Part      *string  `toml:"part"`
		ClockMHz  *float64 `toml:"clock_mhz"`
		StreamMHz *float64 `toml:"stream_clock_mhz"`
	} `toml:"target"`
	Stream struct {
		BadFrame *string `toml:"bad_frame"`
	} `toml:"stream"`
	Quantize struct {
		Data         *string        `toml:"data"`
		Unsigned     *bool          `toml:"unsigned"`
		Weight       *string        `toml:"weight"`
		Bias         *string        `toml:"bias"`
		Round        *string        `toml:"round"`
		Overflow     *string        `toml:"overflow"`
		Calibrate    *string        `toml:"calibrate"`
		Acc          *int           `toml:"acc"`
		Equalize     *bool          `toml:"equalize"`
		Smooth       *float64       `toml:"smooth"`
		RoundWeights *string        `toml:"round_weights"`
		Correct      *bool          `toml:"correct_bias"`
		Rule         []quantizeRule `toml:"rule"`
	} `toml:"quantize"`
	Fold struct {
		Mode    *string        `toml:"mode"`
		Layers  *string        `toml:"layers"`
		Images  *int           `toml:"images"`
		FPS     *float64       `toml:"fps"`
		MaxLUT  *int           `toml:"max_lut"`
		MaxFF   *int           `toml:"max_ff"`
		MaxDSP  *int           `toml:"max_dsp"`
		MaxBRAM *int           `toml:"max_bram"`
		DSP     *string        `toml:"dsp"`
		Rule    []foldRuleFile `toml:"rule"`
	} `toml:"fold"`
	Unroll   unrollFile `toml:"unroll"`
	Sequence struct {
		Decode  *bool   `toml:"decode"`
		Lengths *string `toml:"lengths"`
	} `toml:"sequence"`
	Memory struct {
		Weights *string `toml:"weights"`
		RAM     *string `toml:"ram"`
		Cache   *string `toml:"cache"`
		AXIBits *int    `toml:"axi_bits"`
		Burst   *int    `toml:"burst"`
	} `toml:"memory"`
	Train   trainFile   `toml:"train"`
	Prune   pruneFile   `toml:"prune"`
	Lora    loraFile    `toml:"lora"`
	Distill distillFile `toml:"distill"`
	Bits    bitsFile    `toml:"bits"`
	Input   []struct {
		Name   *string   `toml:"name"`
		Format *string   `toml:"format"`
		Range  []float64 `toml:"range"`
		Shape  []int     `toml:"shape"`
		// Exponents has one for each channel.
		Exponents []int `toml:"exponents"`
		// Nonfinite is what becomes of NaN and infinities.
		Nonfinite *string `toml:"nonfinite"`
	} `toml:"input"`
	Output []struct {
		Name   *string `toml:"name"`
		Format *string `toml:"format"`
	} `toml:"output"`
}

type matchFile struct {
	Op    *string `toml:"op"`
	Name  *string `toml:"name"`
	Regex *string `toml:"regex"`
}

type quantizeRule struct {
	matchFile
	Skip    *bool   `toml:"skip"`
	DataIn  *string `toml:"data_in"`
	Weight  *string `toml:"weight"`
	Bias    *string `toml:"bias"`
	DataOut *string `toml:"data_out"`
	Gate    *string `toml:"gate"`
	Cell    *string `toml:"cell"`
	// Channels has a format for each.
	Channels []string `toml:"channels"`
}

// unrollFile is the table [unroll].
type unrollFile struct {
	Auto        *bool    `toml:"auto"`
	Depth       *float64 `toml:"depth"`
	Stages      *int     `toml:"stages"`
	StageLevels *float64 `toml:"stage_levels"`
	Effort      *int     `toml:"effort"`
	Family      *string  `toml:"family"`
}

type foldRuleFile struct {
	matchFile
	InLanes  *int    `toml:"in_lanes"`
	OutLanes *int    `toml:"out_lanes"`
	Style    *string `toml:"style"`
	Mem      *string `toml:"mem"`
	LineMem  *string `toml:"line_mem"`
	Weights  *string `toml:"weights"`
	RAM      *string `toml:"ram"`
	DSP      *string `toml:"dsp"`
}

// decodeFile reads the text strictly: every key must be known and of the right type. Error L0401.
func decodeFile(name string, data []byte) (*file, *lines, error) {
	var f file
	at := scanLines(name, data)
	md, err := toml.Decode(string(data), &f)
	if err != nil {
		return nil, nil, tomlError(name, err)
	}
	var errs diag.List
	seen := make(map[string]bool)
	for _, key := range md.Undecoded() {
		if seen[key.String()] || len(key) > 1 && seen[strings.Join(key[:len(key)-1], ".")] {
			continue // one message a key, and none for what stands in an unknown table
		}
		seen[key.String()] = true
		e := diag.New(diag.PlanKey, at.anywhere(key), "unknown key %q in the plan", key.String())
		known := knownKeys(key[:len(key)-1])
		if near := diag.Nearest(key[len(key)-1], known); near != "" {
			e = e.WithHint("did you mean %q?", near)
		} else if len(known) > 0 {
			e = e.WithHint("keys here: %s", strings.Join(known, ", "))
		}
		errs = append(errs, e)
	}
	return &f, at, errs.Err()
}

var tomlMessage = regexp.MustCompile(`^toml: line (\d+)(?: \(last key "([^"]*)"\))?: (.*)$`)

// wrongType is how the TOML library, in the words of Go, says that a value is of the wrong type.
var wrongType = regexp.MustCompile(`(?s)incompatible types: TOML value has type (\S+); destination has type (\S+)|` +
	`type mismatch for .*: expected (\S+) but found (\S+)`)

// kindOf names a type in the words of TOML.
func kindOf(t string) string {
	switch t {
	case "int64", "integer":
		return "an integer"
	case "float64", "float":
		return "a number"
	case "string":
		return "a text"
	case "bool", "boolean":
		return "true or false"
	case "slice", "[]any", "[]interface {}":
		return "a list"
	case "table", "map[string]any", "map[string]interface {}":
		return "a table"
	case "time.Time":
		return "a date"
	}
	return "a value of type " + t
}

// tomlError turns a message of the TOML library into one with file and line.
func tomlError(name string, err error) error {
	m := tomlMessage.FindStringSubmatch(err.Error())
	if m == nil {
		return diag.New(diag.PlanKey, name, "%s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	msg := wrongType.ReplaceAllStringFunc(strings.TrimSuffix(m[3], "."), func(s string) string {
		t := wrongType.FindStringSubmatch(s)
		return kindOf(t[1]+t[4]) + " where " + kindOf(t[2]+t[3]) + " is needed"
	})
	e := diag.New(diag.PlanKey, name+":"+m[1], "%s", msg)
	if m[2] != "" {
		e.Msg = m[2] + ": " + msg
	}
	if strings.HasPrefix(msg, "a table where a list") {
		e.Hint = "write [[" + m[2] + "]], in two brackets, for each of them"
	}
	return e
}

// knownKeys lists the keys of the table at path, read from the tags of planFile.
func knownKeys(path []string) []string {
	t := reflect.TypeFor[file]()
	for _, key := range path {
		f, ok := fieldOf(t, key)
		if !ok {
			return nil
		}
		t = f
	}
	return tagsOf(t)
}

func fieldOf(t reflect.Type, key string) (reflect.Type, bool) {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("toml") == key {
			return f.Type, true
		}
		if f.Anonymous {
			if in, ok := fieldOf(f.Type, key); ok {
				return in, true
			}
		}
	}
	return nil, false
}

func tagsOf(t reflect.Type) []string {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var tags []string
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			tags = append(tags, tagsOf(f.Type)...)
		} else {
			tags = append(tags, f.Tag.Get("toml"))
		}
	}
	return tags
}

// lines knows where the keys of a TOML text stand. Paths look like quantize.rule[1].name.
type lines struct {
	file  string
	paths []string
	at    []int
	// flags are the flags of a command that stand above a key.
	flags map[string]string
}

var (
	headerLine = regexp.MustCompile(`^\s*(\[\[?)\s*([A-Za-z0-9_.\- ]+?)\s*\]\]?\s*(#.*)?$`)
	keyLine    = regexp.MustCompile(`^\s*([A-Za-z0-9_.\-]+)\s*=`)
)

// scanLines reads headers and keys line by line. Text inside of multi-line strings is passed over.
func scanLines(file string, data []byte) *lines {
	l := &lines{file: file}
	table, quote := "", ""
	count := make(map[string]int)
	for i, line := range strings.Split(string(data), "\n") {
		if quote != "" {
			if strings.Contains(line, quote) {
				quote = ""
			}
			continue
		}
		if m := headerLine.FindStringSubmatch(line); m != nil {
			table = strings.ReplaceAll(m[2], " ", "")
			if m[1] == "[[" {
				count[table]++
				table += fmt.Sprintf("[%d]", count[table]-1)
			}
			l.add(table, i+1)
		} else if m := keyLine.FindStringSubmatch(line); m != nil {
			l.add(strings.TrimPrefix(table+"."+m[1], "."), i+1)
		}
		for _, q := range []string{`"""`, `'''`} {
			if strings.Count(line, q)%2 == 1 {
				quote = q
			}
		}
	}
	return l
}

func (l *lines) add(path string, line int) {
	l.paths = append(l.paths, path)
	l.at = append(l.at, line)
}

// pos is the flag that stands above a path, or file:line of it, or of the nearest table around it that has a line of
// its own, or the file.
func (l *lines) pos(path string) string {
	if flag, ok := l.flags[path]; ok {
		return flag
	}
	for {
		for i, p := range l.paths {
			if p == path {
				return l.file + ":" + strconv.Itoa(l.at[i])
			}
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return l.file
		}
		path = path[:cut]
	}
}

// sort puts errors with positions of this file into the order of its lines.
func (l *lines) sort(errs diag.List) {
	line := func(e *diag.Error) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(e.Pos, l.file+":"))
		return n
	}
	slices.SortStableFunc(errs, func(a, b *diag.Error) int { return line(a) - line(b) })
}

var indices = regexp.MustCompile(`\[\d+\]`)

// anywhere is the first place of a key whose array indices are not known.
func (l *lines) anywhere(key toml.Key) string {
	for n := len(key); n > 0; n-- {
		want := strings.Join(key[:n], ".")
		for i, p := range l.paths {
			if indices.ReplaceAllString(p, "") == want {
				return l.file + ":" + strconv.Itoa(l.at[i])
			}
		}
	}
	return l.file
}
