import contextlib
import io
import re
import struct
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from vectorstore.errors import SourceError
from vectorstore.loading import archive, bibtex, pdf, tagged, xml_records
from vectorstore.loading.document import Document
from vectorstore.types import PaperRecord, SkippedRecord

Read = Callable[[Document], Iterator[PaperRecord | SkippedRecord]]
EXPORTS = Path(__file__).parents[2] / "shared" / "data" / "exports"


def document_of(content: str | bytes, name: str = "file") -> Document:
    return Document.of(name, content if isinstance(content, bytes) else content.encode())


def records(read: Read, content: str | bytes) -> list[PaperRecord | SkippedRecord]:
    return list(read(document_of(content)))


def papers(read: Read, content: str | bytes) -> list[PaperRecord]:
    return [record for record in records(read, content) if isinstance(record, PaperRecord)]


def the_paper(read: Read, content: str | bytes) -> PaperRecord:
    (paper,) = papers(read, content)
    return paper


def skipped(read: Read, content: str | bytes) -> list[SkippedRecord]:
    return [record for record in records(read, content) if isinstance(record, SkippedRecord)]


def warnings_of(read: Read, content: str | bytes) -> list[str]:
    document = document_of(content)
    list(read(document))
    return document.warnings


def bib(fields: str) -> str:
    return f"@article{{key,\n title = {{T}},\n {fields}\n}}\n"


@pytest.mark.parametrize(
    ("fields", "field", "value"),
    [
        ("author = {family=Curie, given=Marie and Pierre Curie}", "authors", ("Marie Curie", "Pierre Curie")),
        ("subtitle = {And {More}}", "title", "T: And More"),
        ("author = {Curie, Marie and Pierre Curie}", "authors", ("Marie Curie", "Pierre Curie")),
        ('author = "Curie, Marie and\n  Becquerel, Henri"', "authors", ("Marie Curie", "Henri Becquerel")),
        ("author = {{The ATLAS Collaboration} and Curie, M.}", "authors", ("The ATLAS Collaboration", "M. Curie")),
        ("author = {{Barnes and Noble, Inc.} and M. Curie}", "authors", ("Barnes and Noble, Inc.", "M. Curie")),
        ("author = {King, Jr, Martin and others}", "authors", ("Martin King Jr",)),
        ("author = {Curie, Marie; Becquerel, Henri}", "authors", ("Marie Curie", "Henri Becquerel")),
        (r"author = {{\"O}zkal, Erhan and B{\"u}y{\"u}k, O.}", "authors", ("Erhan Özkal", "O. Büyük")),
        ("journal = {Annals of {Physics}}", "venue", "Annals of Physics"),
        ("journaltitle = {Annals}, date = {1898-07-18}", "year", 1898),
        ("year = 1898", "year", 1898),
        (r"doi = {10.1007/978-3-030-1\_2}", "doi", "10.1007/978-3-030-1_2"),
        (r"doi = {10.1007/978{\_}2}", "doi", "10.1007/978_2"),
        ("url = {https://doi.org/10.1000/ABC}", "doi", "10.1000/abc"),
        ("eprint = {2101.00001v2}, archiveprefix = {arXiv}", "arxiv_id", "2101.00001"),
        ("eprint = {2101.00001}, eprinttype = {jstor}", "arxiv_id", None),
        ("eprint = {31452104}, eprinttype = {pubmed}", "pubmed_id", "31452104"),
        ("journal = {arXiv preprint arXiv:2101.00001}", "arxiv_id", "2101.00001"),
        ("journal = {CoRR}, volume = {abs/2101.00001}", "arxiv_id", "2101.00001"),
        ("keywords = {a b, c,\n d}", "keywords", ("a b", "c", "d")),
        ("source = {Scopus}", "venue", None),
        ("abstract = {One\n  two\n\n  three.}", "abstract", "One two\n\nthree."),
        (
            "abstract = {The {BPM} of {{Machine Learning}} in {IoT}s.}",
            "abstract",
            "The BPM of Machine Learning in IoTs.",
        ),
        (r"abstract = {Caf\'e with $\frac{a}{B}$ at $x_{N}$.}", "abstract", r"Café with $\frac{a}{B}$ at $x_{N}$."),
        (r"abstract = {p {\textless} 0.05 \textendash{} 10\textsuperscript{-3}.}", "abstract", "p < 0.05 – 10^-3."),
        (r"abstract = {An \emph{important} \textit{word}~here.}", "abstract", "An important word here."),
        ("abstract = {The set {0, 1} stays.}", "abstract", "The set {0, 1} stays."),
    ],
)
def test_bibtex_fields_are_read_as_their_reader_means_them(fields: str, field: str, value: object) -> None:
    assert getattr(the_paper(bibtex.read, bib(fields)), field) == value


@pytest.mark.parametrize(
    "entry",
    [
        "@article{k, title = {A {Good} Title}}",
        "@ARTICLE(k, title = {A {Good} Title})",
        "@ article {k, title = {A {Good} Title}}",
        "@article\n{k, title = {A {Good} Title}}",
        '@article{k, title = "A {Good} Title"}',
        '@string{g = "A Good"}\n@article{k, title = g # " Title"}',
        '@string{g = "Good"}\n@string{h = "A " # g}\n@article{k, title = H # { Title}}',
        '@comment{jabref-meta: x;}\n@preamble{ "x" }\n@article{k, title = {A {Good} Title}}',
        "Some words before.\n\n@article{k, title = {A {Good} Title}}",
        "@article{k, title = {A {Good} Title},\n\n",
    ],
)
def test_an_entry_is_read_however_it_is_written(entry: str) -> None:
    assert the_paper(bibtex.read, entry).title == "A Good Title"


def test_an_entry_takes_over_from_the_volume_it_refers_to() -> None:
    text = "@inproceedings{a, title={T}, crossref={P}}\n@proceedings{p, title={Conf}, year={2020}, doi={10.1000/x}}"
    paper = papers(bibtex.read, text)[0]
    assert (paper.venue, paper.year, paper.doi) == ("Conf", 2020, None)


