# SPDX-License-Identifier: Apache-2.0
"""Trains small tokenizers, and writes what the library makes of awkward lines, which TestReference compares with.

Run from the folder of the repository (needs tokenizers): python train/tokens/testdata/reference.py
writes the tokenizers, learnt from pages of docs/, and reference.json.
    reference.py random SEED COUNT FILE   writes what they make of random lines
"""
import glob
import json
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

HERE = "train/tokens/testdata/"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")
LINES = [
    "", " ", "  ", "\t", "\n", "\n\n", " \n \n", "a", " a", "a ", "  a  b   c    ", "tab\there\t\tthere", "line\r\nbreak\r\n\r\n",
    "don't can't I'll we've they're he'd I'm it's", "DON'T CAN'T I'LL WE'VE", "'s 't''s ' s", "x's\u017f 'll'LL'\u017f",
    "The quick brown fox jumps over the lazy dog.", "training of the quantized model, and of its weights",
    "1 12 123 1234 12345678 3.14159 1,000,000 0x1F 1e-5", "\u0663\u0664\u0665 \u00bd \u2167 \u4e03", "a1b2c3 v2.0-rc1",
    "caf\u00e9 cafe\u0301 na\u00efve \u00c5ngstr\u00f6m \u1e9e \u00df Stra\u00dfe", "\u0130stanbul I\u0307 \u0131 \u03a3\u03a3 \u03c2",
    "\u4f60\u597d\u4e16\u754c hello\u4e16\u754c abc", "\u3053\u3093\u306b\u3061\u306f \u30ab\u30bf\u30ab\u30ca \ud55c\uad6d\uc5b4",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u0451 \u0439", "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\U0001f600 \U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f",
    "if (x != NULL && y->z[0] == '\\n') { return -1; }", "def f(a, b=None):\n    return a ** 2  # power\n",
    "https://example.org/a?b=c&d=%20#e", "a\u00a0b\u2003c\u3000d\u2028e\u0085f\u200bg\ufeffh", "\x00\x01a\x7fb\x1f c\ufffdd",
    "$100 + 5% ~ `x` ^ | < > = \u20ac\u00a3\u00b1\u00a7", "\u2018quoted\u2019 \u201cquoted\u201d \u2014 \u2013 \u2026 \u00ab\u00bb", "!!! ??? ... ,,, ;;;",
    "[CLS] [SEP] [MASK] [PAD] [UNK]", "<|endoftext|>x<|endoftext|> <|endoftext|>", "a <mask> b<mask>c  <mask>  d", "<s></s><pad>",
    "a [WORD] b[WORD]c [WORD]", "[word] [Word]\t[WORD]", "a   <right>   b<right> c", "\ufb01\ufb00 \u2460 \uff21\uff22 \u33a1 x\u00b2",
    "supercalifragilisticexpialidocious" * 4, "a" * 300, "ab" * 60, "the the the\u0301", "\u2581 \u2581a \u2581\u2581", "\u00ad soft\u00adhyphen",
    "trailing blanks   ", "   leading", "mixed \t \n  blanks \u3000 here", "_under_score_ __init__", "\ue000\U000f0000x", "e\u0301\u0302\u0303",
]
COUPLES = [("short", "a longer text, in which there are more words than in the other"), ("the model is trained", "it is"),
         ("", "b"), ("a", ""), ("one two three four five six seven", "one two three four five six seven eight")]


def corpus():
    for path in sorted(glob.glob("docs/*.md")):
        with open(path, encoding="utf-8") as f:
            yield from f


def learn(t, trainer):
    t.train_from_iterator(corpus(), trainer)
    return t


def pieces(size, special, **kw):
    return trainers.WordPieceTrainer(vocab_size=size, special_tokens=special, show_progress=False, **kw)


def pairs(size, special, **kw):
    return trainers.BpeTrainer(vocab_size=size, special_tokens=special, show_progress=False, **kw)


def byte_level(size, special, **kw):
    return pairs(size, special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **kw)


def bert(lowercase):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100 if lowercase else 20))
    t.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    learn(t, pieces(500, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], limit_alphabet=200))
    cls, sep = t.token_to_id("[CLS]"), t.token_to_id("[SEP]")
    if lowercase:
        t.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", cls), ("[SEP]", sep)])
    else:
        t.post_processor = processors.BertProcessing(("[SEP]", sep), ("[CLS]", cls))
    return t


def gpt2():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return learn(t, byte_level(500, ["<|endoftext|>"]))


def roberta():
    t = Tokenizer(models.BPE(unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    learn(t, byte_level(450, ["<s>", "<pad>", "</s>", "<unk>"]))
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return t


def llama3():
    t = Tokenizer(models.BPE(ignore_merges=True))
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    learn(t, byte_level(500, ["<|begin_of_text|>", "<|endoftext|>"]))
    t.post_processor = processors.Sequence([processors.ByteLevel(), processors.TemplateProcessing(
        single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|> $B:1",
        special_tokens=[("<|begin_of_text|>", 0)])])
    return t


def characters():
    t = Tokenizer(models.BPE(unk_token="[UNK]", fuse_unk=False))
    t.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.Lowercase()])
    alphabet = list("abcdefghijklmnopqrstuvwxyz .,'\u00e9\u00df")
    t.model = models.BPE(vocab={c: i for i, c in enumerate(["[PAD]", "[UNK]", *alphabet])}, merges=[], unk_token="[UNK]")
    t.add_special_tokens(["[PAD]", "[UNK]"])
    return t


