// SPDX-License-Identifier: Apache-2.0

// Package triton runs kernels that Triton compiled (make.py has their sources) in the interpreter: PTX that our own
// compiler and kernels have no part in, so that layouts and waits which both get wrong alike would show.
package triton

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lathe/cuda/ptx"
	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/tensor"
)

// matrix is an operand: rows by columns of a type, in row-major order.
type matrix struct {
	kind       string // bf16, f16, f32, s8, s32
	rows, cols int
	values     []float64
	out        bool
}

func (m *matrix) size() int {
	return map[string]int{"bf16": 2, "f16": 2, "f32": 4, "s8": 1, "s32": 4}[m.kind]
}

// drawn fills a matrix with random values that its type holds.
func drawn(r *rand.Rand, kind string, rows, cols int) *matrix {
	m := &matrix{kind: kind, rows: rows, cols: cols, values: make([]float64, rows*cols)}
	for i := range m.values {
		if m.values[i] = r.NormFloat64(); kind == "s8" {
			m.values[i] = float64(r.IntN(256) - 128)
		}
	}
	m.decode(m.encode())
	return m
}

func output(kind string, rows, cols int) *matrix {
	return &matrix{kind: kind, rows: rows, cols: cols, values: make([]float64, rows*cols), out: true}
}

func (m *matrix) encode() []byte {
	var b []byte
	for _, v := range m.values {
		word := math.Float32bits(float32(v))
		switch m.kind {
		case "bf16":
			b = binary.LittleEndian.AppendUint16(b, uint16((word+0x7FFF+word>>16&1)>>16))
		case "f16":
			b = binary.LittleEndian.AppendUint16(b, uint16(lane.RoundHalf(v)))
		case "s8":
			b = append(b, byte(int8(v)))
		default:
			b = binary.LittleEndian.AppendUint32(b, word)
		}
	}
	return b
}

func (m *matrix) decode(b []byte) {
	for i := range m.values {
		switch v := b[i*m.size():]; m.kind {
		case "bf16":
			m.values[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(v)) << 16))
		case "f16":
			m.values[i] = lane.Half(uint64(binary.LittleEndian.Uint16(v)))
		case "s8":
			m.values[i] = float64(int8(v[0]))
		case "s32":
			m.values[i] = float64(int32(binary.LittleEndian.Uint32(v)))
		default:
			m.values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(v)))
		}
	}
}

// kernel is a file of testdata.
type kernel struct {
	name, text      string
	threads, shared uint32
	boxes           []*tensor.Map // of its tensor maps: Box and Swizzle
}

var (
	headPattern = regexp.MustCompile(`// Triton \S+, \w+: (\d+) threads, (\d+) bytes`)
	boxPattern  = regexp.MustCompile(`// box (\d+) x (\d+), swizzle (\d)`)
)

func read(t testing.TB, name string) kernel {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".ptx"))
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) int64 {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	head := headPattern.FindStringSubmatch(string(text))
	if head == nil {
		t.Fatalf("%s has no first line that says its threads", name)
	}
	k := kernel{name: name, text: string(text), threads: uint32(number(head[1])), shared: uint32(number(head[2]))}
	for _, b := range boxPattern.FindAllStringSubmatch(k.text, -1) {
		m := &tensor.Map{Box: []int64{number(b[2]), number(b[1])}, Swizzle: tensor.Swizzle(number(b[3]))}
		k.boxes = append(k.boxes, m)
	}
	return k
}

// task is a kernel on operands. Arguments are *matrix, int32 or float32; of a kernel with boxes every matrix is a map.
type task struct {
	file string
	grid [3]uint32
	args []any
	// want gives the value of an element of the output, and how far from it may be.
	want func(row, col int) (value, off float64)
}

