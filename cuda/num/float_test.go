// SPDX-License-Identifier: Apache-2.0

package num_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/map"
	"lathe/cuda/num"
	"lathe/cuda/word"
)

// small is a float format as a table: its values by counting, and the nearest of them by search.
type small struct {
	kind        string // float, dfloat, log
	e, m, bias  int
	top         string // FINITE, IEEE, FN, FNUZ
	round, over string
}

func (f small) codec() num.Codec {
	text := fmt.Sprintf("float_code<%d, %d, %d, %s, %s, %s>", f.e, f.m, f.bias, f.top, f.round, f.over)
	switch f.kind {
	case "dfloat":
		text = fmt.Sprintf("dfloat_code<%d, %d, %d, %s>", f.e, f.m, f.bias, f.round)
	case "log":
		text = fmt.Sprintf("log_code<%d, %d, %s>", f.width(), f.bias, f.round)
	}
	return num.Codec{Type: text, Bytes: word.For(f.width(), false).Bytes()}
}

func (f small) width() int { return 1 + f.e + f.m }

// value is that of a code without sign.
func (f small) value(c uint32) float64 {
	field, k := int(c>>f.m), float64(c&(1<<f.m-1))
	last := field == 1<<f.e-1
	switch {
	case f.kind == "log" && field == 0:
		return 0
	case f.kind == "log":
		return math.Ldexp(1, field-f.bias)
	case f.kind == "dfloat":
		return math.Ldexp(k, field-f.bias-f.m)
	case f.top == "IEEE" && last && k == 0:
		return math.Inf(1)
	case f.top == "IEEE" && last, f.top == "FN" && last && k == float64(int(1)<<f.m-1):
		return math.NaN()
	case field == 0:
		return math.Ldexp(k, 1-f.bias-f.m)
	}
	return math.Ldexp(k+math.Ldexp(1, f.m), field-f.bias-f.m)
}

// point is a value and its code; of several codes the one with the smallest field.
type point struct {
	v    float64
	code uint32
}

// points are the finite values from 0 up, and behind them the one that would follow.
func (f small) points() []point {
	var out []point
	for c := range uint32(1) << (f.width() - 1) {
		v := f.value(c)
		if math.IsNaN(v) || math.IsInf(v, 0) || slices.ContainsFunc(out, func(p point) bool { return p.v == v }) {
			continue
		}
		out = append(out, point{v, c})
	}
	slices.SortFunc(out, func(a, b point) int { return int(math.Copysign(1, a.v-b.v)) })
	n := len(out)
	next := 2*out[n-1].v - out[n-2].v
	if f.kind == "log" {
		next = 2 * out[n-1].v
	}
	return append(out, point{next, math.MaxUint32})
}

// decode is the value of a code.
func (f small) decode(c uint32) float64 {
	sign := c >> (f.width() - 1) & 1
	low := c & (1<<(f.width()-1) - 1)
	if f.top == "FNUZ" && sign == 1 && low == 0 {
		return math.NaN()
	}
	v := f.value(low)
	if sign == 1 && !(f.kind == "log" && v == 0) {
		v = -v
	}
	return v
}

// up says which of two neighbours a value between them becomes.
func (f small) up(v float64, neg bool, lo, hi point) bool {
	half := (lo.v + hi.v) / 2
	over, tie, some := v > half, v == half, v > lo.v
	switch f.round {
	case "EVEN":
		return over || tie && lo.code&1 == 1
	case "AWAY":
		return over || tie
	case "UP":
		return over || tie && !neg
	case "DOWN":
		return over || tie && neg
	case "HALFZERO":
		return over
	case "FLOOR":
		return some && neg
	case "CEIL":
		return some && !neg
	case "OUTWARD":
		return some
	case "GEOMETRIC":
		return lo.v == 0 && over || lo.v > 0 && v*v >= 2*lo.v*lo.v
	}
	return false
}

// encode is the code of a value.
func (f small) encode(v float64, points []point) uint32 {
	sign := uint32(1) << (f.width() - 1)
	nan := [...]uint32{sign, 1<<(f.e+f.m) - 1, (1<<f.e-1)<<f.m | 1<<max(f.m-1, 0)}
	canonical := nan[max(slices.Index([]string{"FNUZ", "FN", "IEEE"}, f.top), 0)]
	neg := math.Signbit(v)
	switch {
	case math.IsNaN(v) && f.top == "FINITE":
		return 0
	case math.IsNaN(v):
		return canonical
	case !neg:
		sign = 0
	}
	v = math.Abs(v)
	last := len(points) - 1
	i := last
	if v < points[last].v {
		i, _ = slices.BinarySearchFunc(points, v, func(p point, v float64) int {
			if p.v <= v {
				return -1
			}
			return 1
		})
		if i--; f.up(v, neg, points[i], points[i+1]) {
			i++
		}
	}
	switch {
	case i < last && points[i].v == 0 && (f.kind == "log" || f.top == "FNUZ"):
		return 0
	case i < last:
		return sign | points[i].code
	case f.over == "TO_INF":
		return sign | (1<<f.e-1)<<f.m
	case f.over == "TO_NAN":
		return canonical
	}
	return sign | points[last-1].code
}

