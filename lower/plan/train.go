// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
)

// trainFile is the table [train].
type trainFile struct {
	Method      *string  `toml:"method"`
	Init        *string  `toml:"init"`
	Epochs      *int     `toml:"epochs"`
	Batch       *int     `toml:"batch"`
	Accumulate  *int     `toml:"accumulate"`
	Optimizer   *string  `toml:"optimizer"`
	LR          *float64 `toml:"lr"`
	Momentum    *float64 `toml:"momentum"`
	Nesterov    *bool    `toml:"nesterov"`
	WeightDecay *float64 `toml:"weight_decay"`
	Schedule    *string  `toml:"schedule"`
	Warmup      *float64 `toml:"warmup"`
	Clip        *float64 `toml:"clip"`
	Loss        *string  `toml:"loss"`
	Smoothing   *float64 `toml:"smoothing"`
	Seed        *int64   `toml:"seed"`
	Fidelity    *string  `toml:"fidelity"`
	Scales      *string  `toml:"scales"`
	BatchNorm   *string  `toml:"batch_norm"`
	Dropout     any      `toml:"dropout"`
	DropoutOf   []string `toml:"dropout_of"`
	Freeze      []string `toml:"freeze"`
}

// pruneFile is the table [prune].
type pruneFile struct {
	Method      *string  `toml:"method"`
	Granularity *string  `toml:"granularity"`
	Residual    *bool    `toml:"residual"`
	Scope       *string  `toml:"scope"`
	Sparsity    *float64 `toml:"sparsity"`
	NM          *string  `toml:"nm"`
	Schedule    *string  `toml:"schedule"`
	Activation  *float64 `toml:"activation"`
}

// loraFile is the table [lora].
type loraFile struct {
	Rank      *int     `toml:"rank"`
	Alpha     *float64 `toml:"alpha"`
	Targets   []string `toml:"targets"`
	TrainAlso []string `toml:"train_also"`
}

// distillFile is the table [distill].
type distillFile struct {
	Temperature *float64 `toml:"temperature"`
	Weight      *float64 `toml:"weight"`
}

// bitsFile is the table [bits].
type bitsFile struct {
	Price *float64 `toml:"price"`
	From  *float64 `toml:"from"`
	Per   *string  `toml:"per"`
	Data  *string  `toml:"data"`
}

// Words of [train] and [prune], the defaults first.
var (
	MethodWords    = []string{"qat", "sft", "distill"}
	InitWords      = []string{"model", "random"}
	OptimizerWords = []string{"adamw", "sgd"}
	ScheduleWords  = []string{"cosine", "linear", "constant"}
	TrainLosses    = []string{"cross_entropy", "mse", "bce"}
	FidelityWords  = []string{"exact", "fast"}
	ScalesWords    = []string{"calibrated", "lsq"}
	BatchNormWords = []string{"frozen", "train"}
	PruneWords     = []string{"l1", "l2", "taylor", "random"}
	GrainWords     = []string{"element", "channel"}
	ScopeWords     = []string{"global", "local"}
	PruneSchedules = []string{"oneshot", "cubic"}
	PerWords       = []string{"element", "channel", "tensor"}
	DataWords      = []string{"none", "channel", "tensor"}
)

// UsualBatch is the batch of a plan without one.
const UsualBatch = 32

// usualTraining is what holds where a plan says nothing.
func usualTraining() Train {
	return Train{Method: "qat", Init: "model", Epochs: 10, Accumulate: 1, Optimizer: "adamw", LR: 1e-3, WeightDecay: 0.01,
		Schedule: "cosine", Warmup: 0.05, Clip: 1, Loss: "cross_entropy", Seed: 1, Fidelity: "exact",
		Scales: "calibrated", DropoutOf: []string{"*"}}
}