def test_duplicate_keys_and_fields_are_read_with_a_warning() -> None:
    text = "@article{k, title={A}, note={x}, note={y}}\n@article{m, title={B}}\n@article{m, title={C}}"
    assert [paper.title for paper in papers(bibtex.read, text)] == ["A", "B", "C"]
    warnings = warnings_of(bibtex.read, text)
    assert "m" in warnings[0]
    assert "note" in warnings[1]


def test_long_values_are_read_as_short_ones_are() -> None:
    long = 'we {see {that}}, {\\"o}, with a = {b}, "quoted" and x@y.z\n' * 20
    entry = f'@misc{{a, title = {{A}}, note = {{{long}}}, abstract = {{{long}}} # " end " # {{{long}}}\n}}\n'
    paper, second = records(bibtex.read, entry + "@misc{b,\n pages = {1}}\n")
    assert isinstance(paper, PaperRecord)
    assert (paper.abstract.count('ö, with a = {b}, "quoted" and x@y.z'), paper.abstract.count(" end ")) == (40, 1)
    assert paper.abstract.startswith("we {see {that}}, ö")
    assert paper.abstract.endswith("x@y.z")
    assert second == SkippedRecord(position=2, line=63, reason="it has neither a title nor an abstract")


def test_a_comment_without_an_end_is_left_out_with_a_warning() -> None:
    text = "@comment{x\n\n@article{a, title={A}}"
    assert the_paper(bibtex.read, text).title == "A"
    assert warnings_of(bibtex.read, text) == ["the @comment in line 1 has no end and is left out"]


def test_reading_goes_on_behind_a_broken_entry() -> None:
    text = "@article{a, title={A}}\n\n@article{b, title={B, year={2020}}\n\n@article{c, title={C}}\n@x-y{d, title={D}}"
    found = records(bibtex.read, text)
    assert [getattr(record, "title", None) for record in found] == ["A", None, "C", None]
    broken, unknown = skipped(bibtex.read, text)
    assert (broken.position, broken.line) == (2, 3)
    assert "cannot be parsed" in broken.reason
    assert (unknown.position, unknown.line) == (4, 6)


def test_an_entry_without_a_title_and_an_abstract_is_skipped_with_its_line() -> None:
    (record,) = records(bibtex.read, "\n\n@set{s, entryset={a,b}}")
    assert isinstance(record, SkippedRecord)
    assert record.line == 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_bibtex_in_any_encoding_is_recognised_and_read(encoding: str) -> None:
    content = "@article{k, title = {Über die spezifische Wärme von Körpern}}\r\n".encode(encoding)
    assert bibtex.recognises(document_of(content))
    assert the_paper(bibtex.read, content).title == "Über die spezifische Wärme von Körpern"


RIS = "TY  - JOUR\r\nTI  - T\r\nAB  - Some words.\r\nER  - \r\n"


@pytest.mark.parametrize(
    ("lines", "field", "value"),
    [
        ("AU  - Curie, Marie\nA1  - Becquerel,Henri\nAU  - King, Martin, Jr", "authors", 3),
        ("AU  - Curie, Marie\nAU  - Curie, Marie", "authors", ("Marie Curie",)),
        ("AU  - Curie M", "authors", ("M Curie",)),
        ("KW  - Rats, Inbred\nKW  - *Mice", "keywords", ("Rats, Inbred", "Mice")),
        ("KW  - Animals\nRats\nMice", "keywords", ("Animals", "Rats", "Mice")),
        ("KW  - a, b", "keywords", ("a", "b")),
        ("PY  - 10 15\nY1  - 2001/09/01/", "year", 2001),
        ("PY  - ///\nPY  - 99\nDA  - 1999/01", "year", 1999),
        ("PY  - Start date: 20170812", "year", 2017),
        ("T2  - Long Name\nJA  - L.N.", "venue", "Long Name"),
        ("N1  - doi: 10.1000/n\nN1  - more", "doi", "10.1000/n"),
        ("N1  - cites 10.1000/other", "doi", None),
        ("AB  - One.\nAB  - Two.", "abstract", "One.\n\nTwo."),
        ("N2  - One.\nAB  - Two.", "abstract", "Two."),
        ("N2  - One.", "abstract", "One."),
        ("N2  - One\ntwo.", "abstract", "One\ntwo."),
        ("\n\nAB  - One.\n\n", "abstract", "One."),
        ("ZZ  - what\n\u000bXX  - no\nAB  - One.", "abstract", "One."),
        ("PMID  - 123", "pubmed_id", "123"),
        ("L1  - https://a.org/p.pdf", "pdf_url", "https://a.org/p.pdf"),
    ],
)
def test_ris_fields_are_read(lines: str, field: str, value: object) -> None:
    paper = the_paper(tagged.read_ris, f"TY  - JOUR\nTI  - T\n{lines}\nER  - \n")
    found = getattr(paper, field)
    assert (len(found) if isinstance(value, int) and field == "authors" else found) == value


@pytest.mark.parametrize(
    "text",
    [
        RIS,
        RIS.replace("\r\n", "\n"),
        RIS.replace("\r\n", "\r"),
        RIS.replace("ER  - \r\n", ""),
        RIS.lower().replace("ti  - t", "ti  - T").replace("some", "Some"),
        "".join(f"   {line}\n" for line in RIS.splitlines()),
        RIS.replace("  - ", " - "),
        RIS.replace("  - ", "\t- "),
        "\ufeff\r\nProvider: Nobody\r\nContent: text\r\n\r\n" + RIS,
        RIS.replace("TI", "T1").replace("AB", "N2"),
        RIS.replace("AB  - ", "AB  - Some\n").replace("Some words", "words"),
    ],
)
def test_a_damaged_ris_record_is_recognised_and_read(text: str) -> None:
    assert tagged.is_ris(document_of(text))
    paper = the_paper(tagged.read_ris, text)
    assert (paper.title, " ".join(paper.abstract.split())) == ("T", "Some words.")


