// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strconv"
	"strings"

	"lathe/internal/diag"
	"lathe/internal/keys"
)

// Settings are choices from outside of a plan's file, such as flags of a command; they stand above it. What is nil is
// not chosen.
type Settings struct {
	// FPS is a rate in samples a second; it implies the balance mode.
	FPS *float64
	// ClockMHz, Part and DSP stand for clock_mhz and part of [target] and dsp of [fold].
	ClockMHz  *float64
	Part, DSP *string
	// Decode stands for decode of [sequence].
	Decode *bool
	// Lengths stands for lengths of [sequence].
	Lengths *string
	// RoundWeights, DigitPrice, CorrectBias, Equalize and Smooth stand for round_weights, digit_price, correct_bias,
	// equalize and smooth of [quantize].
	RoundWeights          *string
	DigitPrice            *float64
	CorrectBias, Equalize *bool
	Smooth                *float64
	// Ranges stands for calibrate of [quantize].
	Ranges *string
	// Wide names nodes, with commas between, whose results get 16 bits and whose weights 12.
	Wide *string
	// Method, Epochs, Batch, LR and Seed stand for keys of [train].
	Method        *string
	Epochs, Batch *int
	LR            *float64
	Seed          *int64
	// Bits is the width of data and weights; biases get twice as many where they need more than 16.
	Bits *int
}

// leastBits and mostBits bound Settings.Bits: a product of two such values leaves room for sums in 63 bits.
const leastBits, mostBits = 2, 24

// ParseWith is Parse under settings, each of which has the name of a flag in messages. An empty text is the
// default plan. Plan.Notes says where a setting and the text disagree.
func ParseWith(name string, data []byte, set Settings) (*Plan, error) {
	f, at, err := decodeFile(name, data)
	if err != nil {
		return nil, err
	}
	o := overlay{file: f, at: at}
	if err := o.apply(set); err != nil {
		return nil, err
	}
	plan, err := f.plan(name, at)
	if err != nil {
		return nil, err
	}
	plan.Notes = o.notes
	return plan, nil
}

// overlay writes settings into a plan's file.
type overlay struct {
	file  *file
	at    *keys.Lines
	notes []string
}

func (o *overlay) apply(set Settings) error {
	f := o.file
	over(o, "--part", "target.part", &f.Target.Part, set.Part)
	over(o, "--clock", "target.clock_mhz", &f.Target.ClockMHz, set.ClockMHz)
	if set.FPS != nil {
		mode := "balance"
		over(o, "--fps", "fold.mode", &f.Fold.Mode, &mode)
		over(o, "--fps", "fold.fps", &f.Fold.FPS, set.FPS)
		o.rules("--fps", "lanes", "fold.rule", len(f.Fold.Rule), func(i int) bool {
			r := &f.Fold.Rule[i]
			return r.InLanes != nil || r.OutLanes != nil || r.Style != nil
		})
	}
	over(o, "--decode", "sequence.decode", &f.Sequence.Decode, set.Decode)
	over(o, "--lengths", "sequence.lengths", &f.Sequence.Lengths, set.Lengths)
	over(o, "--dsp", "fold.dsp", &f.Fold.DSP, set.DSP)
	if set.DSP != nil {
		o.rules("--dsp", "dsp", "fold.rule", len(f.Fold.Rule), func(i int) bool { return f.Fold.Rule[i].DSP != nil })
	}
	over(o, "--round-weights", "quantize.round_weights", &f.Quantize.RoundWeights, set.RoundWeights)
	over(o, "--digit-price", "quantize.digit_price", &f.Quantize.DigitPrice, set.DigitPrice)
	over(o, "--correct-bias", "quantize.correct_bias", &f.Quantize.Correct, set.CorrectBias)
	over(o, "--equalize", "quantize.equalize", &f.Quantize.Equalize, set.Equalize)
	over(o, "--smooth", "quantize.smooth", &f.Quantize.Smooth, set.Smooth)
	over(o, "--ranges", "quantize.calibrate", &f.Quantize.Calibrate, set.Ranges)
	over(o, "--method", "train.method", &f.Train.Method, set.Method)
	over(o, "--epochs", "train.epochs", &f.Train.Epochs, set.Epochs)
	over(o, "--batch", "train.batch", &f.Train.Batch, set.Batch)
	over(o, "--lr", "train.lr", &f.Train.LR, set.LR)
	over(o, "--seed", "train.seed", &f.Train.Seed, set.Seed)
	if set.Bits != nil {
		if err := o.bits(*set.Bits); err != nil {
			return err
		}
	}
	if set.Wide != nil {
		o.wide(strings.Split(*set.Wide, ","))
	}
	return nil
}

