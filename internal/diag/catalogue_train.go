// SPDX-License-Identifier: Apache-2.0

package diag

// The errors of training.
var training = []Entry{
	{NoGradient, "A parameter reaches the loss through an operation that has no gradient.",
		"sorted, _ := b.SortPlaces(x, 0, true); grad.Of(b, b.Reduce(hlo.ReduceAdd, sorted, 0), x)"},
	{LossNotScalar, "The loss is not one float, or the output has no classes for it.",
		"grad.Of(b, x, x) // x is a vector"},
	{NothingToTrain, "No parameter is left to train: the model has none, or all are frozen.",
		"$ lathe train model.onnx --data x.npz --labels labels.npy --plan p.toml -o m.lathe\n" +
			"-- p.toml --\n[train]\nfreeze = [\"*\"]"},
	{UntrainedFormat, "The plan gives a value a format that training cannot round to.",
		"$ lathe train model.onnx --data x.npz --labels labels.npy --plan p.toml -o m.lathe\n" +
			"-- p.toml --\n[quantize]\ndata = \"fixed(60,40)\""},
	{TrainLabels, "Labels or targets do not fit the data, the output of the model or the loss.",
		"$ lathe train model.onnx --data x.npz --labels far-labels.npy -o m.lathe"},
	{TrainDiverges, "The loss is not finite in ten steps in a row.",
		"trainer.Run(ctx, engine) // with a rate of 1000, and no bound of gradients"},
	{CheckpointOther, "The folder holds a checkpoint of another model, plan or data.",
		"train.New(m, set, options) // the folder holds what another plan has saved"},
	{CheckpointFile, "A checkpoint cannot be written or read.",
		"$ lathe train model.onnx --data x.npz --labels labels.npy --batch 4 --log file/log -o m.lathe\n" +
			"-- file --\nno folder"},
	{TrainBatch, "A batch has more samples than the data.",
		"$ lathe train model.onnx --data x.npz --labels labels.npy --batch 1000 -o m.lathe"},
	{TrainInterrupted, "Training was interrupted; the same command goes on.",
		"trainer.Run(cancelled, engine)"},
	{NothingToPrune, "The plan prunes, and nothing can go: no channel, or no weight in a format that has 0.",
		"$ lathe train model.onnx --data x.npz --labels labels.npy --plan p.toml -o m.lathe\n" +
			"-- p.toml --\n[quantize]\nweight = \"binary*[0]\"\n[prune]\nsparsity = 0.5"},
	{TokenizerFile, "A tokenizer.json cannot be read, or has a part that Lathe does not know.",
		"tokens.Read(\"tokenizer.json\") // its model is of the type Unigram"},
	{TrainMemory, "Training needs more memory than there is.",
		"train.New(m, set, options) // with a kilobyte of memory"},
}