func (p *parser) train(f *trainFile, t *Train) {
	t.Method = MethodWords[p.word("train.method", f.Method, MethodWords)]
	t.Init = InitWords[p.word("train.init", f.Init, InitWords)]
	p.count("train.epochs", f.Epochs, &t.Epochs, 0, 1e6)
	p.count("train.batch", f.Batch, &t.Batch, 1, 1<<20)
	p.count("train.accumulate", f.Accumulate, &t.Accumulate, 1, 1<<16)
	t.Optimizer = OptimizerWords[p.word("train.optimizer", f.Optimizer, OptimizerWords)]
	p.number("train.lr", f.LR, &t.LR, 0, 1e3)
	p.number("train.momentum", f.Momentum, &t.Momentum, 0, 1)
	t.Nesterov = f.Nesterov != nil && *f.Nesterov
	p.number("train.weight_decay", f.WeightDecay, &t.WeightDecay, 0, 1)
	t.Schedule = ScheduleWords[p.word("train.schedule", f.Schedule, ScheduleWords)]
	p.number("train.warmup", f.Warmup, &t.Warmup, 0, 1)
	p.number("train.clip", f.Clip, &t.Clip, 0, 1e9)
	t.Loss = TrainLosses[p.word("train.loss", f.Loss, TrainLosses)]
	p.number("train.smoothing", f.Smoothing, &t.Smoothing, 0, 1)
	if f.Seed != nil {
		t.Seed = uint64(*f.Seed)
	}
	t.Fidelity = FidelityWords[p.word("train.fidelity", f.Fidelity, FidelityWords)]
	t.Scales = ScalesWords[p.word("train.scales", f.Scales, ScalesWords)]
	t.Freeze = f.Freeze
	if t.Init == "random" && f.Method == nil {
		t.Method = "sft"
	}
	if t.Init == "random" && t.Method != "sft" {
		p.fail("train.init", "init = \"random\" is for floats; method = %q trains in the formats of a trained model",
			t.Method).WithHint("train with method = \"sft\" first, and then what that saves")
	}
	if t.Scales == "lsq" && t.Method == "sft" {
		p.fail("train.scales", "method = \"sft\" trains in floats, which have no steps").
			WithHint("train with method = \"qat\", or what sft saves, or leave scales out")
	}
	p.batchNorm(f, t)
	p.dropout(f, t)
	if f.Momentum != nil && f.Optimizer == nil {
		t.Optimizer = "sgd"
	}
	if t.Momentum > 0 && t.Optimizer != "sgd" {
		p.fail("train.momentum", "momentum belongs to sgd; adamw has its own").
			WithHint("leave momentum out, or set optimizer = \"sgd\"")
	}
}

// dropout reads which values are dropped at random: a tenth of those of layers that are named without a share.
func (p *parser) dropout(f *trainFile, t *Train) {
	switch v := f.Dropout.(type) {
	case nil:
	case float64:
		p.number("train.dropout", &v, &t.Dropout, 0, mostDropped)
	case int64:
		share := float64(v)
		p.number("train.dropout", &share, &t.Dropout, 0, mostDropped)
	default:
		if t.ModelDropout = v == "model"; !t.ModelDropout {
			p.fail("train.dropout", "dropout = %q is neither a share nor \"model\"", fmt.Sprint(v)).
				WithHint("dropout = 0.1 drops a tenth; \"model\" takes the dropouts of the model file")
		}
	}
	if f.DropoutOf != nil && t.ModelDropout {
		p.fail("train.dropout_of", "dropout = \"model\" drops where the model file does, and not in front of layers").
			WithHint("leave dropout_of out, or give dropout a share")
		return
	}
	if f.DropoutOf == nil {
		return
	}
	if t.DropoutOf = f.DropoutOf; f.Dropout == nil {
		t.Dropout = 0.1
	}
}

// mostDropped is the greatest share that is dropped.
const mostDropped = 0.9

// batchNorm reads what batch normalizations do: with random parameters, statistics of the model say nothing.
func (p *parser) batchNorm(f *trainFile, t *Train) {
	t.BatchNorm = BatchNormWords[p.word("train.batch_norm", f.BatchNorm, BatchNormWords)]
	if f.BatchNorm == nil && t.Init == "random" {
		t.BatchNorm = "train"
	}
	if t.BatchNorm == "train" && t.Method != "sft" {
		p.fail("train.batch_norm", "batch_norm = \"train\" is for floats; with method = %q normalizations are part of the "+
			"layers in front of them", t.Method).WithHint("train with method = \"sft\" first, and then what that saves")
	}
}

