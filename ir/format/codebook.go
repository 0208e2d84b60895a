// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"lathe/internal/diag"
)

// Codebook is codebook(T)*S: the code k is the value T[k]*S of an ascending table. Values are rounded to the nearest,
// ties to the even code.
type Codebook struct {
	Name  string // of a known table; empty for one of the text
	Scale float32
	table string // the values as float32 words, which are comparable as a text
}

// nf4 is the table of 4-bit NormalFloat (Dettmers et al., QLoRA, 2023, appendix E).
var nf4 = []float32{-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
	-0.18477343022823334, -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634,
	0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1}

// codebooks are the tables with names.
var codebooks = []struct {
	name   string
	values []float32
}{{"nf4", nf4}}

func buildCodebook(c *call) (Format, error) {
	if len(c.args) != 1 {
		return nil, c.fail(diag.FormatNumbers, len(c.name)+1, "codebook takes one table, found %d", len(c.args)).
			WithHint("for example codebook(nf4), codebook(-1:0:0.5:1)")
	}
	a := c.args[0]
	values, err := c.table(a)
	if err != nil {
		return nil, err
	}
	return c.listed(func(s float32) (Set, error) { return NewCodebook(values, s), nil })
}

// table reads the name or the values of a table.
func (c *call) table(a arg) (values []float32, err error) {
	for _, b := range codebooks {
		if b.name == a.val {
			return b.values, nil
		}
	}
	for _, text := range strings.Split(a.val, ":") {
		v, err := c.number(text, a.col, "a value of the table")
		if err != nil {
			return nil, err
		}
		values = append(values, v+0) // of the two zeros the positive one
	}
	ascending := slices.IsSortedFunc(values, func(x, y float32) int {
		if x < y {
			return -1
		}
		return 1
	})
	if len(values) < 2 || len(values) > 1<<tableBits || !ascending {
		return nil, c.fail(diag.FormatNumbers, a.col, "a table has 2 to %d values, each above the one before", 1<<tableBits)
	}
	return values, nil
}

// NewCodebook is the format of 2 to 256 ascending values, times a positive scale.
func NewCodebook(values []float32, scale float32) Codebook {
	f := Codebook{Scale: scale}
	words := make([]byte, 0, 4*len(values))
	for _, v := range values {
		words = binary.BigEndian.AppendUint32(words, math.Float32bits(v))
	}
	f.table = string(words)
	for _, b := range codebooks {
		if slices.Equal(b.values, values) {
			f.Name = b.name
		}
	}
	return f
}

// len is the number of values.
func (f Codebook) len() int { return len(f.table) / 4 }

// at is value k of the table.
func (f Codebook) at(k int) float32 {
	t := f.table[4*k : 4*k+4]
	return math.Float32frombits(uint32(t[0])<<24 | uint32(t[1])<<16 | uint32(t[2])<<8 | uint32(t[3]))
}

// String is the canonical text.
func (f Codebook) String() string {
	text := f.Name
	if text == "" {
		values := make([]string, f.len())
		for k := range values {
			values[k] = number(f.at(k))
		}
		text = strings.Join(values, ":")
	}
	return "codebook(" + text + ")" + scaleText(f.Scale)
}

// Width is the bits of the last code.
func (f Codebook) Width() int {
	w := 1
	for 1<<w < f.len() {
		w++
	}
	return w
}

// Decode is the value of a code; codes behind the last one, which encoding never makes, have its value.
func (f Codebook) Decode(code int64) Exact {
	k := min(int(code&(1<<f.Width()-1)), f.len()-1)
	return FromFloat32(f.at(k)).Mul(FromFloat32(f.Scale)).plus()
}

// plus is x without the sign of a zero.
func (x Exact) plus() Exact {
	if x.IsZero() {
		return Exact{}
	}
	return x
}

// Encode takes the nearest value, of two the even code; NaN counts as 0.
func (f Codebook) Encode(v Exact) int64 {
	if v.IsNaN() {
		v = Exact{}
	}
	last := int64(f.len() - 1)
	return First(0, last-1, func(k int64) bool { // the first code whose border with the next one lies above v
		border := f.Decode(k).Add(f.Decode(k + 1)).Shift(-1)
		c := v.Cmp(border)
		return c < 0 || c == 0 && k&1 == 0
	})
}

func (f Codebook) codes() Set { return f }

func (f Codebook) scale() float32 { return f.Scale }
