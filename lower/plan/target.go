// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"lathe/ir/target"
)

// BadFrames are what becomes of a frame that TLAST ends too early or too late: nobody looks; zeros complete it, or its
// end is cut off; nothing comes out for it.
var BadFrames = []string{"ignore", "complete", "drop"}

func (p *parser) target(f *file, t *Target) {
	if f.Target.Part != nil {
		fpga, err := target.Find(*f.Target.Part)
		if err != nil {
			p.add(err, "target.part")
		} else {
			t.FPGA, t.Stated = *fpga, true
			t.ClockMHz = fpga.Technology().ClockMHz
		}
	}
	p.number("target.clock_mhz", f.Target.ClockMHz, &t.ClockMHz, 1, 2000)
	p.number("target.stream_clock_mhz", f.Target.StreamMHz, &t.StreamMHz, 1, 2000)
	if f.Target.StreamMHz != nil && f.Sequence.Decode != nil && *f.Sequence.Decode {
		p.fail("target.stream_clock_mhz", "a decoder has one clock: position and error go along with its tokens").
			WithHint("leave stream_clock_mhz out, or decode")
	}
}

// stream says what is checked of the input streams, behind what [sequence] says of them.
func (p *parser) stream(f *file, plan *Plan) {
	plan.BadFrame = BadFrames[p.word("stream.bad_frame", f.Stream.BadFrame, BadFrames)]
	if plan.BadFrame != BadFrames[0] && (plan.Decode || plan.Lengths) {
		p.fail("stream.bad_frame", "frames have no length to check: TLAST says how many tokens there are").
			WithHint("leave bad_frame out, or decode and lengths")
	}
}
