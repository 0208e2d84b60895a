// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"lathe/ir"
	"lathe/lower/pass"
	"lathe/lower/schedule/forms"
	"lathe/lower/schedule/lanes"
	"lathe/lower/schedule/streams"
)

// Preparation marks what the plan makes of a whole graph, and has layers share units, before any search.
var Preparation = pass.Pipeline[*stage]{
	pass.New("refuse_cache", "refuses a cache outside of the chip where there is no decoder", pass.Annotate, 0,
		cacheOutside),
	pass.New("mark_decoder", "marks the units of a decoder, where the plan asks for one", pass.Annotate, 0, markDecoder),
	pass.New("mark_lengths", "marks what has a row a token, where the plan has frames of any length", pass.Annotate, 0,
		markLengths),
	pass.New("share_layers", "layers that are alike become one block of units, where the plan asks for it", pass.Exact, 0,
		shareLayers),
	pass.New("take_turns", "has a token of a decoder go through shared units once a layer before the next one enters",
		pass.Annotate, 0, takeTurns),
}

// Pipeline gives every node its hardware.
var Pipeline = pass.Pipeline[*stage]{
	pass.New("pad_channels", "dead channels behind those of layers whose number has few divisors", pass.Exact, 0,
		(*stage).pad),
	pass.New("refuse_stream", "names all nodes without a module", pass.Annotate, 0, only(streams.RefuseStream)),
	pass.New("pair_streams", "joins of many become joins of two, and streams that broadcast are repeated", pass.Exact, 0,
		only(streams.PairStreams)),
	pass.New("insert_forks", "forks after values with several readers", pass.Exact, 0,
		func(s *stage, g *ir.Graph) error { return streams.InsertForks(&s.report.Report, g) }),
	pass.New("choose_lanes", "lanes, style and memory of every node, by the plan's rules", pass.Annotate, 0,
		func(s *stage, g *ir.Graph) error {
			return lanes.Choose(g, &s.plan.Fold, s.chosen, s.units, &s.report.Report)
		}),
	pass.New("absorb_decoders", "sums whose units multiply codes of floats take them in place of decoded values",
		pass.Exact, 0,
		withUnits(streams.AbsorbDecoders)),
	pass.New("place_thresholds",
		"thresholds on exact sums in place of roundings and functions behind them that leave few bits",
		pass.Exact, 0, withUnits(streams.PlaceThresholds)),
	pass.New("absorb_channels", "unrolled sums round each row to the codes that its channel has behind them", pass.Exact,
		0,
		only(streams.AbsorbChannels)),
	pass.New("insert_adapters", "widens and narrows streams between nodes of different lanes", pass.Exact, 0,
		withUnits(streams.InsertAdapters)),
	pass.New("mark_frames", "marks the ends of frames of changing length for the units that keep a state over tokens",
		pass.Exact, 0,
		withUnits(streams.MarkFrames)),
	pass.New("choose_forms", "what the units of sums multiply, integers or codes, by cost", pass.Annotate, 0,
		withUnits(forms.Choose)),
	pass.New("time_units", "initiation interval and latency from the headers of the modules", pass.Annotate, 0,
		(*stage).time),
	pass.New("size_fifos", "FIFOs after forks, as deep as a run beat by beat shows", pass.Exact, 0, sizeFifos),
}

// Completion makes of the graph of units that of the model again.
var Completion = pass.Pipeline[*stage]{
	pass.New("write_layers", "layers that share units get nodes of their own again, which name these", pass.Exact, 0,
		writeLayers),
}
