// SPDX-License-Identifier: Apache-2.0

package diag

// The errors of training.
var training = []Entry{
	{NoGradient, "A parameter reaches the loss through an operation that has no gradient.",
		"Freeze the parameters in front of the operation by freeze in [train], or train a model without it.",
		"sorted, _ := b.SortPlaces(x, 0, true); grad.Of(b, b.Reduce(hlo.ReduceAdd, sorted, 0), x)"},
	{LossNotScalar, "The loss is not one float, or the output has no classes for it.",
		"Give the model an output with a score for each class, or set loss = \"mse\" in [train]; a loss of your " +
			"own must be one float.",
		"grad.Of(b, x, x) // x is a vector"},
	{NothingToTrain, "No parameter is left to train: the model has none, or all are frozen.",
		"Correct freeze in [train] or targets of [lora], which take names with *; `lathe inspect MODEL` lists " +
			"nodes and parameters.",
		"$ lathe train model.onnx --data x.npz --labels labels.npy --plan p.toml -o m.lathe\n" +
			"-- p.toml --\n[train]\nfreeze = [\"*\"]"},
	{UntrainedFormat, "The plan gives a value a format that training cannot round to.",
		"Choose fixed formats of few bits, data = \"fixed(8)\" and weight = \"fixed(8)\" of [quantize], or set " +
			"data = \"none\" in [bits].",
		"$ lathe train model.onnx --data x.npz --labels labels.npy --plan p.toml -o m.lathe\n" +
			"-- p.toml --\n[quantize]\ndata = \"fixed(60,40)\""},
	{TrainLabels, "Labels or targets do not fit the data, the output of the model or the loss.",
		"Pass one class number from 0 on for each sample and row that the loss takes, or real targets of the " +
			"output's shape with loss = \"mse\" in [train].",
		"$ lathe train model.onnx --data x.npz --labels far-labels.npy -o m.lathe"},
	{TrainDiverges, "The loss is not finite in ten steps in a row.",
		"Train with a smaller rate, `--lr`, of which the hint names one, or with clip = 1.0 in [train].",
		"trainer.Run(ctx, engine) // with a rate of 1000, and no bound of gradients"},
	{CheckpointOther, "The folder holds a checkpoint of another model, plan or data.",
		"Remove the folder in the message to begin anew, or name another one with `--log`, or `-o` for a sweep.",
		"train.New(m, set, options) // the folder holds what another plan has saved"},
	{CheckpointFile, "A checkpoint cannot be written or read.",
		"Make the folder writable with room on its disk, or name another one by `--log`; remove a damaged " +
			"checkpoint to begin anew.",
		"$ lathe train model.onnx --data x.npz --labels labels.npy --batch 4 --log file/log -o m.lathe\n" +
			"-- file --\nno folder"},
	{TrainBatch, "A batch has more samples than the data.",
		"Pass a `--batch` of at most the number of samples, or set accumulate = 1 in [train].",
		"$ lathe train model.onnx --data x.npz --labels labels.npy --batch 1000 -o m.lathe"},
	{TrainInterrupted, "Training was interrupted; the same command goes on.",
		"Run the same command again: it goes on from the checkpoint in its log folder, which the hint names.",
		"trainer.Run(cancelled, engine)"},
	{NothingToPrune, "The plan prunes, and nothing can go: no channel, or no weight in a format that has 0.",
		"Leave out [prune], give the weights a format with 0 such as weight = \"ternary*[0]\", or prune single " +
			"weights: granularity = \"element\".",
		"$ lathe train model.onnx --data x.npz --labels labels.npy --plan p.toml -o m.lathe\n" +
			"-- p.toml --\n[quantize]\nweight = \"binary*[0]\"\n[prune]\nsparsity = 0.5"},
	{TokenizerFile, "A tokenizer.json cannot be read, or has a part that Lathe does not know.",
		"Name the tokenizer.json of this model by `--tokenizer`, or pass token numbers in an .npz file.",
		"tokens.Read(\"tokenizer.json\") // its model is of the type Unigram"},
	{TrainMemory, "Training needs more memory than there is.",
		"Pass a smaller `--batch` with accumulate in [train], train fewer parameters (freeze, [lora]), or use a " +
			"machine with more memory.",
		"train.New(m, set, options) // with a kilobyte of memory"},
}