def fallback():
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    t.pre_tokenizer = pre_tokenizers.Split("\u2581", "merged_with_next")
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(0xE0)]
    learn(t, pairs(600, special, limit_alphabet=80))
    file = json.loads(t.to_str())
    file["pre_tokenizer"] = None
    file["added_tokens"] = file["added_tokens"][:3]
    file["post_processor"] = None
    return Tokenizer.from_str(json.dumps(file))


def mixed():
    t = Tokenizer(models.BPE(unk_token="?"))
    t.normalizer = normalizers.Sequence([
        normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Replace(Regex(r"\s+"), " ")])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)])
    learn(t, pairs(400, ["?"], limit_alphabet=100))
    t.add_tokens([AddedToken("[WORD]", single_word=True, normalized=True), AddedToken("<right>", rstrip=True, normalized=False),
                  AddedToken("<rig", normalized=False), AddedToken("[wor", normalized=True)])
    return t


def kinds():
    return {"bert": bert(True), "bert_cased": bert(False), "gpt2": gpt2(), "roberta": roberta(), "llama3": llama3(),
            "characters": characters(), "fallback": fallback(), "mixed": mixed()}


def encoded(t, *texts):
    e = t.encode(*texts)
    return [e.ids, e.type_ids] if any(e.type_ids) else [e.ids]


def bounded(t, length, *texts):
    t.enable_truncation(length)
    t.enable_padding(length=length, pad_id=next((t.token_to_id(p) for p in ("[PAD]", "<pad>") if t.token_to_id(p)), 0))
    e = t.encode(*texts)
    t.no_truncation()
    t.no_padding()
    return [e.ids, e.type_ids, e.attention_mask]


BLOCKS = [(0x20, 0x7E), (0xA0, 0x17F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x45F), (0x5D0, 0x5EA), (0x621, 0x64A),
          (0x904, 0x939), (0xE01, 0xE30), (0x2000, 0x206F), (0x20A0, 0x20B9), (0x2150, 0x2188), (0x2190, 0x22FF),
          (0x3000, 0x303F), (0x3041, 0x3096), (0x4E00, 0x4E80), (0xAC00, 0xAC80), (0xFF01, 0xFF5E), (0x1F600, 0x1F64F)]
PARTS = ["'s", "'LL", "n't", "  ", "\t", "\r\n", "\n\n", "[MASK]", "<mask>", "<|endoftext|>", "[WORD]", "[word]", "<right>", "<rig",
         "<s>", "...", "->", "123", "4567", "the", "training", "quantized", "\u2581", "\u3000", "<0x41>", "[SEP]"]


def line(r):
    out = []
    for _ in range(r.randrange(1, 25)):
        kind = r.random()
        if kind < 0.3:
            out.append(r.choice(PARTS))
        elif kind < 0.5:
            out.append(" ")
        elif kind < 0.8:
            out.append("".join(r.choice("etaoinshrdlucmfwypvbgkqjxz") for _ in range(r.randrange(1, 9))))
        else:
            low, high = r.choice(BLOCKS)
            out.append("".join(chr(r.randint(low, high)) for _ in range(r.randrange(1, 4))))
    return "".join(out)


if __name__ == "__main__":
    if sys.argv[1:2] == ["random"]:
        r = random.Random(int(sys.argv[2]))
        names = sorted(p[len(HERE):-len(".tokenizer.json")] for p in glob.glob(HERE + "*.tokenizer.json"))
        all = {n: Tokenizer.from_file(f"{HERE}{n}.tokenizer.json") for n in names}
        lines = [line(r) for _ in range(int(sys.argv[3]))]
        facts = {"lines": lines, "tokens": {n: [encoded(t, s) for s in lines] for n, t in all.items()}}
        with open(sys.argv[4], "w") as f:
            json.dump(facts, f)
        sys.exit()
    facts = {"lines": LINES, "couples": COUPLES, "tokens": {}, "of_two": {}, "bounded": {}}
    for name, t in kinds().items():
        t.save(f"{HERE}{name}.tokenizer.json", pretty=False)
        t = Tokenizer.from_file(f"{HERE}{name}.tokenizer.json")
        facts["tokens"][name] = [encoded(t, s) for s in LINES]
        facts["of_two"][name] = [encoded(t, *p) for p in COUPLES]
        facts["bounded"][name] = [bounded(t, n, *p) for p in COUPLES for n in (8, 9, 24)]
    with open(HERE + "reference.json", "w") as f:
        json.dump(facts, f, separators=(",", ":"))
        f.write("\n")
