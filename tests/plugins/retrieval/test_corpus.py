"""The corpus: numbering, import closure, what a theorem may use, positions, errors."""

import pickle

import numpy as np
import pytest

from lean_dojo_core import PremiseFile
from lean_dojo_core.errors import DataError
from lean_dojo_plugins.retrieval.data.corpus import Corpus, pack_position, premise_text


def names(corpus, numbers):
    return [corpus.premises[int(number)].full_name for number in numbers]


def usable(corpus, path, position):
    mask = corpus.visibility.mask(corpus.file_number(path), pack_position(position))
    return names(corpus, np.flatnonzero(mask))


def test_a_theorem_sees_its_imports_and_what_ends_before_it(chain):
    # C.p1 ends on line 3; a theorem that starts on line 5 is C.p2 itself.
    assert usable(chain, "C.lean", (5, 1)) == [
        *(f"A.p{i}" for i in range(4)),
        *(f"B.p{i}" for i in range(3)),
        "C.p0",
        "C.p1",
    ]
    assert usable(chain, "D.lean", (1, 1)) == []
    assert usable(chain, "A.lean", (4, 1)) == ["A.p0", "A.p1"]


def test_the_order_of_the_files_does_not_matter(chain, make_premise):
    files = [
        PremiseFile("B.lean", ("A.lean",), (make_premise("b", 1),)),
        PremiseFile("A.lean", (), (make_premise("a", 1),)),
    ]
    assert usable(Corpus.build(files), "B.lean", (9, 1)) == ["b", "a"]


def test_a_long_chain_of_imports(make_premise):
    count = 3000
    files = [
        PremiseFile(f"F{i}.lean", (f"F{i - 1}.lean",) if i else (), (make_premise(f"p{i}", 1),))
        for i in range(count)
    ]
    corpus = Corpus.build(reversed(files))
    assert len(usable(corpus, f"F{count - 1}.lean", (9, 1))) == count


def test_a_circle_is_an_error_that_shows_it():
    files = [
        PremiseFile("A.lean", ("B.lean",)),
        PremiseFile("B.lean", ("C.lean",)),
        PremiseFile("C.lean", ("B.lean",)),
    ]
    with pytest.raises(DataError, match=r"cycle: B\.lean → C\.lean → B\.lean"):
        Corpus.build(files)


def test_an_unknown_import_is_an_error_that_names_both():
    with pytest.raises(DataError, match=r"A\.lean imports Lost\.lean"):
        Corpus.build([PremiseFile("A.lean", ("Lost.lean",))], source="corpus.jsonl")


def test_an_untraced_dependency_is_passed_over_and_said(make_premise, caplog):
    init = ".lake/packages/lean4/src/lean/Init.lean"
    with caplog.at_level("INFO"):
        corpus = Corpus.build(
            [
                PremiseFile("A.lean", (init,), (make_premise("a", 1),)),
                PremiseFile("B.lean", (init, "A.lean")),
            ]
        )
    assert usable(corpus, "B.lean", (1, 1)) == ["a"]
    assert init in caplog.text


def test_a_missing_corpus_names_the_file(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.jsonl"):
        Corpus.read(tmp_path / "nowhere.jsonl")


def test_the_first_file_of_a_path_wins(make_premise):
    files = [
        PremiseFile("A.lean", (), (make_premise("first", 1),)),
        PremiseFile("A.lean", ("Unknown.lean",), (make_premise("second", 1),)),
    ]
    assert [one.full_name for one in Corpus.build(files).premises] == ["first"]


def test_locate_finds_the_span_that_holds_the_position(chain, make_premise):
    nested = Corpus.build(
        [
            PremiseFile(
                "N.lean",
                (),
                (
                    make_premise("S", 1, "structure S", lines=5),
                    make_premise("S.field", 3),
                    make_premise("after", 10),
                ),
            )
        ]
    )
    assert names(nested, [nested.locate("N.lean", (3, 5))]) == ["S.field"]
    assert names(nested, [nested.locate("N.lean", (4, 1))]) == ["S"]
    assert names(nested, [nested.locate("N.lean", (3, 5), "_root_.S")]) == ["S"]
    assert nested.locate("N.lean", (7, 1)) is None
    assert nested.locate("Other.lean", (1, 1)) is None
    assert chain.premises[chain.locate("B.lean", (3, 9))].full_name == "B.p1"


def test_records_come_back(chain):
    premise = chain.premises[5]
    assert (premise.full_name, premise.start, premise.end) == ("B.p1", (3, 1), (3, 60))
    assert chain.path_of(5) == "B.lean"


def test_the_fingerprint_follows_the_content(make_premise):
    def corpus(code):
        return Corpus.build([PremiseFile("A.lean", (), (make_premise("a", 1, code),))])

    assert corpus("x").fingerprint == corpus("x").fingerprint != corpus("y").fingerprint


@pytest.mark.parametrize(
    ("name", "code", "text"),
    [
        ("N.add", "theorem add (a : N) : b", "theorem <a>N.add</a> (a : N) : b"),
        ("N.add", "theorem N.add : addy", "theorem <a>N.add</a> : addy"),
        ("N.add", "theorem addition : x", "<a>N.add</a> theorem addition : x"),
        ("N.add", "theorem _root_.N.add : x", "theorem <a>N.add</a> : x"),
        ("N.add", "theorem «add» : x", "theorem <a>N.add</a> : x"),
        ("N.a'", "theorem a' : x", "theorem <a>N.a'</a> : x"),
        ("instFoo", "instance : Foo := ⟨⟩", "<a>instFoo</a> instance : Foo := ⟨⟩"),
        ("a\\1", "def a\\1 : x", "def <a>a\\1</a> : x"),
    ],
)
def test_premise_text_marks_the_name(name, code, text):
    assert premise_text(name, code) == text


def test_data_loading_processes_hold_no_text(chain):
    assert len(pickle.dumps(chain.visibility)) < 1500
    assert b"theorem" not in pickle.dumps(chain.visibility)
