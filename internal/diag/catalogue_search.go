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
		"$ lathe search run model.onnx --space s.toml --data x.npz" + space("name = \"fc9\"\nformat = [\"fixed(4..6)\"]")},
	{SpaceSize, "The search space has one configuration, or more than the sampler can list.",
		"$ lathe search run model.onnx --space s.toml --data x.npz" + space("format = [\"fixed(4)\"]")},
	{StudyStorage, "A storage of studies cannot be opened, read or written.",
		"$ lathe search status --storage none.log"},
	{UnknownStudy, "The storage does not have the study or the trial.",
		"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log --study a\n" +
			"$ lathe search status --storage run.log --study b" + widths},
	{TrialClosed, "The trial is finished already, or another worker has taken it.",
		"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log\n" +
			"$ lathe search ask --storage run.log\n$ lathe search tell --trial 0 --storage run.log --fail\n" +
			"$ lathe search tell --trial 0 --storage run.log --fail" + widths},
	{StudyExists, "The storage has a study of that name already.",
		"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log\n" +
			"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log" + widths},
	{StudyOther, "The study was made for other parameters, objectives or limits than the space has now.",
		"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log --study a\n" +
			"$ lathe search run model.onnx --space t.toml --data x.npz --storage run.log --study a" + widths +
			"\n-- t.toml --\n[study]\nobjectives = [\"sqnr max\", \"lut min\"]\n[[quantize]]\nformat = [\"fixed(4..8)\"]"},
	{TrialValues, "The values of a trial do not fit its study.",
		"$ lathe search create model.onnx --space s.toml --data x.npz --storage run.log\n" +
			"$ lathe search ask --storage run.log\n$ lathe search tell --trial 0 --storage run.log --values 1" + widths},
	{StudySchema, "The tables of a database of studies are of another version.",
		"sqlite.Open(ctx, " + `"newer.db", false) // its schema_version is 13`},
}