// smalls are the floats of machine learning, and every rounding and overflow on one or the other.
var smalls = []small{
	{"float", 4, 3, 7, "FN", "EVEN", "SAT"}, {"float", 4, 3, 7, "FN", "AWAY", "TO_NAN"},
	{"float", 5, 2, 15, "IEEE", "EVEN", "TO_INF"}, {"float", 5, 2, 15, "IEEE", "UP", "SAT"},
	{"float", 4, 3, 8, "FNUZ", "EVEN", "SAT"}, {"float", 5, 2, 16, "FNUZ", "DOWN", "TO_NAN"},
	{"float", 3, 2, 3, "FINITE", "EVEN", "SAT"}, {"float", 2, 3, 1, "FINITE", "FLOOR", "SAT"},
	{"float", 2, 1, 1, "FINITE", "EVEN", "SAT"}, {"float", 4, 3, 7, "FINITE", "CEIL", "SAT"},
	{"float", 3, 4, 30, "FINITE", "HALFZERO", "SAT"}, {"float", 5, 3, -4, "FINITE", "OUTWARD", "SAT"},
	{"float", 8, 7, 127, "IEEE", "EVEN", "TO_INF"}, {"float", 5, 10, 15, "IEEE", "ZERO", "SAT"},
	{"dfloat", 4, 3, 7, "FINITE", "EVEN", "SAT"}, {"dfloat", 3, 5, 3, "FINITE", "AWAY", "SAT"},
	{"dfloat", 2, 2, 1, "FINITE", "FLOOR", "SAT"},
	{"log", 3, 0, 3, "FINITE", "EVEN", "SAT"}, {"log", 4, 0, 15, "FINITE", "GEOMETRIC", "SAT"},
	{"log", 7, 0, 63, "FINITE", "CEIL", "SAT"}, {"log", 5, 0, 7, "FINITE", "UP", "SAT"},
}

// tries are fp32 inputs for an encoder: values, borders and what lies beside both, and specials.
func tries(points []point, r *rand.Rand) []uint32 {
	out := []uint32{0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF, 0x7F7FFFFF, 0xFF7FFFFF, 1, 0x80000001}
	for range 300 {
		k := r.IntN(len(points) - 1)
		if r.IntN(8) == 0 {
			k = len(points) - 2
		}
		for _, v := range []float64{points[k].v, (points[k].v + points[k+1].v) / 2, points[k].v * math.Sqrt2} {
			w := math.Float32bits(float32(v))
			out = append(out, w, w+1, w|1<<31, (w+1)|1<<31)
			if w > 0 {
				out = append(out, w-1, (w-1)|1<<31)
			}
		}
		out = append(out, r.Uint32())
	}
	return out
}

// Minifloats, floats without hidden bit and powers of two against tables of their values: all codes, and inputs at and
// beside every kind of border.
func TestSmallFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for some := range slices.Chunk(smalls, 3) {
		seed := r.Uint64()
		t.Run(some[0].codec().Type+" and on", func(t *testing.T) {
			t.Parallel()
			compareSmall(t, some, rand.New(rand.NewPCG(seed, 6)))
		})
	}
}

func compareSmall(t *testing.T, floats []small, r *rand.Rand) {
	t.Helper()
	job := cudatest.Job{Quick: true}
	var want [][]byte
	add := func(c pointwise.Cast, in, out []byte) {
		i := len(want)
		cudatest.Add(t, &job, c, pointwise.Operands{
			X: cuda.Buffer(2 * i), Y: cuda.Buffer(2*i + 1), XScales: cuda.Null(), YScales: cuda.Null()})
		job.Buffers = append(job.Buffers, cudatest.Buffer{Name: c.From.Codec.Type, Data: in},
			cudatest.Buffer{Name: c.To.Codec.Type, Bytes: int64(len(out)), Out: true})
		want = append(want, out)
	}
	fp32 := pointwise.Side{Codec: num.FP32}
	for _, f := range floats {
		side := pointwise.Side{Codec: f.codec()}
		codes, values := f.all()
		add(pointwise.Cast{N: 1 << f.width(), From: side, To: fp32}, codes, values)
		points := f.points()
		var in, out []byte
		for _, w := range tries(points, r) {
			in = binary.LittleEndian.AppendUint32(in, w)
			code := f.encode(float64(math.Float32frombits(w)), points)
			out = append(out, binary.LittleEndian.AppendUint32(nil, code)[:side.Codec.Bytes]...)
		}
		add(pointwise.Cast{N: int64(len(in) / 4), From: fp32, To: side}, in, out)
	}
	for i, out := range cudatest.Run(t, job) {
		what := job.Buffers[2*i].Name + " -> " + job.Buffers[2*i+1].Name
		size := 4
		if i%2 == 1 {
			size = floats[i/2].codec().Bytes
		}
		cudatest.Equal(t, what, out, want[i], size)
	}
}

// all are the codes and their values as words of fp32.
func (f small) all() (codes, values []byte) {
	for c := range uint32(1) << f.width() {
		codes = append(codes, binary.LittleEndian.AppendUint32(nil, c)[:f.codec().Bytes]...)
		v := math.Float32bits(float32(f.decode(c)))
		if math.IsNaN(f.decode(c)) {
			v = 0x7FC00000
		}
		values = binary.LittleEndian.AppendUint32(values, v)
	}
	return codes, values
}
