"""Papers from JSON, tables and Markdown: whatever sources call a field, and however they write it."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from vectorstore.errors import SourceError
from vectorstore.loading import load_papers, load_source
from vectorstore.types import PaperRecord, ReadingRules

SITE = {
    "count": 1,
    "results": [
        {
            "id": 7,
            "name": "Owls See",
            "authors": [{"id": 1, "fullname": "Ada Byron", "institution": "X"}, {"id": 2, "fullname": "Carl Gauß"}],
            "abstract": "We show that owls see.",
            "decision": "Accept (poster)",
            "session": "Poster Session 3",
            "room_name": "Hall A",
            "starttime": "2026-07-15T11:00:00-07:00",
            "paper_url": "https://openreview.net/forum?id=abc123XYZ",
            "virtualsite_url": "/virtual/2026/poster/7",
        }
    ],
}
NOTE = {
    "notes": [
        {
            "id": "abc123XYZ",
            "forum": "abc123XYZ",
            "content": {
                "title": {"value": "Owls See"},
                "abstract": {"value": "We show that owls see."},
                "authors": {"value": ["Ada Byron"]},
                "keywords": {"value": ["owls", "eyes"]},
                "venue": {"value": "ICLR 2026 poster"},
            },
        }
    ]
}
WORK = {
    "results": [
        {
            "id": "https://openalex.org/W1",
            "doi": "https://doi.org/10.1000/Owls.1",
            "display_name": "Owls See",
            "publication_year": 2024,
            "ids": {"pmid": "https://pubmed.ncbi.nlm.nih.gov/123456"},
            "authorships": [{"author": {"display_name": "Ada Byron"}}],
            "primary_location": {"source": {"display_name": "Journal of Owls"}, "pdf_url": "https://x.org/1.pdf"},
            "abstract_inverted_index": {"We": [0], "see": [1, 3], "owls": [2]},
        }
    ]
}
CROSSREF = {
    "message": {
        "DOI": "10.1000/OWLS.1",
        "title": ["Owls <i>see</i> CO<sub>2</sub>"],
        "author": [{"given": "Ada", "family": "Byron"}],
        "container-title": ["Journal of Owls"],
        "issued": {"date-parts": [[2024, 5]]},
        "abstract": "<jats:sec><jats:title>Background</jats:title><jats:p>Owls &amp; mice, p &lt; 0.05, 10<jats:sup>5"
        "</jats:sup> of them.</jats:p></jats:sec><jats:sec><jats:title>Result</jats:title><jats:p>They see.</jats:p>"
        "</jats:sec>",
    }
}
ZOTERO = {
    "items": [
        {"itemType": "attachment", "title": "PDF", "url": "https://x.org"},
        {
            "itemType": "journalArticle",
            "title": "Owls See",
            "creators": [
                {"firstName": "Ed", "lastName": "Itor", "creatorType": "editor"},
                {"firstName": "Ada", "lastName": "Byron", "creatorType": "author"},
            ],
            "publicationTitle": "Journal of Owls",
            "date": "May 2024",
            "abstractNote": "We see owls.",
            "tags": [{"tag": "owls"}],
        },
    ]
}
ARXIV = {
    "id": "2401.00001",
    "title": "Owls\n  See",
    "authors": "Ada Byron, Carl Gau{\\ss} and Ren\\'e Descartes",
    "abstract": "  We see $x^2$ owls\\footnote{really}.\n",
    "categories": "cs.CV cs.LG",
}


def written(folder: Path, value: Any, name: str = "papers.json") -> Path:
    path = folder / name
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return path


def read(folder: Path, value: Any, name: str = "papers.json") -> PaperRecord:
    (paper,) = load_papers(written(folder, value, name))
    return paper


def test_a_conference_site_gives_session_room_time_and_decision(tmp_path: Path) -> None:
    paper = read(tmp_path, SITE)
    assert (paper.title, paper.authors, paper.abstract) == (
        "Owls See",
        ("Ada Byron", "Carl Gauß"),
        "We show that owls see.",
    )
    assert (paper.track, paper.session, paper.room) == ("Accept (poster)", "Poster Session 3", "Hall A")
    assert paper.starts_at == "2026-07-15T11:00:00-07:00"
    assert (paper.openreview_id, paper.pdf_url) == ("abc123XYZ", "https://openreview.net/pdf?id=abc123XYZ")
    assert paper.urls == ("https://openreview.net/forum?id=abc123XYZ",)


def test_openreview_keeps_its_values_in_its_content(tmp_path: Path) -> None:
    paper = read(tmp_path, NOTE)
    assert (paper.title, paper.authors, paper.keywords) == ("Owls See", ("Ada Byron",), ("owls", "eyes"))
    assert (paper.openreview_id, paper.venue) == ("abc123XYZ", "ICLR 2026 poster")


def test_openalex_turns_its_abstracts_inside_out(tmp_path: Path) -> None:
    paper = read(tmp_path, WORK)
    assert paper.abstract == "We see owls see"
    assert (paper.doi, paper.pubmed_id, paper.year) == ("10.1000/owls.1", "123456", 2024)
    assert (paper.venue, paper.pdf_url, paper.authors) == ("Journal of Owls", "https://x.org/1.pdf", ("Ada Byron",))


def test_crossref_writes_abstracts_in_tags(tmp_path: Path) -> None:
    paper = read(tmp_path, CROSSREF)
    assert paper.abstract == "Background: Owls & mice, p < 0.05, 10^5 of them.\nResult: They see."
    assert (paper.title, paper.year, paper.doi) == ("Owls see CO2", 2024, "10.1000/owls.1")
    assert paper.urls == ("https://doi.org/10.1000/owls.1",)


def test_zotero_s_attachments_are_no_papers_and_its_editors_no_authors(tmp_path: Path) -> None:
    source = load_source(written(tmp_path, ZOTERO))
    (paper,) = source.papers
    assert (paper.authors, paper.year, paper.keywords) == (("Ada Byron",), 2024, ("owls",))
    assert [(record.position, record.reason) for record in source.skipped] == [
        (1, "it is no paper, but of type attachment")
    ]


def test_arxiv_s_metadata_has_tex_in_names_and_formulas_that_stay(tmp_path: Path) -> None:
    paper = read(tmp_path, ARXIV)
    assert (paper.title, paper.authors) == ("Owls See", ("Ada Byron", "Carl Gauß", "René Descartes"))
    assert paper.abstract == "We see $x^2$ owls\\footnote{really}."
    assert (paper.arxiv_id, paper.pdf_url) == ("2401.00001", "https://arxiv.org/pdf/2401.00001")


def test_arxiv_s_metadata_has_a_first_version_and_authors_beside_their_affiliations(tmp_path: Path) -> None:
    paper = read(
        tmp_path,
        {
            "title": "A",
            "authors": "Ada Byron (Univ. X) and Carl Gauss",
            "authors_parsed": [["Byron", "Ada", "", "Univ. X"], ["Gauss", "Carl", "Jr."]],
            "categories": "cs.LG stat.ML hep-th",
            "versions": [{"version": "v1", "created": "Mon, 4 Jan 2021 10:00:00 GMT"}],
            "update_date": "2023-02-01",
        },
    )
    assert (paper.authors, paper.year) == (("Ada Byron", "Carl Gauss Jr."), 2021)
    assert paper.keywords == ("cs.LG", "stat.ML", "hep-th")


def test_europe_pmc_puts_journal_and_keywords_one_level_down(tmp_path: Path) -> None:
    record = {
        "title": "A",
        "abstractText": "We see.",
        "journalInfo": {"journal": {"title": "Owls"}},
        "keywordList": {"keyword": ["eyes", "night"]},
    }
    paper = read(tmp_path, {"resultList": {"result": [record]}})
    assert (paper.venue, paper.keywords) == ("Owls", ("eyes", "night"))


@pytest.mark.parametrize("packed", [False, True])
def test_of_json_lines_a_broken_one_is_skipped_by_its_number(tmp_path: Path, packed: bool) -> None:
    lines = b'{"title": "One", "abstract": "First is here."}\n\n{"title": "Tw\n{"title": "Three"}\n["four"]\n{"x": 5}\n'
    path = written(tmp_path, gzip.compress(lines) if packed else lines, "papers.jsonl.gz" if packed else "papers.jsonl")
    source = load_source(path)
    assert [(paper.title, paper.position, paper.is_title_only) for paper in source.papers] == [
        ("One", 1, False),
        ("Three", 3, True),
    ]
    assert [(record.position, record.line) for record in source.skipped] == [(2, 3), (4, 5), (5, 6)]


def test_records_may_stand_deep_and_inherit_what_holds_for_all(tmp_path: Path) -> None:
    value = [
        {
            "venue": "NeurIPS",
            "year": 2018,
            "submissions": [{"title": "A", "authors": ["B C"]}, {"title": "D", "year": 2017}],
        }
    ]
    papers = load_papers(written(tmp_path, value))
    assert [(paper.title, paper.venue, paper.year) for paper in papers] == [
        ("A", "NeurIPS", 2018),
        ("D", "NeurIPS", 2017),
    ]


def test_a_mapping_of_records_and_numbers_that_json_lacks_are_read(tmp_path: Path) -> None:
    text = b'\xef\xbb\xbf{"1": {"title": "A", "year": 2020, "rating": NaN}, "2": {"title": "B", "year": 2021}}'
    assert [paper.year for paper in load_papers(written(tmp_path, text))] == [2020, 2021]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_a_table_may_have_any_delimiter_and_encoding(tmp_path: Path, delimiter: str, encoding: str) -> None:
    head = "Article Title|Abstract|Author Full Names|Publication Year|Source Title|Author Keywords".split("|")
    quoted = f'"Ils voient{delimiter}\nla ""nuit"" à Liège."'
    row = ["Étude des hiboux", quoted, '"Byron, Ada; Gauß, Carl"', "2024", "Revue", '"a; b"']
    text = f"{delimiter.join(head)}\r\n{delimiter.join(row)}\r\n"
    paper = read(tmp_path, text.encode(encoding), "papers.txt")
    assert (paper.title, paper.abstract) == ("Étude des hiboux", f'Ils voient{delimiter}\nla "nuit" à Liège.')
    assert (paper.authors, paper.year, paper.venue) == (("Ada Byron", "Carl Gauß"), 2024, "Revue")
    assert paper.keywords == ("a", "b")


def test_a_table_s_columns_are_told_and_may_be_said(tmp_path: Path) -> None:
    path = written(tmp_path, b"Titel,Inhalt,Year\nOwls,We see owls.,2020\n", "papers.csv")
    with pytest.raises(SourceError, match="without a column for titles") as caught:
        load_source(path)
    assert "Titel, Inhalt, Year" in caught.value.hint
    source = load_source(path, ReadingRules(columns={"title": "Titel", "abstract": "Inhalt"}))
    assert source.papers[0].abstract == "We see owls."
    assert source.warnings == ("columns: 'Year' as year, 'Titel' as title, 'Inhalt' as abstract",)
    for columns, message in [({"abstract": "Text"}, "no column 'Text'"), ({"colour": "Titel"}, "no field 'colour'")]:
        with pytest.raises(SourceError, match=message):
            load_source(path, ReadingRules(columns=columns))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("El análisis de la señal es difícil.", "cp1252"),
        ("Gödel’s “proof” – naïve café.", "cp1252"),
        ("Die Übersicht über größte Änderungen.", "latin-1"),
        ("Исследование нейронных сетей и обучения.", "cp1251"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy.", "cp1250"),
        ("日本語の論文の要約です。機械学習について.", "cp932"),
    ],
)
def test_an_older_encoding_is_guessed_and_told(tmp_path: Path, text: str, encoding: str) -> None:
    source = load_source(written(tmp_path, text.encode(encoding), "papers.txt"))
    assert source.papers[0].abstract == text
    assert source.warnings[0].startswith("read as ")


def test_a_table_of_web_of_science_has_its_tags_for_columns(tmp_path: Path) -> None:
    text = (
        "PT\tAU\tTI\tSO\tDE\tAB\tDI\tPY\nJ\tByron, A; Gauss, C\tOwls See\tOWLS\teyes; owls\tWe see.\t10.1000/1\t2024\n"
    )
    paper = read(tmp_path, text.encode(), "savedrecs.txt")
    assert (paper.title, paper.abstract, paper.authors, paper.venue) == (
        "Owls See",
        "We see.",
        ("A Byron", "C Gauss"),
        "OWLS",
    )
    assert (paper.doi, paper.year, paper.keywords) == ("10.1000/1", 2024, ("eyes", "owls"))


@pytest.mark.parametrize("before", ["sep=;\r\n", '"About the data: title; abstract of owls, exported today"\n', "\n\n"])
def test_a_table_s_head_may_have_lines_before_it(tmp_path: Path, before: str) -> None:
    paper = read(tmp_path, f"{before}Title;Abstract;Year\nOwls See;We see.;2024\n".encode(), "table.csv")
    assert (paper.title, paper.abstract, paper.year) == ("Owls See", "We see.", 2024)


def test_full_names_are_preferred_in_tables(tmp_path: Path) -> None:
    scopus = 'Authors,Author full names,Title\n"Byron, A.","Byron, Ada (57190000001)",A\n'
    assert read(tmp_path, scopus.encode(), "scopus.csv").authors == ("Ada Byron",)
    web_of_science = "AU\tAF\tTI\nByron, A\tByron, Ada\tA\n"
    assert read(tmp_path, web_of_science.encode(), "savedrecs.txt").authors == ("Ada Byron",)


def test_commands_keep_their_braces_in_titles(tmp_path: Path) -> None:
    assert (
        read(tmp_path, [{"title": "On {GPU}s and \\textit{Procolophon}", "year": 1}]).title
        == "On GPUs and \\textit{Procolophon}"
    )


def test_rows_that_do_not_fit_are_skipped_by_line_and_empty_ones_are_none(tmp_path: Path) -> None:
    text = b"title,abstract\nA,One is here.\n\n,\nB,two, three, four\nC,\n"
    source = load_source(written(tmp_path, text, "papers.csv"))
    assert [paper.title for paper in source.papers] == ["A", "C"]
    assert [(record.line, record.reason) for record in source.skipped] == [(5, "it has 4 cells, and the head has 2")]


def test_lists_as_pandas_writes_them_are_lists(tmp_path: Path) -> None:
    text = b'title,authors,keywords\nA,"[\'Byron, Ada\', \'Gauss, Carl\']","[\'owls\', ""mice""]"\n'
    paper = read(tmp_path, text, "papers.csv")
    assert (paper.authors, paper.keywords) == (("Ada Byron", "Carl Gauss"), ("owls", "mice"))


FRONT_MATTER = [
    """---
