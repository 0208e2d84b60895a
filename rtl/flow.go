// SPDX-License-Identifier: Apache-2.0

package rtl

// Flow says how beats move through a unit, cycle by cycle, but not what they carry: stages in a row, of which the first
// reads the streams of the unit. It is what the depths of FIFOs are computed from. A flow of no stages is a wire.
type Flow []Stage

// Stage is one part of a unit that decides by itself when it moves.
type Stage struct {
	Kind StageKind
	// N is the factor of StageWiden and StageNarrow, and the places of StageFifo and StageCredit.
	N int
	// Period is how many steps StageSteps and StageMemory make before they begin again, at most one a cycle.
	Period int
	// Step says what step s of a period takes and gives (StageSteps).
	Step func(s int) Step
	// Burst is how many beats leave for each step that gives (StageSteps with registers): in as many moves of the
	// registers, whatever the steps then do. 0 is 1.
	Burst int
	// Stores are the memories that the steps of StageMemory read, one for each stream. Gives says that step s of the
	// period gives a beat; nil: every step.
	Stores []Store
	Gives  func(s int) bool
	// Regs are the registers between a step and the stage's output, at most 63. They move together, whenever the last one
	// is empty or taken. Those of StageCredit move in every cycle.
	Regs int
	// Late is how many cycles later than could be beats are seen in the memories of StageMemory.
	Late int
	// Before is 1 more than the number of the one stream of the unit that goes through this stage, and replaces it for
	// the stages behind; 0: the stage reads what the one before it gives, the first of these all streams.
	Before int
	// Columns are the constants of StageColumns.
	Columns Columns
}

// Store is a memory that takes the beats of a stream, as long as it has room, and that steps read.
type Store struct {
	// Places is how many beats it holds, Frame how many it takes for a period of steps.
	Places, Frame int
	// Need is how many beats of the frame must be there for step s of the period, and Freed how many of them have left
	// before that step. Neither falls within a period. Step 0 needs a beat of some store: nothing else starts a frame.
	Need, Freed func(s int) int
}

// Step is one cycle of a StageSteps.
type Step struct {
	// Take has bit i set where a beat of stream i is taken.
	Take uint
	// Give says that a beat leaves. Free says that the step does not wait for room at the output, which only a stage
	// without registers can say of steps that give nothing.
	Give, Free bool
}

// Columns are constants of op_window_cols, named as there.
type Columns struct{ W, First, Last, Step, Ahead int }

// StageKind is how a stage moves.
type StageKind uint8

// The kinds of stages, with the calls by which flow lines of headers make them; s is the step.
const (
	StageSteps   StageKind = iota // steps(period, take, give, regs[, free]), bursts(period, take, give, regs, n)
	StageMemory                   // memory(places, frame, period, need, freed, regs[, late]), memories(period, give, ...)
	StageSkid                     // skid(): stream_skid
	StageFifo                     // fifo(places): stream_fifo
	StageWiden                    // widen(n): stream_widen
	StageNarrow                   // narrow(n): stream_narrow without its skid
	StageColumns                  // columns(w, first, last, step, ahead): op_window_cols
	StageFork                     // fork(): stream_fork
	StageCredit                   // credit(regs, places): stream_credit
)

// pipeline is the flow of a unit that takes a beat of each of its streams, and gives one, every cycle: latency-1
// registers that move together, then a skid.
func pipeline(streams, latency int) Flow {
	all := Step{Take: 1<<streams - 1, Give: true}
	return Flow{
		{Kind: StageSteps, Period: 1, Step: func(int) Step { return all }, Regs: max(latency-1, 0)},
		{Kind: StageSkid},
	}
}