def test_each_ris_record_comes_out_once_with_its_line() -> None:
    text = "TY  - X\nTI  - A\nTY  - X\n\nTY  - X\nTI  - B\nER  - \nTI  - C\nER  - \nER  - \nTY  - X\nTI  - D"
    found = records(tagged.read_ris, text)
    assert [getattr(record, "title", None) for record in found] == ["A", None, "B", "C", "D"]
    assert [record.position for record in found] == [1, 2, 3, 4, 5]
    assert [(record.position, record.line) for record in skipped(tagged.read_ris, text)] == [(2, 3)]


PUBMED = """
PMID- 1
OWN - NLM
TI  - A long title that
      goes on.
AB  - BACKGROUND: One
      two.
FAU - Curie, Marie
AU  - Curie M
CN  - Group, The
LID - 10.1000/x [doi]
AID - S0140 [pii]
DP  - 2009 Spring
JT  - A journal
MH  - *Rats, Inbred
SO  - A journal. 2009;1(1):1.

PMID- 2
TI  - Second

AB  - Text of it.
AU  - Curie M
OT  - word, word

This line belongs to nothing.
"""


def test_pubmed_records_are_read_with_their_wrapped_lines() -> None:
    assert tagged.is_pubmed(document_of(PUBMED))
    first, second = papers(tagged.read_pubmed, PUBMED)
    assert (first.title, first.abstract) == ("A long title that goes on.", "BACKGROUND: One two.")
    assert first.authors == ("Marie Curie", "Group, The")
    assert (first.doi, first.year, first.venue, first.pubmed_id) == ("10.1000/x", 2009, "A journal", "1")
    assert first.keywords == ("Rats, Inbred",)
    assert (second.abstract, second.authors, second.keywords) == ("Text of it.", ("M Curie",), ("word, word",))


@pytest.mark.parametrize(
    "text",
    [
        "PMID-1\nTI  - A\n\nPMID-2\nTI  - B\n",
        "OWN - ERIC\nTI  - A\nAU  - x\nDP  - 2000\n\nOWN - ERIC\nTI  - B\n",
        "  PMID- 1\n  TI  - A\n\n  PMID- 2\n  TI  - B\n",
        "pmid- 1\nti  - A\n\npmid- 2\nti  - B\n",
        "PMID- 1\r\nTI  - A\r\nPMID- 2\r\n\r\nTI  - B",
    ],
)
def test_pubmed_records_are_told_apart_in_damaged_files(text: str) -> None:
    assert tagged.is_pubmed(document_of(text))
    assert [paper.title for paper in papers(tagged.read_pubmed, text)] == ["A", "B"]


WEB_OF_SCIENCE = """FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Curie, M
   Becquerel, H
AF Curie, Marie
   Becquerel, Henri
CA A Group
TI A long title
   that goes on
SO ANNALS
DE one; two
ID THREE
AB One
   two.
DI 10.1000/x
PM 7
PY 1999
ER

PT C
TI Second
AB Text of it.
EF"""


def test_web_of_science_records_are_read_with_their_wrapped_lines() -> None:
    assert tagged.is_web_of_science(document_of(WEB_OF_SCIENCE))
    first, second = papers(tagged.read_web_of_science, WEB_OF_SCIENCE)
    assert (first.title, first.abstract) == ("A long title that goes on", "One two.")
    assert first.authors == ("Marie Curie", "Henri Becquerel", "A Group")
    assert (first.venue, first.year, first.doi, first.pubmed_id) == ("ANNALS", 1999, "10.1000/x", "7")
    assert first.keywords == ("one", "two")
    assert (second.title, second.abstract) == ("Second", "Text of it.")


@pytest.mark.parametrize(
    "text",
    [
        "%0 Journal Article\n%A Curie, Marie\n%T A\n%X One.\n%K x\ny\n\n%0 Book\n%T B\n",
        "%T A\n%0 Journal Article\n%A Curie, Marie\n%K x\ny\n%X One.\n\n\n%T B\n",
        "%A Curie, Marie\n%T A\n%K x\ny\n\n%X One.\n\n%A Someone\n%T B\n",
        "%0 Journal\n%T A\n%A Curie, Marie\n%K x\ny\n%X One.\n%0 Journal\n%T B\n",
    ],
)
def test_endnote_records_are_told_apart(text: str) -> None:
    assert tagged.is_endnote(document_of(text))
    first, second = papers(tagged.read_endnote, text)
    assert (first.title, first.authors, first.abstract) == ("A", ("Marie Curie",), "One.")
    assert first.keywords == ("x", "y")
    assert second.title == "B"


RECOGNISED: list[tuple[Callable[[Document], bool], str]] = [
    (bibtex.recognises, bib("year = 2000")),
    (tagged.is_ris, RIS),
    (tagged.is_pubmed, PUBMED),
    (tagged.is_web_of_science, WEB_OF_SCIENCE),
    (tagged.is_endnote, "%0 Book\n%T B\n"),
    (xml_records.recognises, "<?xml version='1.0'?><feed/>"),
    (pdf.recognises, "%PDF-1.7\n"),
    (archive.recognises, "PK\x03\x04"),
]


@pytest.mark.parametrize("text", [text for _, text in RECOGNISED])
def test_a_format_is_recognised_by_its_own_reader_only(text: str) -> None:
    assert [recognises(document_of(text)) for recognises, _ in RECOGNISED] == [text == own for _, own in RECOGNISED]


@pytest.mark.parametrize(
    "text",
    [
        "A paper about BibTeX.\n\nIts entry:\n\n```bibtex\n@article{k, title={T}}\n```\n",
        "We study up - and down - regulation.\n\nAI - based methods are new.\n",
        "% a comment\n%% another\n",
        "<div align=center>\n\n# Title\n\nText.",
        "<!DOCTYPE html><html><body>@article</body></html>",
        "PT\tAU\tTI\tAB\nJ\tCurie\tT\tText",
        "",
    ],
)
def test_other_text_is_not_taken_for_one_of_the_formats(text: str) -> None:
    assert not any(recognises(document_of(text)) for recognises, _ in RECOGNISED)


def pubmed_xml(article: str) -> str:
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "https://dtd.nlm.nih.gov/pubmed.dtd">\n'
        f"<PubmedArticleSet>\n<PubmedArticle><MedlineCitation><PMID>7</PMID><Article>{article}</Article>"
        "</MedlineCitation></PubmedArticle></PubmedArticleSet>"
    )


