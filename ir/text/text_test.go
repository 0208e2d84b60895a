// SPDX-License-Identifier: Apache-2.0

package text

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op"
	"lathe/ir/op/leaf"
)

// same prints, parses and prints again.
func same(t *testing.T, g *ir.Graph) *ir.Graph {
	t.Helper()
	src := Print(g)
	h, err := Parse("g.txt", src, func(digest string) (*ir.Blob, bool) {
		for _, n := range g.Nodes {
			if c, ok := n.Attrs.(*ir.Const); ok && c.Data.Digest() == digest {
				return c.Data, true
			}
		}
		return nil, false
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	if again := Print(h); again != src {
		t.Fatalf("prints differ:\n%s\n%s", src, again)
	}
	return h
}

// randomGraph makes nodes of all operations with random attributes; it need not be a sound graph.
func randomGraph(r *rand.Rand) *ir.Graph {
	g := &ir.Graph{Name: randomName(r), Stage: ir.Stage(r.IntN(3))}
	used := map[string]bool{}
	for range 1 + r.IntN(12) {
		o := op.All[r.IntN(len(op.All))]
		n := &ir.Node{Name: randomName(r), Op: o, Type: randomType(r)}
		if used[n.Name] {
			continue
		}
		used[n.Name] = true
		if o.Attrs != nil {
			n.Attrs = reflect.New(reflect.TypeOf(o.Attrs)).Interface()
			if c, ok := n.Attrs.(*ir.Const); ok {
				c.Data = randomBlob(r)
			} else {
				fill(r, reflect.ValueOf(n.Attrs).Elem())
			}
		}
		for range r.IntN(3) {
			if len(g.Nodes) > 0 {
				n.Args = append(n.Args, g.Nodes[r.IntN(len(g.Nodes))])
			}
		}
		if r.IntN(2) == 0 {
			fill(r, reflect.ValueOf(&n.HW).Elem())
			fill(r, reflect.ValueOf(&n.Stats).Elem())
			n.Pos = randomName(r)
		}
		g.Nodes = append(g.Nodes, n)
		if o == leaf.Input {
			g.In = append([]*ir.Node{n}, g.In...)
		}
	}
	for i := range r.IntN(3) {
		o := ir.Output{Name: randomName(r), Node: g.Nodes[r.IntN(len(g.Nodes))]}
		if i == 1 {
			o.Perm = []int{0, 2, 1}
		}
		g.Out = append(g.Out, o)
	}
	return g
}

func randomName(r *rand.Rand) string {
	letters := []rune("abcXYZ019_./-+ \"%\\\n\x00é{}@=:#")
	name := make([]rune, r.IntN(6))
	for i := range name {
		name[i] = letters[r.IntN(len(letters))]
	}
	return string(name) + string(rune('a'+r.IntN(26)))
}

func randomType(r *rand.Rand) ir.Type {
	t := ir.Type{Format: format.FP32}
	for range r.IntN(4) {
		t.Shape = append(t.Shape, r.IntN(5))
	}
	for _, text := range []string{"fixed(8,4)", "uint(8,z=3)*0.05", "int(4)*[0]", "mxint8"} {
		if r.IntN(4) == 0 {
			t.Format, _ = format.Parse(text)
		}
	}
	if r.IntN(4) == 0 {
		t.Scales = []float32{0.5, 0.1, float32(r.NormFloat64())}
	}
	return t
}

func randomBlob(r *rand.Rand) *ir.Blob {
	types := []ir.DType{ir.F32, ir.F64, ir.F16, ir.BF, ir.I8, ir.I16, ir.I32, ir.I64, ir.U8, ir.U16, ir.U32, ir.U64, ir.B1}
	d := types[r.IntN(len(types))]
	b := &ir.Blob{DType: d, Bytes: make([]byte, d.Size()*r.IntN(40))}
	for i := range b.Bytes {
		b.Bytes[i] = byte(r.Uint32())
	}
	return b
}

// fill sets the members of a struct at random.
func fill(r *rand.Rand, v reflect.Value) {
	for _, f := range fields(v) {
		switch f.val.Kind() {
		case reflect.Bool:
			f.val.SetBool(r.IntN(2) == 0)
		case reflect.Int:
			f.val.SetInt(int64(r.IntN(100) - 50))
		case reflect.Uint8:
			f.val.SetUint(uint64(r.IntN(3)))
		case reflect.Float32, reflect.Float64:
			f.val.SetFloat([]float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), r.NormFloat64() * 1e30, 0.1}[r.IntN(6)])
		case reflect.String:
			f.val.SetString(randomName(r))
		case reflect.Slice:
			if size := r.IntN(3); size != 1 {
				f.val.Set(reflect.MakeSlice(f.val.Type(), size, size))
			}
			for i := range f.val.Len() {
				switch e := f.val.Index(i); e.Kind() {
				case reflect.String:
					e.SetString(randomName(r))
				case reflect.Float32:
					e.SetFloat(float64(float32(r.NormFloat64())))
				default:
					e.SetInt(int64(r.IntN(18) - 9))
				}
			}
		case reflect.Pointer:
			if f.val.Type() != reflect.TypeFor[*ir.Graph]() {
				continue
			}
			g, err := Parse("inner", "lathe 1\ngraph %g quantized(%\"x y\") {\n  %\"x y\" = input : 1x2 fixed(8,4)\n"+
				"  %c = const {data = i8 [1, -2]} : 2 fixed(8,3)\n  %y = add(%\"x y\", %c) : 1x2 fixed(9,4) @ \"at \\\"y\\\"\"\n"+
				"  return y = %y\n}\n", nil)
			if err != nil {
				panic(err)
			}
			f.val.Set(reflect.ValueOf(g))
		}
	}
}

func TestRandomRoundTrip(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		g := randomGraph(r)
		h := same(t, g)
		if len(h.Nodes) != len(g.Nodes) || len(h.In) != len(g.In) || len(h.Out) != len(g.Out) {
			t.Fatalf("seed %d: nodes were lost", seed)
		}
		for i, n := range g.Nodes {
			m := h.Nodes[i]
			if n.HW != m.HW || n.Stats != m.Stats || n.Pos != m.Pos || n.Name != m.Name || n.Op != m.Op {
				t.Fatalf("seed %d: node %q differs", seed, n.Name)
			}
			if n.Attrs != nil && !n.IsConst() && !reflect.DeepEqual(n.Attrs, m.Attrs) {
				t.Fatalf("seed %d: attributes of %q differ: %+v %+v", seed, n.Name, n.Attrs, m.Attrs)
			}
		}
	}
}

// TestAttributeKinds holds every operation to members that have a text form.
func TestAttributeKinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, o := range op.All {
		if o.Attrs == nil || o == leaf.Const {
			continue
		}
		v := reflect.New(reflect.TypeOf(o.Attrs)).Elem()
		fill(r, v)
		for _, f := range fields(v) {
			if strings.HasPrefix(value(f.val), "?") {
				t.Errorf("%s: member %s has no text form", o.Name, f.name)
			}
		}
	}
}

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{"InLanes": "in_lanes", "II": "ii", "CeilMode": "ceil_mode", "Min": "min",
		"StreamIn": "stream_in", "HTTPPort": "http_port"} {
		if got := snake(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
