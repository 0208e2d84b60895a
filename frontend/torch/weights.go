// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
)

// maxCopied bounds the elements that are copied out of views which no constant can hold as they are.
const maxCopied = 1 << 24

// stored is an entry of a config: where a parameter, buffer or constant lies.
type stored struct {
	folder string // of its data
	at     *source.JSON
}

// role is what the program uses stored values for.
func (s *inputSpec) role() ir.Role {
	switch s.kind {
	case "parameter":
		return ir.Parameter
	case "buffer":
		return ir.Buffer
	}
	return ir.Literal
}

// config reads the table of the weights, or of the constants.
func (p *program) config(kind, label string) error {
	folder := p.root + "/data/" + kind + "/"
	m := p.archive.Find(folder + label + "_" + kind + "_config.json")
	if m == nil {
		return nil // nothing is stored; what is needed all the same will be missed by its name
	}
	text, err := p.archive.Read(m)
	if err != nil {
		return err
	}
	root, err := source.ParseJSON(p.name+": "+m.Name, text)
	if err != nil {
		return err
	}
	r := reader{}
	for _, v := range r.entries(r.need(root, "config")) {
		if p.stored[v.Key] == nil {
			p.stored[v.Key] = &stored{folder, v}
		}
	}
	return r.err
}

// view is a strided view of stored elements.
type view struct {
	member  *source.Member
	typ     ir.DType
	shape   []int
	strides []int64 // in elements, as is the offset
	offset  int64
	at      *source.JSON
}

// parameter returns the node of a parameter, buffer or constant. Equal views of the same data share it.
func (im *importer) parameter(spec *inputSpec) (*ir.Node, error) {
	s := im.program.stored[spec.stored]
	if s == nil {
		e := spec.at.Errorf(diag.UndefinedValue, "the archive holds no data of %s", source.Quote(spec.stored))
		if near := diag.Nearest(spec.stored, slices.Sorted(maps.Keys(im.program.stored))); near != "" {
			e = e.WithNote("the nearest name is %s", source.Quote(near))
		}
		return nil, e
	}
	v, err := im.program.locate(s)
	if err != nil {
		return nil, err
	}
	if err := im.agrees(spec, v); err != nil {
		return nil, err
	}
	key := v.key()
	if n := im.shared[key]; n != nil {
		return n, nil
	}
	n, err := im.read(spec.stored, v, spec.role())
	im.shared[key] = n
	return n, err
}

// locate reads an entry and checks that it lies inside of its data.
func (p *program) locate(s *stored) (*view, error) {
	r := reader{}
	name := r.str(r.need(s.at, "path_name"))
	pickled, err := s.at.Get("use_pickle").Bool()
	if r.err != nil {
		return nil, r.err
	}
	if err == nil && pickled {
		return nil, s.at.Errorf(diag.Pickle, "is stored as a Python pickle; pickles are never opened").
			WithHint("export the model with plain tensors as weights")
	}
	m := r.meta(r.need(s.at, "tensor_meta"))
	v := &view{at: s.at, offset: r.sizeOf(m.offset)}
	for i := range m.sizes {
		v.shape = append(v.shape, int(r.sizeOf(m.sizes[i])))
	}
	for i := range m.strides {
		v.strides = append(v.strides, r.sizeOf(m.strides[i]))
	}
	if r.err != nil {
		return nil, r.err
	}
	if v.typ, err = m.storage(); err != nil {
		return nil, err
	}
	if strings.Contains(name, "/") {
		return nil, s.at.Errorf(diag.WeightStorage, "names %s as its data: a path", source.Quote(name))
	}
	if v.member = p.archive.Find(s.folder + name); v.member == nil {
		return nil, s.at.Errorf(diag.UndefinedValue, "the archive lacks its data %s", source.Quote(name))
	}
	return v, v.check()
}

// sizeOf reads a size that must be fixed.
func (r *reader) sizeOf(v *source.JSON) int64 {
	n := r.int(r.need(v, "as_int"))
	if r.err == nil && (n < 0 || n > maxSize) {
		r.err = v.Errorf(diag.WeightStorage, "is %d; sizes, strides and offsets are 0 to 2^40", n)
	}
	return n
}

// storage is the storage type of a strided tensor.
func (m *meta) storage() (ir.DType, error) {
	const strided = 7
	if m.layout != strided {
		return "", m.at.Errorf(diag.SparseTensor, "has the layout %d; only strided tensors are supported", m.layout)
	}
	if typ := storage(m.dtype); typ != "" {
		return typ, nil
	}
	return "", m.at.Errorf(diag.BadElementType, "has elements of type %s, which is not supported", dtypeName(m.dtype))
}