MATH = '<m:math xmlns:m="http://www.w3.org/1998/Math/MathML">{}</m:math>'


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("A <i>word</i> of H<sub>2</sub>O", "A word of H2O"),
        ("10<sup>-3</sup> and p &lt; 0.05", "10^-3 and p < 0.05"),
        ("caf&eacute; &amp; bar", "café & bar"),
        (
            "so " + MATH.format("<m:msup><m:mi>x</m:mi><m:mn>2</m:mn></m:msup><m:mo>=</m:mo><m:mn>4</m:mn>"),
            "so x^2 = 4",
        ),
        ("so " + MATH.format("<m:mfrac><m:mi>a</m:mi><m:mi>b</m:mi></m:mfrac>"), "so a/b"),
        ("one\n     two", "one two"),
    ],
)
def test_the_text_of_inline_elements_is_kept(inner: str, text: str) -> None:
    content = pubmed_xml(f"<ArticleTitle>T</ArticleTitle><Abstract><AbstractText>{inner}</AbstractText></Abstract>")
    assert the_paper(xml_records.read, content).abstract == text


def test_a_pubmed_article_is_read_with_its_labels() -> None:
    paper = the_paper(
        xml_records.read,
        pubmed_xml(
            "<Journal><JournalIssue><PubDate><MedlineDate>1999 Spring</MedlineDate></PubDate></JournalIssue>"
            "<Title>A journal</Title></Journal><ArticleTitle>T</ArticleTitle>"
            '<ELocationID EIdType="pii">x</ELocationID><ELocationID EIdType="doi">10.1000/x</ELocationID>'
            '<Abstract><AbstractText Label="AIM">One.</AbstractText>'
            '<AbstractText Label="END">Two.</AbstractText></Abstract>'
            "<AuthorList><Author><LastName>Curie</LastName><ForeName>Marie</ForeName></Author>"
            "<Author><CollectiveName>Group, The</CollectiveName></Author></AuthorList>"
        ),
    )
    assert paper.abstract == "AIM: One.\nEND: Two."
    assert paper.authors == ("Marie Curie", "Group, The")
    assert (paper.venue, paper.year, paper.doi, paper.pubmed_id) == ("A journal", 1999, "10.1000/x", "7")


def test_a_pubmed_book_has_its_authors_and_not_its_editors() -> None:
    paper = the_paper(
        xml_records.read,
        "<PubmedBookArticle><BookDocument><PMID>8</PMID><Book><BookTitle>B</BookTitle><PubDate><Year>2009</Year></PubDate>"
        '<AuthorList Type="editors"><Author><LastName>No</LastName></Author></AuthorList>'
        '<AuthorList Type="authors"><Author><LastName>Yes</LastName></Author></AuthorList></Book>'
        "<Abstract><AbstractText>One.</AbstractText></Abstract></BookDocument></PubmedBookArticle>",
    )
    assert (paper.title, paper.abstract, paper.authors, paper.year) == ("B", "One.", ("Yes",), 2009)


def test_an_atom_feed_is_read() -> None:
    paper, error = records(
        xml_records.read,
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:a="http://arxiv.org/schemas/atom"><title>Query</title><entry>'
        "<id>http://arxiv.org/abs/2101.00001v2</id><published>2021-01-01</published><title>A\n  title</title>"
        "<summary>  One\ntwo.\n</summary><author><name>Marie Curie</name></author><a:doi>10.1000/x</a:doi>"
        '<a:journal_ref>Ann. 1</a:journal_ref><link href="http://arxiv.org/abs/2101.00001v2" rel="alternate"/>'
        '<link href="http://arxiv.org/pdf/2101.00001v2" rel="related" type="application/pdf"/><category term="cs.CL"/>'
        "</entry><entry><id>http://arxiv.org/api/errors#x</id><title>Error</title><summary>bad id</summary></entry>"
        "</feed>",
    )
    assert isinstance(paper, PaperRecord)
    assert (paper.title, paper.abstract, paper.arxiv_id, paper.year) == ("A title", "One two.", "2101.00001", 2021)
    assert (paper.doi, paper.venue, paper.keywords) == ("10.1000/x", "Ann. 1", ("cs.CL",))
    assert paper.pdf_url == "http://arxiv.org/pdf/2101.00001v2"
    assert isinstance(error, SkippedRecord)
    assert "bad id" in error.reason


def oai(metadata: str) -> str:
    return (
        '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>'
        f"<record><header><identifier>oai:x:1</identifier></header>{metadata}</record>"
        "<resumptionToken>more</resumptionToken></ListRecords></OAI-PMH>"
    )


@pytest.mark.parametrize(
    "metadata",
    [
        '<arXiv xmlns="x"><id>2101.00001</id><created>2021-01-01</created><authors><author><keyname>Curie</keyname>'
        "<forenames>Marie</forenames></author><author><keyname>Bee</keyname></author></authors><title>T</title>"
        "<categories>cs.CL cs.AI</categories><abstract> One.\n</abstract></arXiv>",
        '<arXivRaw xmlns="x"><id>2101.00001</id><version version="v1"><date>Fri, 1 Jan 2021 00:00 GMT</date></version>'
        "<title>T</title><authors>Marie Curie (Paris) and Bee</authors><categories>cs.CL cs.AI</categories>"
        "<abstract>One.</abstract></arXivRaw>",
        '<o:dc xmlns:o="x" xmlns:d="y"><d:title>T</d:title><d:creator>Curie, Marie</d:creator>'
        "<d:creator>Bee</d:creator>"
        "<d:subject>cs.CL</d:subject><d:subject>cs.AI</d:subject><d:description>One.</d:description>"
        "<d:description>Comment: 300 pages, and more words</d:description><d:date>2021-01-01</d:date>"
        "<d:identifier>http://arxiv.org/abs/2101.00001</d:identifier></o:dc>",
    ],
)
def test_oai_pmh_is_read_in_each_of_its_formats(metadata: str) -> None:
    content = oai(f"<metadata>{metadata}</metadata>")
    paper = the_paper(xml_records.read, content)
    assert (paper.title, paper.abstract, paper.authors) == ("T", "One.", ("Marie Curie", "Bee"))
    assert (paper.arxiv_id, paper.year, paper.keywords) == ("2101.00001", 2021, ("cs.CL", "cs.AI"))
    assert "more records" in warnings_of(xml_records.read, content)[0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (oai("").replace("<header>", '<header status="deleted">'), "deleted"),
        (oai(""), "no metadata"),
        (oai("<metadata><marc/></metadata>"), "<marc>"),
        ('<OAI-PMH><error code="noRecordsMatch">none</error></OAI-PMH>', "noRecordsMatch"),
    ],
)
def test_an_oai_record_without_a_paper_is_skipped(content: str, reason: str) -> None:
    (record,) = skipped(xml_records.read, content)
    assert reason in record.reason


