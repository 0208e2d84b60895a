// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"lathe/cuda/ptx/tensor"
	"lathe/internal/diag"
)

// Launch is one call of a kernel.
type Launch struct {
	Kernel string
	// Grid and Block count blocks and threads along x, y, z; Shared is dynamic shared memory in bytes.
	Grid, Block [3]uint32
	Shared      uint32
	Args        []Arg
}

// Arg is an argument: a buffer with an offset in bytes where Buffer is not negative, else Size bytes of Bits.
type Arg struct {
	Buffer int // index into the buffers of the call; -1 for a scalar
	Offset int64
	Size   int // 4 or 8; that of a map is tensor.Size
	Bits   uint64
	// PerSample and Multiple are of scalars that depend on the number of samples: see At.
	PerSample, Multiple int64
	// Map, if not nil, says that the argument is no address but describes a tensor at that address, for bulk copies.
	// Bits is 0 then; the outermost dimension is PerSample*samples where PerSample is not 0.
	Map *tensor.Map
}

// Tensor is a map of a tensor that begins where an argument points. Its outermost dimension grows by so much with each
// sample, or not where that is 0.
func Tensor(at Arg, m tensor.Map, perSample int64) Arg {
	return Arg{Buffer: at.Buffer, Offset: at.Offset, Size: tensor.Size, Map: &m, PerSample: perSample}
}

// Samples32 and Samples64 are scalars that grow with the number of samples: so much for each, altogether rounded up to
// a multiple.
func Samples32(each, multiple int64) Arg {
	return Arg{Buffer: -1, Size: 4, PerSample: each, Multiple: multiple}
}

// Samples64 is Samples32 in eight bytes.
func Samples64(each, multiple int64) Arg {
	return Arg{Buffer: -1, Size: 8, PerSample: each, Multiple: multiple}
}

// At is the argument for a number of samples: Bits + PerSample*samples, rounded up to a multiple of Multiple if that is
// not 0.
func (a Arg) At(samples int) Arg {
	if a.PerSample == 0 {
		return a
	}
	if a.Map != nil {
		m := *a.Map
		m.Dims = slices.Clone(m.Dims)
		m.Dims[len(m.Dims)-1] = a.PerSample * int64(samples)
		return Arg{Buffer: a.Buffer, Offset: a.Offset, Size: a.Size, Map: &m}
	}
	v := a.Bits + uint64(a.PerSample)*uint64(samples)
	if m := uint64(a.Multiple); m > 0 {
		v = (v + m - 1) / m * m
	}
	return Arg{Buffer: a.Buffer, Size: a.Size, Bits: v}
}

// Buffer is the address of a buffer, by its index; Null is address 0, U32 and the others are scalars.
func Buffer(index int) Arg { return Arg{Buffer: index, Size: 8} }

// BufferAt is an address inside a buffer, offset bytes from its start.
func BufferAt(index int, offset int64) Arg { return Arg{Buffer: index, Offset: offset, Size: 8} }

// Null is the address 0: an optional operand that is absent.
func Null() Arg { return Arg{Buffer: -1, Size: 8} }

// U32 is a scalar of four bytes.
func U32(v uint32) Arg { return Arg{Buffer: -1, Size: 4, Bits: uint64(v)} }

// I32 is a scalar of four bytes.
func I32(v int32) Arg { return U32(uint32(v)) }

// F32 is a scalar of four bytes.
func F32(v float32) Arg { return U32(math.Float32bits(v)) }

// U64 is a scalar of eight bytes.
func U64(v uint64) Arg { return Arg{Buffer: -1, Size: 8, Bits: v} }

// I64 is a scalar of eight bytes.
func I64(v int64) Arg { return U64(uint64(v)) }

// Align is the alignment of the argument among a kernel's parameters.
func (a Arg) Align() int {
	if a.Map != nil {
		return tensor.Align
	}
	return a.Size
}

// Pack lays the arguments out as a kernel's parameters, each aligned to its size, buffers at the given addresses, maps
// as the interpreter has them. Error L0933 for the index of a buffer that is not there, a size that is neither 4 nor 8,
// or a map that no GPU takes.
func (l Launch) Pack(addresses []uint64) ([]byte, error) {
	return l.PackMaps(addresses, func(m *tensor.Map) ([tensor.Size]byte, error) { return m.Encode() })
}