// pack lays the arguments out: a map comes with two extents and two strides, and two pointers stand at the end.
func (x task) pack(t testing.TB, k kernel, m *ptx.Machine, params []ptx.Param) (args []byte, out *matrix, at uint64) {
	t.Helper()
	var fields [][]byte
	u32 := func(v uint32) { fields = append(fields, binary.LittleEndian.AppendUint32(nil, v)) }
	u64 := func(v uint64) { fields = append(fields, binary.LittleEndian.AppendUint64(nil, v)) }
	maps := k.boxes
	for i, arg := range x.args {
		switch v := arg.(type) {
		case int32:
			u32(uint32(v))
		case float32:
			u32(math.Float32bits(v))
		case *matrix:
			addr, err := m.Alloc(int64(len(v.values)*v.size()), ptx.AllocOptions{Name: fmt.Sprint("argument ", i)})
			if err != nil {
				t.Fatal(err)
			}
			if v.out {
				out, at = v, addr
			} else if err := m.Write(addr, v.encode()); err != nil {
				t.Fatal(err)
			}
			if len(k.boxes) == 0 {
				u64(addr)
				continue
			}
			tm := *maps[0]
			maps = maps[1:]
			tm.Type, tm.Address = map[string]tensor.Type{"bf16": tensor.BF16, "f16": tensor.F16}[v.kind], addr
			tm.Dims, tm.Strides = []int64{int64(v.cols), int64(v.rows)}, []int64{int64(v.cols * v.size())}
			b, err := tm.Encode()
			if err != nil {
				t.Fatal(err)
			}
			fields = append(fields, b[:])
			u32(uint32(v.rows))
			u32(uint32(v.cols))
			u64(uint64(v.cols))
			u64(1)
		}
	}
	u64(0)
	u64(0)
	if len(fields) != len(params) {
		t.Fatalf("%s has %d parameters, not %d", k.name, len(params), len(fields))
	}
	for i, p := range params {
		if int64(len(fields[i])) != p.Size {
			t.Fatalf("%s: parameter %d has %d bytes, not %d", k.name, i, p.Size, len(fields[i]))
		}
		args = append(args, make([]byte, p.Offset-int64(len(args)))...)
		args = append(args, fields[i]...)
	}
	return args, out, at
}

// run runs the task by a text and returns the bytes of its output; wrong says which values are wrong, "" for none.
func (x task) run(t testing.TB, k kernel, opt ptx.Options) (got []byte, wrong string, err error) {
	t.Helper()
	mod, err := ptx.Parse(k.name+".ptx", []byte(k.text))
	if err != nil {
		return nil, "", err
	}
	m := ptx.NewMachine(opt)
	entry := mod.Kernels()[0]
	args, out, at := x.pack(t, k, m, entry.Params)
	if _, err := m.Launch(entry, x.grid, [3]uint32{k.threads, 1, 1}, k.shared, args); err != nil {
		return nil, "", err
	}
	got = make([]byte, len(out.values)*out.size())
	if err := m.Read(at, got); err != nil {
		t.Fatal(err)
	}
	out.decode(got)
	bad := 0
	for i, v := range out.values {
		want, off := x.want(i/out.cols, i%out.cols)
		if !(math.Abs(v-want) <= off) {
			if bad++; bad == 1 {
				wrong = fmt.Sprintf("[%d,%d] is %g, not %g within %g", i/out.cols, i%out.cols, v, want, off)
			}
		}
	}
	if bad > 1 {
		wrong += fmt.Sprintf("; %d of %d are wrong", bad, len(out.values))
	}
	return got, wrong, nil
}

// ulp is half the distance of floats of 16 bits, as a part of their value.
func ulp(kind string) float64 { return map[string]float64{"bf16": 0x1p-8, "f16": 0x1p-11}[kind] }

// product is the task of out = a * b, whose elements a and b give by row and depth, and depth and column.
func product(file string, grid [3]uint32, out *matrix, depth int, a, b func(i, j int) float64, args ...any) task {
	return task{file, grid, args, func(row, col int) (value, off float64) {
		size := 0.0
		for k := range depth {
			p := a(row, k) * b(k, col)
			value, size = value+p, size+math.Abs(p)
		}
		if out.kind == "s32" {
			return value, 0
		}
		return value, ulp(out.kind)*math.Abs(value) + 0x1p-23*math.Sqrt(float64(depth))*size
	}}
}

