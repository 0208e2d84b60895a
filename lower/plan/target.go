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
	for _, c := range []struct {
		key   string
		given *float64
		to    *float64
	}{{"clock_mhz", f.Target.ClockMHz, &t.ClockMHz}, {"stream_clock_mhz", f.Target.StreamMHz, &t.StreamMHz}} {
		if c.given == nil {
			continue
		}
		if !(*c.given >= 1 && *c.given <= 2000) {
			p.fail("target."+c.key, "%s = %v lies outside 1..2000", c.key, *c.given)
		}
		*c.to = *c.given
	}
	if f.Target.StreamMHz != nil && f.Sequence.Decode != nil && *f.Sequence.Decode {
		p.fail("target.stream_clock_mhz", "a decoder has one clock: position and error go along with its tokens").
			WithHint("leave stream_clock_mhz out, or decode")
	}
}
