// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"

	"lathe/internal/diag"
	"lathe/internal/keys"
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
		DigitPrice   *float64       `toml:"digit_price"`
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
		Check   *string `toml:"check"`
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
	Digits      *int     `toml:"digits"`
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
	Channels *int    `toml:"pad_channels"`
	Style    *string `toml:"style"`
	Mem      *string `toml:"mem"`
	LineMem  *string `toml:"line_mem"`
	Weights  *string `toml:"weights"`
	RAM      *string `toml:"ram"`
	DSP      *string `toml:"dsp"`
}

// decodeFile reads the text strictly: every key must be known and of the right type. Error L0401.
func decodeFile(name string, data []byte) (*file, *keys.Lines, error) {
	var f file
	at := keys.Scan(name, data)
	md, err := toml.Decode(string(data), &f)
	if err != nil {
		return nil, nil, tomlError(name, err)
	}
	var errs diag.List
	for _, u := range keys.Unknown(md, reflect.TypeFor[file]()) {
		e := diag.New(diag.PlanKey, at.Anywhere(u.Key), "unknown key %q in the plan", u.Key.String())
		if near := diag.Nearest(u.Last(), u.Known); near != "" {
			e = e.WithHint("did you mean %q?", near)
		} else if len(u.Known) > 0 {
			e = e.WithHint("keys here: %s", strings.Join(u.Known, ", "))
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