// wideData and wideWeight are the formats of nodes of Settings.Wide.
const wideData, wideWeight = "fixed(16)", "fixed(12)"

// wide puts rules for nodes behind those of the file, which stand above them.
func (o *overlay) wide(nodes []string) {
	data, weight := wideData, wideWeight
	for _, name := range nodes {
		path := fmt.Sprintf("quantize.rule[%d]", len(o.file.Quantize.Rule))
		if o.at.Flags == nil {
			o.at.Flags = make(map[string]string)
		}
		o.at.Flags[path] = "--wide"
		o.file.Quantize.Rule = append(o.file.Quantize.Rule, quantizeRule{matchFile: matchFile{Name: &name},
			DataOut: &data, Weight: &weight})
	}
}

// bits sets the formats of data and weights, and of biases where the file does not.
func (o *overlay) bits(w int) error {
	if w < leastBits || w > mostBits {
		return diag.New(diag.PlanValue, "--bits", "%d bits for data and weights lie outside %d..%d", w, leastBits, mostBits)
	}
	q := &o.file.Quantize
	text, wide := fmt.Sprintf("fixed(%d)", w), fmt.Sprintf("fixed(%d)", 2*w)
	over(o, "--bits", "quantize.data", &q.Data, &text)
	if q.Unsigned == nil {
		q.Unsigned = &Default().Quantize.Unsigned
	}
	over(o, "--bits", "quantize.weight", &q.Weight, &text)
	if q.Bias == nil && 2*w > Default().Quantize.Bias.Pattern.W {
		over(o, "--bits", "quantize.bias", &q.Bias, &wide)
	}
	o.rules("--bits", "formats", "quantize.rule", len(q.Rule), func(i int) bool {
		return q.Rule[i].DataIn != nil || q.Rule[i].Weight != nil || q.Rule[i].DataOut != nil ||
			q.Rule[i].Gate != nil || q.Rule[i].Cell != nil || q.Rule[i].Channels != nil
	})
	o.rules("--bits", "format", "input", len(o.file.Input), func(i int) bool { return o.file.Input[i].Format != nil })
	o.rules("--bits", "format", "output", len(o.file.Output), func(i int) bool { return o.file.Output[i].Format != nil })
	return nil
}

// over puts a value that is chosen by a flag into a key of the file, and notes what it replaces.
func over[T comparable](o *overlay, flag, path string, slot **T, chosen *T) {
	if chosen == nil {
		return
	}
	if was := *slot; was != nil && *was != *chosen {
		o.notes = append(o.notes, fmt.Sprintf("%s stands above %s %s = %s", flag, o.at.Pos(path), path, TOML(*was)))
	}
	*slot = chosen
	if o.at.Flags == nil {
		o.at.Flags = make(map[string]string)
	}
	o.at.Flags[path] = flag
}

// rules notes the first of the tables that a flag leaves as they are.
func (o *overlay) rules(flag, what, table string, n int, sets func(int) bool) {
	for i := range n {
		if sets(i) {
			path := fmt.Sprintf("%s[%d]", table, i)
			o.notes = append(o.notes, fmt.Sprintf("the %s of %s [[%s]] stand above %s", what, o.at.Pos(path), table, flag))
			return
		}
	}
}

// TOML is a value as a plan writes it; numbers without exponents.
func TOML(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		return Quoted(v)
	case []int:
		return strings.ReplaceAll(fmt.Sprint(v), " ", ", ")
	case []string:
		list := make([]string, len(v))
		for i, text := range v {
			list[i] = Quoted(text)
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// Quoted is a basic string of TOML.
func Quoted(s string) string {
	out := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r < ' ' || r == 0x7f:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = append(out, string(r)...)
		}
	}
	return string(append(out, '"'))
}