title: Owls See
authors: [Ada Byron]
date: 2024-05-01
---

We see owls.
""",
    """---\r
title: 'Owls See'\r
year: 2024\r
...\r
# Notes\r
Good.\r
\r
## Abstract\r
We see owls.\r
\r
# More\r
X.""",
    """---
authors: [Ada Byron]
abstract: We see owls.
---
# Owls See
My own thoughts.""",
]


@pytest.mark.parametrize("text", FRONT_MATTER)
def test_markdown_may_say_what_is_known_before_its_text(tmp_path: Path, text: str) -> None:
    paper = read(tmp_path, text.encode(), "papers.md")
    assert (paper.title, paper.abstract) == ("Owls See", "We see owls.")


def test_aliases_in_front_matter_that_would_grow_without_end_are_refused(tmp_path: Path) -> None:
    front = "a: &a [x, x]\n" + "".join(
        f"{name}: &{name} [*{last}, *{last}]\n" for last, name in zip("abcdefg", "bcdefgh", strict=True)
    )
    with pytest.raises(SourceError, match="front matter"):
        load_papers(written(tmp_path, f"---\ntitle: A\n{front}---\nText.".encode(), "papers.md"))


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("Byron, Ada and Gauss, Carl F.", ("Ada Byron", "Carl F. Gauss")),
        ("Byron, Ada and\n  Gauss, Carl", ("Ada Byron", "Carl Gauss")),
        ("Ada Byron, Max Born and\n  Carl Gauss", ("Ada Byron", "Max Born", "Carl Gauss")),
        ("Byron, Ada; Gauss, Carl", ("Ada Byron", "Carl Gauss")),
        ("Ada Byron|Carl Gauss", ("Ada Byron", "Carl Gauss")),
        ("Ada Byron, Carl Gauss, Max Born", ("Ada Byron", "Carl Gauss", "Max Born")),
        ("Liu R., Adler D.G.", ("Liu R.", "Adler D.G.")),
        ("Byron, Ada, Gauss, Carl", ("Ada Byron", "Carl Gauss")),
        ("Byron, Ada", ("Ada Byron",)),
        ("{The ATLAS Collaboration}", ("The ATLAS Collaboration",)),
        ("Ada Byron;", ("Ada Byron",)),
        ("No authors listed", ()),
        ("Byron A, Gauss CF.", ("Byron A", "Gauss CF")),
        ("Byron, Ada (57190000001); Gauss, Carl F. (57190000002)", ("Ada Byron", "Carl F. Gauss")),
        ({"author": [{"@pid": "1/2", "text": "Ada Byron 0001"}, {"text": "Carl Gauss"}]}, ("Ada Byron", "Carl Gauss")),
        ({"author": {"text": "Ada Byron"}}, ("Ada Byron",)),
        ([{"first": "Ada", "last": "Byron"}, {"literal": "Owl Group"}], ("Ada Byron", "Owl Group")),
        (
            [{"given": "Ada", "non-dropping-particle": "van", "family": "Byron", "suffix": "Jr."}],
            ("Ada van Byron Jr.",),
        ),
        (["Ada Byron", None, {"name": "Carl Gauss"}], ("Ada Byron", "Carl Gauss")),
    ],
)
def test_authors_come_as_given_and_family_name(tmp_path: Path, given: Any, names: tuple[str, ...]) -> None:
    assert read(tmp_path, [{"title": "A", "authors": given, "year": 2020}]).authors == names


@pytest.mark.parametrize(
    ("given", "year"),
    [
        (2024, 2024),
        ("2024", 2024),
        ("2024-05-01T00:00:00Z", 2024),
        ("20241121", 2024),
        ("1 May 2024", 2024),
        ("05/2024", 2024),
        ({"date-parts": [["1999", 5]]}, 1999),
        ("in press", None),
        ("12024", None),
        (0, None),
    ],
)
def test_years_are_found_in_any_date(tmp_path: Path, given: Any, year: int | None) -> None:
    assert read(tmp_path, [{"title": "A", "authors": "B C", "date": given}]).year == year


@pytest.mark.parametrize(
    ("given", "abstract"),
    [
        ("Abstract: We see.", "We see."),
        ("ABSTRACT\nWe see.", "We see."),
        ("Abstract We see.", "We see."),
        ("Abstract. We see.", "We see."),
        ("Abstract ...", "Abstract ..."),
        ("Abstract interpretation is old.", "Abstract interpretation is old."),
        ("n/a", "A"),
        ("[No abstract available]", "A"),
        ("Schr\\\"odinger: \\$5 and 10\\% of $\\alpha_{\\%}$.", "Schrödinger: \\$5 and 10% of $\\alpha_{\\%}$."),
        ("5{\\%} of A{\\&}B", "5% of A&B"),
        ("SchrÃ¶dingerâ€™s cat", "Schrödinger’s cat"),
        ("São João: 5 < 6 & a<b>c", "São João: 5 < 6 & ac"),
        ("H<sub>2</sub>O at 10<sup>-3</sup> &#8211; &lt;b&gt;cold&lt;/b&gt;", "H2O at 10^-3 – cold"),
        ("x <mml:math><mml:mi>a</mml:mi><mml:mo>=</mml:mo><mml:mn>1</mml:mn></mml:math> y", "x a=1 y"),
        ("One.<br/>Two.<p>Three.</p>", "One.\nTwo.\nThree."),
        ("\u202eWe\u200b see\u00a0it.\r\nNow.", "We see it.\nNow."),
    ],
)  # fmt: skip
def test_abstracts_come_without_what_is_no_text(tmp_path: Path, given: str, abstract: str) -> None:
    assert read(tmp_path, [{"title": "A", "abstract": given}]).abstract == abstract


@pytest.mark.parametrize(
    ("fields", "known"),
    [
        ({"doi": "https://doi.org/10.1000/ABC.d"}, {"doi": "10.1000/abc.d"}),
        ({"doi": "10.48550/arXiv.2401.00001"}, {"doi": "10.48550/arxiv.2401.00001", "arxiv_id": "2401.00001"}),
        ({"url": "http://arxiv.org/abs/2401.00001v3"}, {"arxiv_id": "2401.00001"}),
        ({"eprint": "hep-th/9901001"}, {"arxiv_id": "hep-th/9901001"}),
        ({"pdf": "https://openreview.net/pdf?id=abcDEF123"}, {"pdf_url": "https://openreview.net/pdf?id=abcDEF123"}),
        ({"site": "https://openreview.net/forum?id=abcDEF123"}, {"openreview_id": "abcDEF123"}),
        ({"externalIds": {"DOI": "10.1000/1", "PubMed": "77", "ArXiv": "2401.00001"}},
         {"doi": "10.1000/1", "pubmed_id": "77", "arxiv_id": "2401.00001"}),
        ({"id": "W4292779060"}, {"arxiv_id": None}),
    ],
)  # fmt: skip
def test_identifiers_are_found_where_sources_put_them(
    tmp_path: Path, fields: Any, known: dict[str, str | None]
) -> None:
    paper = read(tmp_path, [{"title": "A", "abstract": "We see.", **fields}])
    assert {name: getattr(paper, name) for name in known} == known


@pytest.mark.parametrize("field", ["authors", "keywords", "url"])
@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"author": {"name": ', "}}")])
def test_values_nested_without_end_are_no_texts(tmp_path: Path, field: str, opens: str, closes: str) -> None:
    path = tmp_path / "deep.json"
    path.write_text(f'[{{"title": "A", "abstract": "b.", "{field}": {opens * 480}"x"{closes * 480}}}]')
    assert load_papers(path)[0].title == "A"


def test_a_file_of_several_kinds_of_damage_is_read_in_bounded_time(tmp_path: Path) -> None:
    deep = b"[" * 100_000
    with pytest.raises(SourceError):
        load_papers(written(tmp_path, deep))
    with pytest.raises(SourceError):
        load_papers(written(tmp_path, b'{"a":' * 50_000, "deep.json"))