RSS = """<rss xmlns:dc="http://purl.org/dc/elements/1.1/" version="2.0"><channel><title>cs.LG updates</title><item>
<title>Owls See</title><link>https://arxiv.org/abs/2501.00001</link>
<description>arXiv:2501.00001v1 Announce Type: new
Abstract: We show that
owls see.</description>
<category>cs.LG</category><pubDate>Mon, 06 Jan 2025 00:00:00 -0500</pubDate>
<dc:creator>Ada Byron, Carl Gauss</dc:creator>
</item></channel></rss>"""
ZOTERO = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:bib="http://purl.org/net/biblio#"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"
 xmlns:foaf="http://xmlns.com/foaf/0.1/">
<bib:Article rdf:about="https://arxiv.org/abs/2501.00001"><dcterms:isPartOf><bib:Journal><dc:title>Owls</dc:title>
<dc:identifier>DOI 10.1234/owls</dc:identifier></bib:Journal></dcterms:isPartOf><bib:authors><rdf:Seq>
<rdf:li><foaf:Person><foaf:surname>Byron</foaf:surname><foaf:givenName>Ada</foaf:givenName></foaf:Person></rdf:li>
<rdf:li><foaf:Person><foaf:surname>Gauss</foaf:surname><foaf:givenName>Carl</foaf:givenName></foaf:Person></rdf:li>
</rdf:Seq></bib:authors><dc:title>Owls See</dc:title><dcterms:abstract>We show that
owls see.</dcterms:abstract><dc:subject>cs.LG</dc:subject><dc:date>2025-01-06</dc:date><dc:identifier><dcterms:URI>
<rdf:value>https://arxiv.org/abs/2501.00001</rdf:value></dcterms:URI></dc:identifier></bib:Article>
<z:Attachment xmlns:z="http://www.zotero.org/namespaces/export#"><dc:title>PDF</dc:title></z:Attachment></rdf:RDF>"""


@pytest.mark.parametrize("content", [RSS, ZOTERO])
def test_rss_and_rdf_are_recognised_and_read(content: str) -> None:
    assert xml_records.recognises(document_of(content))
    paper = the_paper(xml_records.read, content)
    assert (paper.title, paper.abstract, paper.year) == ("Owls See", "We show that owls see.", 2025)
    assert (paper.authors, paper.arxiv_id) == (("Ada Byron", "Carl Gauss"), "2501.00001")
    assert paper.keywords == ("cs.LG",)
    if content is ZOTERO:
        assert (paper.venue, paper.doi) == ("Owls", "10.1234/owls")


def test_dblp_gives_publications_and_skips_the_volumes_they_stand_in() -> None:
    content = """<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE dblp SYSTEM "dblp.dtd"><dblp>
<article key="a"><author orcid="1">Ada Byron 0001</author><author>Carl Gau&szlig;</author>
<title>Owls <i>See</i> H<sub>2</sub>O.</title><year>2021</year><volume>abs/2101.00001</volume><journal>CoRR</journal>
<ee type="oa">https://arxiv.org/abs/2101.00001</ee></article>
<proceedings key="p"><title>Proceedings of Owls.</title></proceedings></dblp>"""
    paper = the_paper(xml_records.read, content)
    assert (paper.title, paper.authors) == ("Owls See H2O", ("Ada Byron", "Carl Gauß"))
    assert (paper.venue, paper.year, paper.arxiv_id) == ("CoRR", 2021, "2101.00001")
    assert paper.urls == ("https://arxiv.org/abs/2101.00001",)
    (volume,) = skipped(xml_records.read, content)
    assert "Proceedings of Owls" in volume.reason


def test_what_a_search_in_dblp_finds_is_read() -> None:
    content = """<result><query>owl</query><hits total="1"><hit><info><authors><author>Ada Byron</author></authors>