func (m *matrix) at(i, j int) float64     { return m.values[i*m.cols+j] }
func (m *matrix) across(i, j int) float64 { return m.values[j*m.cols+i] }

// softmaxOf is the weights of a row of scores.
func softmaxOf(scores []float64) []float64 {
	peak, total := math.Inf(-1), 0.0
	for _, s := range scores {
		peak = max(peak, s)
	}
	out := make([]float64, len(scores))
	for i, s := range scores {
		out[i] = math.Exp(s - peak)
		total += out[i]
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

// attention is the task of softmax(scale q k^T) v over heads of n rows; weights are rounded to 16 bits before the sum.
func attention(file, kind string, heads, n int, causal bool) task {
	const dim, scale = 64, float32(0.125)
	r := rand.New(rand.NewPCG(7, uint64(n)))
	q, k, v := drawn(r, kind, heads*n, dim), drawn(r, kind, heads*n, dim), drawn(r, kind, heads*n, dim)
	weights := map[int][]float64{}
	return task{file, [3]uint32{uint32(n+63) / 64, uint32(heads), 1},
		[]any{q, k, v, output(kind, heads*n, dim), int32(n), scale}, func(row, col int) (value, off float64) {
			first, count := row/n*n, n
			if causal {
				count = row%n + 1
			}
			if weights[row] == nil {
				scores := make([]float64, count)
				for j := range scores {
					for d := range dim {
						scores[j] += q.at(row, d) * k.at(first+j, d) * float64(scale)
					}
				}
				weights[row] = softmaxOf(scores)
			}
			size := 0.0
			for j, w := range weights[row] {
				value, size = value+w*v.at(first+j, col), size+w*math.Abs(v.at(first+j, col))
			}
			return value, ulp(kind) * (math.Abs(value) + size)
		}}
}

// rowTasks are softmax and layer norm.
func rowTasks(sm string) []task {
	r := rand.New(rand.NewPCG(8, 8))
	const rows, n = 3, 784
	x, gain, bias := drawn(r, "f32", rows, n), drawn(r, "f32", 1, n), drawn(r, "f32", 1, n)
	weights := map[int][]float64{}
	return []task{
		{"softmax." + sm, [3]uint32{rows, 1, 1}, []any{x, output("f32", rows, n), int32(n)},
			func(row, col int) (float64, float64) {
				if weights[row] == nil {
					weights[row] = softmaxOf(x.values[row*n:][:n])
				}
				return weights[row][col], 4e-7
			}},
		{"layer_norm." + sm, [3]uint32{rows, 1, 1}, []any{x, gain, bias, output("f32", rows, n), int32(n), float32(1e-5)},
			func(row, col int) (float64, float64) {
				mean, square := 0.0, 0.0
				for _, v := range x.values[row*n:][:n] {
					mean += v / n
				}
				for _, v := range x.values[row*n:][:n] {
					square += (v - mean) * (v - mean) / n
				}
				s := math.Sqrt(square + 1e-5)
				return (x.at(row, col)-mean)/s*gain.values[col] + bias.values[col],
					0x1p-20*(1+math.Abs(mean)/s)*math.Abs(gain.values[col]) + 0x1p-23*math.Abs(bias.values[col])
			}},
	}
}

// boxTasks are the products by boxes of tensor maps.
func boxTasks() []task {
	r := rand.New(rand.NewPCG(9, 9))
	tiles := func(m, n, by int) [3]uint32 {
		return [3]uint32{uint32((m + by - 1) / by), uint32((n + by - 1) / by), 1}
	}
	a, b, c := drawn(r, "bf16", 100, 200), drawn(r, "bf16", 72, 200), output("bf16", 100, 72)
	p, q, s := drawn(r, "bf16", 104, 104), drawn(r, "bf16", 104, 72), output("bf16", 104, 72)
	x, y, z := drawn(r, "bf16", 130, 192), drawn(r, "bf16", 136, 192), output("bf16", 130, 136)
	u, v, w := drawn(r, "f16", 70, 56), drawn(r, "f16", 40, 56), output("f16", 70, 40)
	return []task{
		product("matmul_boxes.sm_90", tiles(100, 72, 64), c, 200, a.at, b.across, a, b, c, int32(200)),
		product("matmul_columns.sm_90", tiles(104, 72, 64), s, 104, p.across, q.at, p, q, s, int32(104)),
		product("matmul_wide.sm_90", tiles(130, 136, 128), z, 192, x.at, y.across, x, y, z, int32(192)),
		product("matmul_narrow.sm_90", [3]uint32{2, 2, 1}, w, 56, u.at, v.across, u, v, w, int32(56)),
		product("matmul_shallow.sm_90", tiles(100, 72, 64), c, 200, a.at, b.across, a, b, c, int32(200)),
		columns(32), columns(16), columns(8),
		product("matmul_persistent.sm_90", [3]uint32{2, 1, 1}, z, 192, x.at, y.across, x, y, z, int32(130), int32(136),
			int32(192)),
		attention("attention_boxes.sm_90", "bf16", 2, 128, false),
	}
}

// columns is the product of columns by tiles of n, whose rows have a swizzle of their own length each.
func columns(n int) task {
	r := rand.New(rand.NewPCG(9, uint64(n)))
	a, b, c := drawn(r, "bf16", 72, 72), drawn(r, "bf16", 72, 56), output("bf16", 72, 56)
	file, grid := fmt.Sprintf("matmul_columns_%d.sm_90", n), [3]uint32{2, uint32(55/n + 1), 1}
	return product(file, grid, c, 72, a.across, b.at, a, b, c, int32(72))
}

func tasks() []task {
	all := boxTasks()
	for _, sm := range []string{"sm_80", "sm_90"} {
		r := rand.New(rand.NewPCG(6, 6))
		a, b, c := drawn(r, "bf16", 70, 112), drawn(r, "bf16", 112, 80), output("bf16", 70, 80)
		d, e, f := drawn(r, "s8", 70, 176), drawn(r, "s8", 176, 80), output("s32", 70, 80)
		all = append(all,
			product("matmul."+sm, [3]uint32{2, 2, 1}, c, 112, a.at, b.at, a, b, c, int32(70), int32(80), int32(112)),
			product("matmul_int8."+sm, [3]uint32{2, 2, 1}, f, 176, d.at, e.at, d, e, f, int32(70), int32(80), int32(176)),
			attention("attention."+sm, "bf16", 2, 112, false), attention("attention_causal."+sm, "f16", 1, 112, true))
		all = append(all, rowTasks(sm)...)
	}
	return all
}

// TestCorpus demands of every kernel right values, no race, and the same bits in other orders.
func TestCorpus(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range tasks() {
		seen[x.file+".ptx"] = true
		t.Run(x.file, func(t *testing.T) {
			k := read(t, x.file)
			var first []byte
			for _, opt := range []ptx.Options{{Races: true, Lanes: true, Grid: true},
				{Schedule: ptx.Reverse, Copies: ptx.Lazy}, {Schedule: ptx.Random, Seed: 1, Copies: ptx.Anytime}} {
				got, wrong, err := x.run(t, k, opt)
				if err != nil || wrong != "" {
					t.Fatalf("%+v: %v%s", opt, err, wrong)
				}
				if first == nil {
					first = got
				} else if !bytes.Equal(first, got) {
					t.Fatalf("%+v gives other bits", opt)
				}
			}
		})
	}
	files, err := filepath.Glob("testdata/*.ptx")
	if err != nil || len(files) != len(seen) {
		t.Errorf("%d files, %d run, %v", len(files), len(seen), err)
	}
	for _, f := range files {
		if !seen[strings.TrimPrefix(filepath.Base(f), "testdata/")] {
			t.Errorf("%s does not run", f)
		}
	}
}