// check holds shape, strides and offset against the bytes that there are.
func (v *view) check() error {
	if len(v.strides) != len(v.shape) {
		return v.at.Errorf(diag.WeightStorage, "has %d strides for %d dimensions", len(v.strides), len(v.shape))
	}
	if err := ir.CheckShape(v.shape); err != nil {
		return v.at.Errorf(diag.WeightStorage, "%v", err)
	}
	have := int64(v.member.Size / v.typ.Size())
	last := v.offset // the largest index
	for i, d := range v.shape {
		if d == 0 {
			return nil
		}
		step, ok := onSizes("mul", int64(d-1), v.strides[i])
		if last += step; !ok {
			last = maxSize
		}
	}
	if last >= have {
		return v.at.Errorf(diag.WeightStorage,
			"shape %s, strides %v and offset %d reach element %d of the %d that are stored",
			ir.ShapeString(v.shape), v.strides, v.offset, last, have)
	}
	return nil
}

// agrees holds the shape and type of stored data against those that the graph states.
func (im *importer) agrees(spec *inputSpec, v *view) error {
	m := im.graph.tensors[spec.arg]
	if m == nil {
		return nil
	}
	typ, err := m.storage()
	if err != nil {
		return err
	}
	shape, err := im.shapeOf(m)
	if err != nil {
		return err
	}
	if typ != v.typ || !slices.Equal(shape, v.shape) {
		return v.at.Errorf(diag.ProgramDisagrees, "is %s of %s, and %s of %s by the graph", ir.ShapeString(v.shape), v.typ,
			ir.ShapeString(shape), typ)
	}
	return nil
}

// key tells views of the same elements from others.
func (v *view) key() string {
	return fmt.Sprint(v.member.Name, " ", v.typ, v.shape, v.strides, v.offset)
}

// read makes the constant: a view of the archive where the elements stand in order, with a transpose behind it where
// only the axes are permuted, and a copy of any other view.
func (im *importer) read(name string, v *view, role ir.Role) (*ir.Node, error) {
	bytes, err := im.program.archive.View(v.member)
	if err != nil {
		return nil, err
	}
	size := v.typ.Size()
	elems := ir.Type{Shape: v.shape}.Elems()
	perm := v.order()
	if perm == nil {
		return im.copied(name, v, bytes, role)
	}
	from := int(v.offset) * size
	if elems == 0 {
		from = 0
	}
	shape := make([]int, len(perm)) // as the elements lie
	back := make([]int, len(perm))
	for i, p := range perm {
		shape[i], back[p] = v.shape[p], i
	}
	data := &ir.Blob{DType: v.typ, Bytes: bytes[from : from+elems*size]}
	n, err := im.b.Stored(name, data, shape, role)
	if err != nil || slices.IsSorted(perm) {
		return n, err
	}
	return im.b.Emit(build.Place{Name: name, Source: "strides"}, move.Transpose, &move.TransposeAttrs{Perm: back}, n)
}

// order is the order of axes in which the elements lie without gaps, outermost first; nil if there is none.
func (v *view) order() []int {
	var long []int // axes of more than one element
	for i, d := range v.shape {
		if d == 0 {
			long = nil
			break
		}
		if d > 1 {
			long = append(long, i)
		}
	}
	slices.SortStableFunc(long, func(a, b int) int { return cmp.Compare(v.strides[b], v.strides[a]) })
	perm := make([]int, len(v.shape))
	for i, d := range v.shape {
		if perm[i] = i; d > 1 && len(long) > 0 {
			perm[i], long = long[0], long[1:]
		}
	}
	if (ir.Type{Shape: v.shape}).Elems() == 0 {
		return perm
	}
	want := int64(1)
	for _, p := range slices.Backward(perm) {
		if v.shape[p] != 1 && v.strides[p] != want {
			return nil
		}
		want *= int64(v.shape[p])
	}
	return perm
}

// copied makes a constant of the elements of a view with gaps or repetitions.
func (im *importer) copied(name string, v *view, bytes []byte, role ir.Role) (*ir.Node, error) {
	elems, size := ir.Type{Shape: v.shape}.Elems(), v.typ.Size()
	if im.copiedElems += elems; im.copiedElems > maxCopied {
		return nil, v.at.Errorf(diag.ModelLimit, "strides %v of shape %s ask for a copy; the limit is %d elements in all",
			v.strides, ir.ShapeString(v.shape), maxCopied).WithHint("export the model with contiguous weights")
	}
	out := make([]byte, 0, elems*size)
	index := make([]int, len(v.shape))
	at := v.offset
	for range elems {
		out = append(out, bytes[int(at)*size:(int(at)+1)*size]...)
		for k := len(index) - 1; k >= 0; k-- {
			index[k]++
			at += v.strides[k]
			if index[k] < v.shape[k] {
				break
			}
			at -= int64(index[k]) * v.strides[k]
			index[k] = 0
		}
	}
	return im.b.Stored(name, &ir.Blob{DType: v.typ, Bytes: out}, v.shape, role)
}