<title>Owls See.</title><venue>ICML</venue><year>2021</year><doi>10.1234/OWL</doi></info></hit></hits></result>"""
    paper = the_paper(xml_records.read, content)
    assert (paper.title, paper.authors, paper.venue) == ("Owls See", ("Ada Byron",), "ICML")
    assert (paper.year, paper.doi) == (2021, "10.1234/owl")


def test_endnote_xml_is_read_through_its_styles() -> None:
    style = '<style face="normal">{}</style>'.format
    paper = the_paper(
        xml_records.read,
        f"<xml><records><record><contributors><authors><author>{style('Curie, Marie')}</author></authors>"
        f"</contributors><titles><title>{style('A ')}{style('title')}</title>"
        f"<secondary-title>{style('Annals')}</secondary-title></titles>"
        f"<dates><year>{style('1999')}</year></dates><abstract>{style('One.')}</abstract>"
        f"<keywords><keyword>{style('a, b')}</keyword></keywords>"
        f"<electronic-resource-num>{style('10.1000/x')}</electronic-resource-num></record></records></xml>",
    )
    assert (paper.title, paper.abstract, paper.authors) == ("A title", "One.", ("Marie Curie",))
    assert (paper.venue, paper.year, paper.doi, paper.keywords) == ("Annals", 1999, "10.1000/x", ("a, b",))


def test_a_journal_article_is_read_with_its_formulas_in_tex() -> None:
    tex = r"\documentclass{x}\begin{document}$x^2$\end{document}"
    paper = the_paper(
        xml_records.read,
        "<article><front><journal-meta><journal-title>Annals</journal-title></journal-meta><article-meta>"
        '<article-id pub-id-type="doi">10.1000/x</article-id>'
        "<title-group><article-title>T</article-title></title-group>"
        '<contrib-group><contrib contrib-type="author">'
        "<name><surname>Curie</surname><given-names>Marie</given-names></name>"
        '</contrib><contrib contrib-type="editor"><name><surname>No</surname></name></contrib></contrib-group>'
        '<pub-date><year>1999</year></pub-date><abstract abstract-type="graphical"><p>A picture.</p></abstract>'
        "<abstract><title>Abstract</title><p>One <inline-formula><alternatives>"
        f"<tex-math>{tex}</tex-math><math><mi>x</mi></math></alternatives></inline-formula>.</p></abstract>"
        "</article-meta></front><body><p>Long.</p></body></article>",
    )
    assert (paper.title, paper.abstract, paper.authors) == ("T", "One $x^2$.", ("Marie Curie",))
    assert (paper.venue, paper.year, paper.doi) == ("Annals", 1999, "10.1000/x")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_xml_in_any_encoding_is_recognised_and_read(encoding: str) -> None:
    declared = encoding.removesuffix("-sig")
    content = pubmed_xml("<ArticleTitle>Größe</ArticleTitle>").replace("?>", f" encoding='{declared}'?>", 1)
    assert xml_records.recognises(document_of(content.encode(encoding)))
    assert the_paper(xml_records.read, content.encode(encoding)).title == "Größe"


def test_control_characters_do_not_break_xml() -> None:
    assert the_paper(xml_records.read, pubmed_xml("<ArticleTitle>A\x01\x0b b</ArticleTitle>")).title == "A b"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('<!DOCTYPE a [<!ENTITY b "c">]><feed><entry><title>&b;</title></entry></feed>', "entities"),
        (
            '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><feed><entry>&b;</entry></feed>',
            "entities",
        ),
        ('<?xml version="1.0"?><library/>', "<library>"),
        ('<?xml version="1.0"?><feed><entry>', "not valid XML"),
        ('<?xml version="1.0"?>', "not valid XML"),
        ("<feed><entry>" + "<a>" * 1000, "within each other"),
    ],
)
def test_xml_that_cannot_be_read_is_an_error(content: str, words: str) -> None:
    assert xml_records.recognises(document_of(content))
    with pytest.raises(SourceError, match=words):
        records(xml_records.read, content)


def test_what_stands_before_a_fault_in_xml_is_kept() -> None:
    content = "<feed>\n<entry><title>A</title></entry>\n<entry><title>B"
    assert [paper.title for paper in papers(xml_records.read, content)] == ["A"]
    (fault,) = skipped(xml_records.read, content)
    assert (fault.position, fault.line) == (2, 3)


Item = tuple[float, float, str]
ABSTRACT = "We show that a state-of-\nthe-art sys-\ntem reads papers well, and that it does so fast and in little time."


def pdf_of(*pages: list[Item], **said: str) -> bytes:
    """Pages of texts, each with its height on the page from 0 to 1 and the size of its letters."""
    file = io.BytesIO()
    with matplotlib.rc_context({"pdf.fonttype": 42}), PdfPages(file, metadata=said) as written:
        for page in pages:
            figure = Figure(figsize=(8, 11))
            for height, size, text in page:
                figure.text(0.1, height, text, fontsize=size, va="top")
            written.savefig(figure)
    return file.getvalue()


PAGE: list[Item] = [
    (0.98, 8, "Proceedings of a Conference, 2020"),
    (0.95, 18, "A Large Title About\nReading Papers"),
    (0.87, 11, "Marie Curie, Henri Becquerel"),
    (0.84, 12, "Abstract"),
    (0.82, 10, ABSTRACT),
    (0.60, 12, "1 Introduction"),
    (0.57, 10, "Much has been written."),
]


def replaced(text: str, by: str) -> list[Item]:
    return [(height, size, by if words == text else words) for height, size, words in PAGE]


@pytest.mark.parametrize(
    "pages",
    [
        [PAGE],
        [replaced("Abstract", "A BSTRACT")],
        [replaced("Abstract", "ABSTRACT:")],
        [replaced("1 Introduction", "I. INTRODUCTION")],
        [replaced("1 Introduction", "Keywords: reading, papers")],
        [replaced("1 Introduction", "1. Why we read")],
        [replaced("Abstract", "").copy()[:3], PAGE[3:]],
    ],
)
def test_the_abstract_of_a_pdf_ends_where_the_paper_begins(pages: list[list[Item]]) -> None:
    content = pdf_of(*pages)
    paper = the_paper(pdf.read, content)
    assert paper.title == "A Large Title About Reading Papers"
    assert paper.abstract == (
        "We show that a state-of-the-art system reads papers well, and that it does so fast and in little time."
    )


def test_what_a_pdf_says_of_itself_counts_when_its_page_says_it_too() -> None:
    said = the_paper(pdf.read, pdf_of(PAGE, Title="a large title about reading papers", Author="Marie Curie"))
    assert (said.title, said.authors) == ("a large title about reading papers", ("Marie Curie",))
    assert the_paper(pdf.read, pdf_of(PAGE, Title="Microsoft Word - template.doc")).title == PAGE[1][2].replace(
        "\n", " "
    )


def test_an_arxiv_stamp_gives_identifier_and_year() -> None:
    stamp = [(0.3, 8.0, "arXiv:2101.00001v2  [cs.CL]  3 Feb 2021"), (0.2, 8.0, "https://doi.org/10.1000/x")]
    paper = the_paper(pdf.read, pdf_of(PAGE + stamp))
    assert (paper.arxiv_id, paper.year, paper.doi) == ("2101.00001", 2021, "10.1000/x")


def test_an_abstract_without_an_end_is_cut_with_a_warning() -> None:
    content = pdf_of([*PAGE[:5], (0.6, 8, "Then. " * 20)])
    assert the_paper(pdf.read, content).abstract.endswith("Then.")
    assert "nothing marks the end" in warnings_of(pdf.read, content)[0]


def test_a_pdf_without_an_abstract_is_a_skipped_record() -> None:
    (record,) = skipped(pdf.read, pdf_of([(0.9, 18, "Abstract Interpretation"), (0.8, 10, "Some words. " * 9)]))
    assert "Abstract" in record.reason


def locked(content: bytes, password: str) -> bytes:
    from pypdf import PdfWriter

    writer = PdfWriter(clone_from=io.BytesIO(content))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="RC4-128")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (lambda: pdf_of([]), "no text"),
        (lambda: pdf_of(PAGE)[:700], "cannot be read"),
        (lambda: b"%PDF-1.7\nnothing", "cannot be read"),
        (lambda: locked(pdf_of(PAGE), "secret"), "password"),
    ],
)
def test_a_pdf_that_cannot_be_read_is_an_error(content: Callable[[], bytes], words: str) -> None:
    data = content()
    assert pdf.recognises(document_of(data))
    with pytest.raises(SourceError, match=words):
        records(pdf.read, data)


@pytest.mark.parametrize("limit", ["_SECONDS", "_LONGEST_PAGE"])
def test_a_pdf_is_not_read_for_longer_than_a_paper_takes(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, limit, 0)
    with pytest.raises(SourceError, match="too long"):
        records(pdf.read, pdf_of(PAGE))


def test_a_pdf_that_anyone_may_open_is_read_though_it_is_encrypted() -> None:
    assert the_paper(pdf.read, locked(pdf_of(PAGE), "")).title == "A Large Title About Reading Papers"


def zipped(files: dict[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as written:
        for name, data in files.items():
            written.writestr(name, data)
    return file.getvalue()


def unzipped(content: bytes) -> tuple[dict[str, bytes], list[str]]:
    document = document_of(content, "a.zip")
    found = {member.name: member.data() for member in archive.members(document)}
    return found, document.warnings


def test_the_files_of_an_archive_are_given_without_hidden_ones() -> None:
    found, warnings = unzipped(
        zipped(
            {
                "a.txt": "A",
                "b/": "",
                "b/c.txt": "C",
                "__MACOSX/a.txt": "x",
                ".hidden": "x",
                "b/.git/d": "x",
                "../e": "E",
            }
        )
    )
    assert found == {"a.zip!a.txt": b"A", "a.zip!b/c.txt": b"C", "a.zip!../e": b"E"}
    assert warnings == []


def test_archives_are_read_to_one_level_within_another() -> None:
    inner = zipped({"b.txt": "B", "c.zip": zipped({"d.txt": "D"})})
    found, (warning,) = unzipped(zipped({"a.txt": "A", "b.zip": inner}))
    assert found == {"a.zip!a.txt": b"A", "a.zip!b.zip!b.txt": b"B"}
    assert warning == "a.zip!b.zip!c.zip is left out: it is an archive in an archive in an archive"


def locked_member() -> bytes:
    content = bytearray(zipped({"a.txt": "A"}))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + at] |= 1
    return bytes(content)


def resized_member(size: int) -> bytes:
    content = bytearray(zipped({"a.txt": "A" * 1000}))
    content[content.index(b"PK\x01\x02") + 24 :][:4] = b""
    at = content.index(b"PK\x01\x02") + 24
    content[at : at + 4] = struct.pack("<I", size)
    return bytes(content)


def two_of_a_name() -> bytes:
    content = zipped({"a.txt": "A", "b.txt": "B"})
    return content.replace(b"b.txt", b"a.txt")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (locked_member(), "locked by a password"),
        (resized_member(10), "broken"),
        (resized_member(0xF0000000), "more than 256 MB"),
        (zipped({"a.txt": "A"}, zipfile.ZIP_BZIP2), "method"),
        (zipped({"a.docx": zipped({"[Content_Types].xml": "x"})}), "office"),
        (zipped({"a.zip": zipped({"x": "y"})[:-5]}), "broken"),
    ],
)
def test_a_member_that_cannot_be_unpacked_is_left_out_with_a_warning(content: bytes, words: str) -> None:
    found, (warning,) = unzipped(content)
    assert not found
    assert words in warning


def test_of_two_members_of_one_name_the_first_is_read() -> None:
    found, (warning,) = unzipped(two_of_a_name())
    assert found == {"a.zip!a.txt": b"A"}
    assert "same name" in warning


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (zipped({"a.txt": "A"})[:-10], "broken"),
        (zipped({"mimetype": "application/epub+zip"}), "office"),
        (zipped({f"{number}": b"" for number in range(10_001)}, zipfile.ZIP_STORED), "10,000 files"),
    ],
)
def test_an_archive_that_cannot_be_unpacked_is_an_error(content: bytes, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        unzipped(content)


def test_archives_that_would_fill_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_LARGEST_IN_ALL", 1000)
    monkeypatch.setattr(archive._Allowance.__init__, "__defaults__", (archive._MOST_MEMBERS, 1000))
    with pytest.raises(SourceError, match="more than"):
        unzipped(zipped({"a": "A" * 600, "b": "B" * 600}))


READERS: dict[str, tuple[Read, Callable[[Document], bool], bytes]] = {
    "bibtex": (bibtex.read, bibtex.recognises, (bib(r"author={A and {\"O}, B}, abstract={x $y$ {Z}}") * 2).encode()),
    "ris": (tagged.read_ris, tagged.is_ris, (RIS + RIS).encode()),
    "pubmed": (tagged.read_pubmed, tagged.is_pubmed, PUBMED.encode()),
    "web of science": (tagged.read_web_of_science, tagged.is_web_of_science, WEB_OF_SCIENCE.encode()),
    "endnote": (tagged.read_endnote, tagged.is_endnote, b"%0 Book\n%T B\n%A Curie, M\n\n%0 Book\n%T C\n"),
    "xml": (
        xml_records.read,
        xml_records.recognises,
        (pubmed_xml("<ArticleTitle>A <sup>2</sup></ArticleTitle>") + "<!-- -->").encode(),
    ),
    "pdf": (pdf.read, pdf.recognises, pdf_of(PAGE)),
    "zip": (
        lambda document: (record for member in archive.members(document) for record in tagged.read_ris(member)),
        archive.recognises,
        zipped({"a.ris": RIS, "b.zip": zipped({"c.ris": RIS})}),
    ),
}
Mutation = tuple[str, float, bytes]
MUTATIONS = st.lists(
    st.tuples(
        st.sampled_from(["cut", "flip", "insert", "repeat"]),
        st.floats(0, 1, exclude_max=True),
        st.binary(min_size=1, max_size=8),
    ),
    min_size=1,
    max_size=6,
)


def mutated(data: bytes, mutations: list[Mutation]) -> bytes:
    for kind, where, some in mutations:
        at = int(where * len(data))
        if kind == "cut":
            data = data[:at] + data[at + 16 * some[0] :]
        elif kind == "flip":
            data = (
                data[:at]
                + bytes(a ^ b for a, b in zip(data[at : at + len(some)], some, strict=False))
                + data[at + len(some) :]
            )
        elif kind == "insert":
            data = data[:at] + some + data[at:]
        else:
            data = data[:at] + data[at : at + 64] * some[0] + data[at:]
    return data


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60, deadline=None)
@given(mutations=MUTATIONS)
def test_damaged_files_are_read_or_are_errors_for_the_user(name: str, mutations: list[Mutation]) -> None:
    read, recognises, data = READERS[name]
    document = document_of(mutated(data, mutations))
    began = time.process_time()
    with contextlib.suppress(SourceError):
        recognises(document)
        assert all(record.position > 0 for record in read(document))
    assert time.process_time() - began < 5


MANY = 50_000


@pytest.mark.parametrize(
    ("read", "content"),
    [
        (bibtex.read, "@a{" + " " * MANY),
        (bibtex.read, "@a{k, title = " + "{" * MANY),
        (bibtex.read, "@a{k, title = {{" + "A" * MANY + "}"),
        (bibtex.read, "@a{k, title = a" + " " * MANY + "# b}"),
        (bibtex.read, "@x-y{a, title={b}}\n" * (MANY // 10)),
        (bibtex.read, "@a{k, title={x}, author={a" + " and" * MANY + "}}"),
        (tagged.read_ris, "TY  - JOUR\nAB  - x\n" + "y\n" * MANY),
        (tagged.read_ris, "TY  - JOUR\nTI  - x\nAU  - " + "A " * MANY),
        (tagged.read_pubmed, "PMID- 1\nTI  - x\n" + "      y\n" * MANY),
        (xml_records.read, pubmed_xml("<ArticleTitle>" + "<sup>1</sup>" * MANY + "</ArticleTitle>")),
    ],
)
def test_the_time_for_a_hostile_file_grows_no_faster_than_the_file(read: Read, content: str) -> None:
    began = time.process_time()
    bibtex.recognises(document_of(content))
    records(read, content)
    assert time.process_time() - began < 10


STARTS: list[tuple[Callable[[Document], bool], Read, str, str]] = [
    (
        bibtex.recognises,
        bibtex.read,
        r"(?im)^[ \t]*@\s*(?!(?:comment|string|preamble)\b)\w+\s*[{(]",
        r"(?im)^\s*abstract\s*=\s*[{\"]",
    ),
    (tagged.is_ris, tagged.read_ris, r"(?m)^[ \t]*TY\s*-", r"(?m)^(?:AB|N2)\s*-[ \t]*\S"),
    (tagged.is_pubmed, tagged.read_pubmed, r"(?m)^PMID ?-", r"(?m)^AB\s*-[ \t]*\S"),
    (tagged.is_web_of_science, tagged.read_web_of_science, r"(?m)^PT [A-Z]\s*$", r"(?m)^AB \S"),
    (tagged.is_endnote, tagged.read_endnote, r"(?m)^%0", r"(?m)^%X \S"),
    (
        xml_records.recognises,
        xml_records.read,
        r"<(?:PubmedArticle|PubmedBookArticle|entry)[\s>]",
        r"<(?:summary|AbstractText)[^>]*>\s*[^<\s]",
    ),
]
"""By format, how a record and an abstract begin in a file."""
MORE_RECORDS_THAN_STARTS = {
    "colrev_enl_data.enl": 1,
    "jabref_Endnote.pattern.E.enw": 1,
    "jabref_MedlinePlainImporterTestMultiAbstract.txt": 1,
    "jabref_MedlinePlainImporterTestMultipleEntries.txt": 2,
    "colrev_eric_nbib.nbib": 1,
    "asreview_baseline_tag_and_field_definitions.ris": 1,
}
"""Real files with records that lack the tag that should begin them."""
BROKEN_RECORDS = {"colrev_ebsco_bib.bib": 1}
FOLDERS = ("bibtex", "ris", "pubmed", "wos_plain")
REAL_FILES = [path for folder in FOLDERS for path in sorted((EXPORTS / folder).glob("*"))]
REAL_FILES += sorted((EXPORTS / "arxiv").glob("*.xml"))


@pytest.mark.parametrize("path", REAL_FILES, ids=lambda path: path.name)
def test_every_record_of_a_real_file_comes_out(path: Path) -> None:
    document = Document.at(path)
    ((_, read, start, abstract),) = [entry for entry in STARTS if entry[0](document)]
    found = list(read(document))
    text = document.text()
    assert len(found) == len(re.findall(start, text)) + MORE_RECORDS_THAN_STARTS.get(path.name, 0)
    assert [record.position for record in found] == list(range(1, len(found) + 1))
    broken = [record for record in found if isinstance(record, SkippedRecord) and "parsed" in record.reason]
    assert len(broken) == BROKEN_RECORDS.get(path.name, 0)
    if path.name not in MORE_RECORDS_THAN_STARTS:
        for record, part in zip(found, re.split(start, text)[1:], strict=True):
            has_abstract = isinstance(record, PaperRecord) and record.abstract != record.title
            assert has_abstract == (re.search(abstract, part) is not None) or record in broken
