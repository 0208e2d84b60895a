// SPDX-License-Identifier: Apache-2.0

package cuda

// Case is a kernel on one shape, with all that is needed to check it on any device and to time it on a GPU. The package
// beside a family offers its cases by a function Cases; cuda/cases lists all. Equal cases give equal bytes on every
// call: what is random in them comes from a seed of their own.
type Case struct {
	// Name is unique among all cases: "dequant/bf16/n=1000".
	Name string
	// Instances are the kernels of the launches. Where there are none, Source is the text of them all.
	Instances []Instance
	Source    string
	// Shape and Formats say what is computed: "M=16 N=4096 K=4096", "bf16 x mxint8 -> bf16".
	Shape, Formats string
	// Buffers are what the arguments of the launches index.
	Buffers []CaseBuffer
	// Launches run in order.
	Launches []Launch
	// Bytes and Flops are the least that must be moved and computed: the floor.
	Bytes, Flops int64
	// Int8 says that the operations are products and sums of bytes, of which tensor cores do twice as many a second as of
	// bf16 (whitepapers of NVIDIA's A100 and H100: 624 to 312 and 1979 to 989 Tflop/s, dense).
	Int8 bool
	// Timed cases are measured once their check and those of all other cases of the same instances have passed; the
	// others are checked only. Sizes of timed cases are those of the speed goals.
	Timed bool
	// Check compares the contents of the output buffers, in the order of Buffers, with a reference. A large case may
	// compare a sample, the same on every call.
	Check func(outputs [][]byte) Verdict
}

// Floor is the least time of a case in microseconds at so many bytes and bf16 operations a second; a rate of 0 is not
// known and left out.
func (c Case) Floor(bytes, flops float64) float64 {
	floor := 0.0
	if bytes > 0 {
		floor = float64(c.Bytes) / bytes
	}
	if c.Int8 {
		flops *= 2
	}
	if flops > 0 {
		floor = max(floor, float64(c.Flops)/flops)
	}
	return floor * 1e6
}

// CaseBuffer is an operand of a case. Its memory begins at a multiple of 256 bytes and is surrounded by bytes that no
// kernel may touch. An output starts as 0xFF everywhere; what is no output must keep its content.
type CaseBuffer struct {
	Name  string
	Bytes int64
	// Fill writes the content that the kernel finds; nil for none. An output may have one too: it is then updated in
	// place.
	Fill   func(into []byte)
	Output bool
}

// Verdict is what a check has found: the largest error and what was allowed, in the measure of the kernel's gate,
// whether all is bit for bit as in the reference, and in words what is wrong; "" if nothing.
type Verdict struct {
	MaxErr, Tol float64
	BitEqual    bool
	Wrong       string
}