func (p *parser) prune(f *pruneFile, t *Prune) {
	p.number("prune.activation", f.Activation, &t.Activation, 0, 1e6)
	if t.Given = *f != (pruneFile{Activation: f.Activation}); !t.Given {
		return
	}
	t.Method = PruneWords[p.word("prune.method", f.Method, PruneWords)]
	t.Residual = f.Residual != nil && *f.Residual
	t.Channels = p.word("prune.granularity", f.Granularity, GrainWords) == 1 || t.Residual && f.Granularity == nil
	if t.Residual && !t.Channels {
		p.fail("prune.residual", "residual streams are of channels, and granularity is element; leave one of them out")
	}
	t.Scope = ScopeWords[p.word("prune.scope", f.Scope, ScopeWords)]
	t.Schedule = PruneSchedules[p.word("prune.schedule", f.Schedule, PruneSchedules)]
	if f.NM == nil {
		t.Sparsity = 0.5
	}
	p.number("prune.sparsity", f.Sparsity, &t.Sparsity, 0, 1)
	if f.NM != nil {
		if _, err := fmt.Sscanf(*f.NM, "%d:%d", &t.N, &t.M); err != nil || t.N < 1 || t.M < 2 || t.N >= t.M || t.M > 32 {
			p.fail("prune.nm", "nm = %q is not N:M with N less than M", *f.NM).
				WithHint("\"2:4\" keeps two of each four weights")
		}
	}
	if f.Sparsity != nil && f.NM != nil {
		p.fail("prune.nm", "nm = %q is a share of zeros already; leave out sparsity", *f.NM)
	}
	if f.NM != nil && t.Channels {
		p.fail("prune.nm", "nm keeps single weights, and granularity is channel; leave one of them out")
	}
	if f.NM != nil && t.Schedule == "cubic" {
		p.fail("prune.schedule", "nm cuts at once; only sparsity has a schedule")
	}
}

func (p *parser) lora(f *loraFile, t *LoRA) {
	if f.Rank == nil && f.Alpha == nil && f.Targets == nil && f.TrainAlso == nil {
		return
	}
	t.Rank, t.Targets, t.Also = 8, []string{"*"}, f.TrainAlso
	p.count("lora.rank", f.Rank, &t.Rank, 1, 1<<12)
	t.Alpha = float64(t.Rank)
	p.number("lora.alpha", f.Alpha, &t.Alpha, 0, 1e6)
	if f.Targets != nil {
		t.Targets = f.Targets
	}
}

func (p *parser) bits(f *bitsFile, plan *Plan) {
	t := &plan.Bits
	t.Given = f.Price != nil || f.From != nil || f.Per != nil || f.Data != nil
	t.Price = 1e-5
	p.number("bits.price", f.Price, &t.Price, 0, 1e3)
	t.From = t.Price
	p.number("bits.from", f.From, &t.From, 0, 1e3)
	t.Per = PerWords[p.word("bits.per", f.Per, PerWords)]
	t.Data = DataWords[p.word("bits.data", f.Data, DataWords)]
	if t.Given && plan.Train.Method == "sft" {
		p.fail("bits", "method = \"sft\" trains in floats, which have no widths").
			WithHint("train with method = \"qat\", or what sft saves, or leave [bits] out")
	}
	if t.Given && plan.Train.Scales == "lsq" {
		p.fail("bits", "[bits] trains how many places codes lose on the right, and scales = \"lsq\" their steps").
			WithHint("leave one of them out")
	}
	if plan.Prune.Channels && plan.Train.Scales == "lsq" {
		p.fail("train.scales", "scales = \"lsq\" trains the steps of channels, which granularity = \"channel\" removes").
			WithHint("remove channels first, in a run without scales, or leave one of them out")
	}
}