// PackMaps is Pack with maps encoded by a function.
func (l Launch) PackMaps(addresses []uint64, encode func(*tensor.Map) ([tensor.Size]byte, error)) ([]byte, error) {
	var out []byte
	for k, a := range l.Args {
		if a.Size != 4 && a.Size != 8 && a.Map == nil {
			return nil, diag.New(diag.KernelLaunch, l.Kernel, "argument %d has %d bytes, not 4 or 8", k, a.Size).
				WithHint("cuda.U32, cuda.U64, cuda.Buffer and the like make arguments")
		}
		for len(out)%a.Align() != 0 {
			out = append(out, 0)
		}
		bits := a.Bits
		if a.Buffer >= 0 {
			if a.Buffer >= len(addresses) {
				return nil, diag.New(diag.KernelLaunch, l.Kernel, "argument %d is buffer %d of %d", k, a.Buffer, len(addresses)).
					WithHint("buffers count from 0")
			}
			bits = addresses[a.Buffer] + uint64(a.Offset)
		}
		if a.Map != nil {
			m := *a.Map
			m.Address = bits
			words, err := encode(&m)
			if err != nil {
				return nil, diag.New(diag.KernelLaunch, l.Kernel, "argument %d: %v", k, err).
					WithHint("a tensor begins at 16 bytes, and so do its rows")
			}
			out = append(out, words[:]...)
		} else if a.Size == 4 {
			out = binary.LittleEndian.AppendUint32(out, uint32(bits))
		} else {
			out = binary.LittleEndian.AppendUint64(out, bits)
		}
	}
	return out, nil
}

// MaxGridY is what every GPU has along y of a grid, and along z.
const MaxGridY = 65535

// Fit compares a launch with the kernel that it calls: name, number and sizes of the arguments, threads, shared
// memory, and the limits of every GPU on the grid. Error L0933.
func (i Instance) Fit(l Launch) error {
	fail := func(format string, args ...any) error {
		return diag.New(diag.KernelLaunch, i.Kernel, format,
			args...).WithHint("the plan that made the kernel has launches that fit")
	}
	if l.Kernel != i.Kernel {
		return fail("the launch is of %s", l.Kernel)
	}
	if len(l.Args) != len(i.Template.Args) {
		return fail("%s takes %d arguments, the launch has %d", i, len(i.Template.Args), len(l.Args))
	}
	for k, a := range i.Template.Args {
		want := 8
		switch {
		case a.Map():
			want = tensor.Size
		case !a.Pointer:
			want = scalar(i.substitute(a.Type))
		}
		if l.Args[k].Size != want || l.Args[k].Buffer >= 0 && !a.Pointer && !a.Map() {
			return fail("argument %d (%s %s) is %d bytes, the launch gives %d", k, a.Type, a.Name, want, l.Args[k].Size)
		}
	}
	threads, err := i.Threads()
	if err != nil {
		return err
	}
	shared, err := i.Shared()
	if err != nil {
		return err
	}
	if n := int(l.Block[0]) * int(l.Block[1]) * int(l.Block[2]); n != threads {
		return fail("%s has blocks of %d threads, the launch of %d", i, threads, n)
	}
	if int(l.Shared) != shared {
		return fail("%s has %d bytes of shared memory, the launch %d", i, shared, l.Shared)
	}
	if l.Grid[0] > math.MaxInt32 || l.Grid[1] > MaxGridY || l.Grid[2] > MaxGridY {
		return fail("no GPU has a grid of %v blocks", l.Grid)
	}
	if l.Grid[0] == 0 || l.Grid[1] == 0 || l.Grid[2] == 0 {
		return fail("a grid of %v has no blocks", l.Grid)
	}
	return nil
}

// scalar is the size of a scalar type in bytes; 0 for an unknown one.
func scalar(typ string) int {
	typ = strings.TrimSpace(strings.TrimPrefix(typ, "const "))
	for _, w := range words {
		if w.name == typ {
			return w.size
		}
	}
	return 0
}
