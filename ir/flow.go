// SPDX-License-Identifier: Apache-2.0

package ir

// Flow says how beats move through a unit, cycle by cycle, but not what they carry: stages in a row, of which the first
// reads the streams of the node. It is what the depths of FIFOs are computed from.
type Flow []FlowStage

// FlowStage is one part of a unit that decides by itself when it moves.
type FlowStage struct {
	Kind FlowKind
	// N is the factor of FlowWiden and FlowNarrow, the places of FlowFifo, and the beats that FlowMemory holds.
	N int
	// Steps is how many steps FlowSteps and FlowMemory make for a frame, at most one a cycle. Frame is the beats of a
	// frame that FlowMemory takes.
	Steps, Frame int
	// Step says what step s of a frame takes and gives (FlowSteps).
	Step func(s int) Step
	// Need is how many beats of the frame must be in the memory for step s of the frame, and Freed how many of them have
	// left it before that step (FlowMemory). Every step gives a beat.
	Need, Freed func(s int) int
	// Regs are the registers between a step and the stage's output, at most 63. They move together, whenever the last one
	// is empty or taken.
	Regs int
	// Late says that a beat is seen in the memory one cycle later than could be.
	Late bool
	// Columns are the constants of FlowColumns.
	Columns Columns
}

// Step is one cycle of a FlowSteps.
type Step struct {
	// Take has bit i set where a beat of stream i is taken, See where it must be there and stays.
	Take, See uint
	// Give says that a beat leaves. Free says that the step does not wait for room at the output, which only a stage
	// without registers can say of steps that give nothing.
	Give, Free bool
}

// Columns are constants of op_window_cols, named as there.
type Columns struct{ W, First, Last, Step, Ahead int }

// FlowKind is how a stage moves.
type FlowKind uint8

// The kinds of stages. All but the first two are those of the library module of that name.
const (
	FlowSteps   FlowKind = iota // a fixed sequence of steps: takes, gives, or both
	FlowMemory                  // a memory of beats that steps read
	FlowSkid                    // stream_skid
	FlowFifo                    // stream_fifo
	FlowWiden                   // stream_widen
	FlowNarrow                  // stream_narrow
	FlowColumns                 // op_window_cols
	FlowFork                    // stream_fork
)

// Pipeline is the flow of a unit that takes a beat of each of its streams, and gives one, every cycle: latency-1
// registers that move together, then a skid.
func Pipeline(streams, beats, latency int) Flow {
	all := Step{Take: 1<<streams - 1, Give: true}
	return Flow{
		{Kind: FlowSteps, Steps: beats, Step: func(int) Step { return all }, Regs: max(latency-1, 0)},
		{Kind: FlowSkid},
	}
}
