# SPDX-License-Identifier: Apache-2.0
"""Writes train.tsv, test.tsv and tokenizer.json: sentences with a sentiment, by a grammar, and their words as tokens.

Run in this folder: python make.py. A clause has an adjective, which `not`, `never` and `hardly` turn round; of two
clauses with `but` the last one decides; `supposedly` turns the whole sentence round. No sentence is in both parts.
"""
import json
import random

NOUNS = "film book food music place hotel play song game meal".split()
VERBS = "was is seemed felt".split()
NOT = "not never hardly".split()
MORE = "very really quite so".split()
GOOD = "good great fine nice lovely superb".split()
BAD = "bad poor awful dull sad dreadful".split()
OTHERS = "the and but supposedly , .".split()


def clause(r, good):
    turned = r.random() < 0.4
    words = ["the", r.choice(NOUNS), r.choice(VERBS)]
    if turned:
        words.append(r.choice(NOT))
    if r.random() < 0.4:
        words.append(r.choice(MORE))
    return words + [r.choice(GOOD if good != turned else BAD)]


def sentence(r):
    good = r.random() < 0.5
    turned = r.random() < 0.2
    said = good != turned
    words = clause(r, said)
    if r.random() < 0.6:
        words = clause(r, not said) + [",", "but"] + words if r.random() < 0.6 else words + ["and"] + clause(r, said)
    if turned:
        words = ["supposedly"] + words
    text = " ".join(words).replace(" ,", ",")
    return text[0].upper() + text[1:] + ".", "positive" if good else "negative"


def write(name, rows):
    with open(name, "w") as f:
        f.write("text\tsentiment\n")
        f.writelines(f"{text}\t{mood}\n" for text, mood in rows)


r = random.Random(1)
rows = {}
while len(rows) < 1500:
    text, mood = sentence(r)
    rows[text] = mood
rows = list(rows.items())
write("train.tsv", rows[:1200])
write("test.tsv", rows[1200:])

words = ["[PAD]", "[CLS]", "[UNK]", "[SEP]", *OTHERS, *NOUNS, *VERBS, *NOT, *MORE, *GOOD, *BAD]
flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
special = [{"id": i, "content": words[i], **flags} for i in range(4)]
place = lambda kind, name, type_id: {kind: {"id": name, "type_id": type_id}}
one = [place("SpecialToken", "[CLS]", 0), place("Sequence", "A", 0), place("SpecialToken", "[SEP]", 0)]
with open("tokenizer.json", "w") as f:
    json.dump({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": one,
            "pair": [*one, place("Sequence", "B", 1), place("SpecialToken", "[SEP]", 1)],
            "special_tokens": {t: {"id": t, "ids": [words.index(t)], "tokens": [t]}
                               for t in ("[CLS]", "[SEP]")}},
        "decoder": None,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {w: i for i, w in enumerate(words)}}}, f, indent=1)
    f.write("\n")
print(len(words), "words")