func (p *parser) distill(f *distillFile, plan *Plan) {
	t := &plan.Distill
	t.Given = f.Temperature != nil || f.Weight != nil || plan.Train.Method == "distill"
	t.Temperature, t.Weight = 2, 0.5
	p.number("distill.temperature", f.Temperature, &t.Temperature, 0.01, 1000)
	p.number("distill.weight", f.Weight, &t.Weight, 0, 1)
	if t.Given && plan.Train.Loss != "cross_entropy" {
		p.fail("distill", "a teacher's outputs are compared as scores of classes; the loss is %s", plan.Train.Loss)
	}
}

// Train is how a model is trained.
type Train struct {
	// Method is qat, training of the quantized model, sft, training in floats, or distill, qat towards the outputs of the
	// float model.
	Method string
	// Init is what training begins with: the parameters of the model, or random ones.
	Init   string
	Epochs int
	// Steps, if not 0, is how many there are in place of those of Epochs. A search has short trainings; no key of a plan
	// sets it.
	Steps int
	Batch int // 0: UsualBatch, or all samples where there are fewer
	// Accumulate is the number of batches whose mean gradient makes a step.
	Accumulate int
	// Optimizer is adamw or sgd.
	Optimizer string
	// LR is the learning rate.
	LR float64
	// Momentum and Nesterov are of sgd.
	Momentum float64
	Nesterov bool
	// WeightDecay is that of matrices and kernels.
	WeightDecay float64
	// Schedule is constant, linear or cosine, behind a warm-up of that share of the steps.
	Schedule string
	Warmup   float64
	// Clip bounds the norm of the gradient of all parameters; 0: no bound.
	Clip float64
	// Loss is cross_entropy, mse or bce; Smoothing is the share of a label that all classes have in common.
	Loss      string
	Smoothing float64
	Seed      uint64
	// Fidelity is exact or fast.
	Fidelity string
	// Scales is calibrated, where the steps of codes stay as calibration or the plan has them, or lsq, where they are
	// trained.
	Scales string
	// BatchNorm is what batch normalizations normalize by: frozen, the statistics of the model, or train, those of the
	// batch, while the statistics of the model follow them.
	BatchNorm string
	// Dropout is the share of the values that layers multiply that become 0 at random in a step, of layers that DropoutOf
	// names; * stands for any text. Inputs of the graph stay.
	Dropout   float64
	DropoutOf []string
	// ModelDropout takes the dropouts of the model file instead.
	ModelDropout bool
	// Freeze names parameters, or nodes that read them, that stay as they are; * stands for any text.
	Freeze []string
}

// Samples are those of a step.
func (t *Train) Samples() int { return t.Batch * max(t.Accumulate, 1) }

// Prune is which weights become 0, and when.
type Prune struct {
	// Given says that the plan prunes weights.
	Given bool
	// Method is l1, l2, taylor or random; Scope is global or local, that is each matrix by itself.
	Method, Scope string
	// Channels are removed, in place of single weights; with Residual those of residual streams, too.
	Channels, Residual bool
	// Sparsity is the share of zeros, or of the channels that are removed. N of each M weights of a row that stand
	// together stay, if M is not 0.
	Sparsity float64
	N, M     int
	// Schedule is oneshot or cubic.
	Schedule string
	// Activation is the magnitude up to which results of activations become 0; 0: none.
	Activation float64
}

// LoRA trains adapters of low rank beside matrices that stay.
type LoRA struct {
	Rank    int // 0: none
	Alpha   float64
	Targets []string
	// Also names parameters that are trained as they are.
	Also []string
}

// Distill trains towards the outputs of the float model.
type Distill struct {
	Given               bool
	Temperature, Weight float64
}

// Bits trains the widths of weights: the loss gets a price for each bit.
type Bits struct {
	Given bool
	// Price is what a product of a bit of a weight and a bit of data costs in the end, From in the beginning; between the
	// two it grows by the same factor from step to step.
	Price, From float64
	// Per is element, channel or tensor: which weights have a width of their own; Data is none, channel or tensor: which
	// of the values that layers multiply.
	Per, Data string
}

// OfData says that values that layers multiply have widths that are trained.
func (b *Bits) OfData() bool { return b.Given && (b.Data == "channel" || b.Data == "tensor") }
