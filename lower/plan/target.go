// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"lathe/ir/target"
)

func (p *parser) target(f *file, t *Target) {
	if f.Target.Part != nil {
		fpga, err := target.Find(*f.Target.Part)
		if err != nil {
			p.add(err, "target.part")
		} else {
			t.FPGA, t.Stated = *fpga, true
		}
	}
	p.number("target.clock_mhz", f.Target.ClockMHz, &t.ClockMHz, 1, 2000)
	p.number("target.stream_clock_mhz", f.Target.StreamMHz, &t.StreamMHz, 1, 2000)
	if f.Target.StreamMHz != nil && f.Sequence.Decode != nil && *f.Sequence.Decode {
		p.fail("target.stream_clock_mhz", "a decoder has one clock: position and error go along with its tokens").
			WithHint("leave stream_clock_mhz out, or decode")
	}
}
