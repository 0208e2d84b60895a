// SPDX-License-Identifier: Apache-2.0

package diag

// space is a search space for model.onnx, as a file of an example.
func space(rest string) string {
	return "\n-- s.toml --\n[study]\nobjectives = [\"sqnr max\", \"lut min\"]\n[[quantize]]\n" + rest
}

// widths is a space that can be searched.
var widths = space("format = [\"fixed(4..6)\"]")

// The errors of searches.
var searches = []Entry{
	{SpaceText, "The text of a search space is wrong: a key, layer, format, objective or limit that is not there.",
		"Correct the key, name or format at the line in the message; docs/search.md describes the file.",
		"$ lathe search run model.onnx --space s.toml --data x.npz" + space("name = \"fc9\"\nformat = [\"fixed(4..6)\"]")},
	{SpaceSize, "The search space has one configuration, or more than the sampler can list.",
		"Give a slot several formats or a range of widths, as format = [\"fixed(4..8)\"]; for a space too large " +
			"to list, pass `--sampler tpe`.",
		"$ lathe search run model.onnx --space s.toml --data x.npz" + space("format = [\"fixed(4)\"]")},
	{StudyStorage, "A storage of studies cannot be opened, read or written.",
		"Name a journal (`--storage run.log`) or an SQLite file (`--storage sqlite:///run.db`) in a writable " +
			"folder; `lathe search repair` mends a cut-off journal.",
		"$ lathe search status --storage none.log"},
	{UnknownStudy, "The storage does not have the study or the trial.",
		"Name a study of the storage by `--study` and a trial that it has, or make a study with `lathe search " +
			"run`.",
		"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log --study a\n" +
			"$ lathe search status --storage run.log --study b" + widths},
	{TrialClosed, "The trial is finished already, or another worker has taken it.",
		"Take another trial: `lathe search ask` opens a new one.",
		"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log\n" +
			"$ lathe search ask --storage run.log\n$ lathe search tell --trial 0 --storage run.log --fail\n" +
			"$ lathe search tell --trial 0 --storage run.log --fail" + widths},
	{StudyExists, "The storage has a study of that name already.",
		"Pass another name by `--study`, or go on with the present study: `lathe search run` joins it.",
		"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log\n" +
			"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log" + widths},
	{StudyOther, "The study was made for other parameters, objectives or limits than the space has now.",
		"Begin another study: `--study` with a new name. Keep the space of a study as it was to go on with it.",
		"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log --study a\n" +
			"$ lathe search run model.onnx --space t.toml --data x.npz --storage run.log --study a" + widths +
			"\n-- t.toml --\n[study]\nobjectives = [\"sqnr max\", \"lut min\"]\n[[quantize]]\nformat = [\"fixed(4..8)\"]"},
	{TrialValues, "The values of a trial do not fit its study.",
		"Tell one number for each objective of the study, and fix parameters to values within their ranges.",
		"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log\n" +
			"$ lathe search ask --storage run.log\n$ lathe search tell --trial 0 --storage run.log --values 1" + widths},
	{StudySchema, "The tables of a database of studies are of another version.",
		"Bring an older database up to date with `optuna storage upgrade`; a newer one needs a newer Lathe or a " +
			"new file.",
		"sqlite.Open(ctx, " + `"newer.db", false) // its schema_version is 13`},
	{StudyDiffers, "Two studies are not alike: the first difference is named.",
		"Compare how both were run: `lathe search status` shows sampler and seed of each; with `--jobs` above 1, the " +
			"order of trials is one of many.",
		"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log\n" +
			"$ lathe search copy two.log --storage run.log\n$ lathe search ask --storage two.log\n" +
			"$ lathe search diff two.log --storage run.log" + widths},
	{LeaseLost, "A trial was taken over by another worker, since its own did not renew the lease in time; what it " +
		"measured is left out.",
		"Nothing needs to be done: the other worker tells the values. Where it happens often, let leases be longer: " +
			"`lathe search ask --lease 600`.",
		"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log\n" +
			"$ lathe search ask --storage run.log --lease 60\n" +
			"$ lathe search tell --storage run.log --trial 0 --epoch 2 --values 1,1" + widths},
}
