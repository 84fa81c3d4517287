"""`assistant serve` as programs meet it: the OpenAI API with its real clients, what is refused, and how it ends."""

import asyncio
import json
import re
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI, OpenAI

from assistant import Assistant, build_assistant
from assistant.access import Users
from assistant.app import Assistants, index_papers
from assistant.cli import main
from assistant.errors import SettingsError
from assistant.server import build_application, serve
from assistant.settings import load_settings
from tests.fakes import KEY, MODEL, ModelServer
from tests.serving import free_port, in_thread, program
from tests.test_cli import run
from tests.test_writing import GOOD, QUESTION

QUOTATION, WRITTEN = "icml2026/quotation", f"icml2026/openai:{MODEL}"
QUESTIONS = {
    "fact": "Which paper finds that agents can break out of a sandbox?",
    "list": "Which papers deal with diffusion language models?",
    "compare": "Compare LiftQuant and CoMem.",
    "count": "How many papers are about agents?",
    "overview": "What is in this collection?",
    "overview of a topic": "Give me an overview of the papers on diffusion language models.",
    "smalltalk": "Hello!",
    "not_stated": "What learning rate does LiftQuant use?",
    "not_covered": "Which paper proposes AlphaFold 3?",
}
INVENTED = f"{GOOD} [1]. It was trained on 512 H100 cards in Paris [1]."


@dataclass
class Server:
    """What most tests ask."""

    url: str
    key: str
    users: Users
    data_dir: Path
    model: ModelServer
    http: httpx.Client
    """One for all requests: making one costs more than most of them."""

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def client(self, key: str = "") -> OpenAI:
        return OpenAI(base_url=f"{self.url}/v1", api_key=key or self.key, max_retries=0, http_client=self.http)

    def post(self, body: Any, path: str = "/v1/chat/completions", **options: Any) -> httpx.Response:
        content = {"content": body} if isinstance(body, str | bytes) else {"json": body}
        headers = {**self.headers, "Content-Type": "application/json"}
        return self.http.post(f"{self.url}{path}", headers=headers, **content, **options)


@pytest.fixture(scope="module")
def server(built_in_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The program with a model, two collections and a user."""
    folder = tmp_path_factory.mktemp("served")
    data_dir = Path(shutil.copytree(built_in_data, folder / "data"))
    cats = folder / "cats.jsonl"
    cats.write_text(json.dumps({"title": "CatNet: cats", "abstract": "We propose CatNet, which finds cats at night."}))
    index_papers([cats], data_dir=data_dir, collection="cats")
    users = folder / "users.json"
    key = run("user", "key", "reader", "--file", str(users)).stdout.strip()
    with ModelServer() as model:
        environment = {
            "ASSISTANT_DATA_DIR": str(data_dir),
            "ASSISTANT_AUTH_FILE": str(users),
            "ASSISTANT_MODEL": f"openai:{MODEL}",
            "ASSISTANT_QUESTIONS_PER_MINUTE": "10000",
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": model.url,
        }
        with program(**environment) as running, httpx.Client(timeout=60) as http:
            yield Server(running.url, key, Users(users), data_dir, model, http)
            assert running.end(signal.SIGINT) < 10
    assert running.process.returncode == 0
    for secret in (key, KEY, "Traceback"):
        assert secret not in running.output


@pytest.fixture(autouse=True)
def forgotten(request: pytest.FixtureRequest) -> None:
    """No test sees what the model was told to say, or was asked, in another."""
    if "server" in request.fixturenames:
        model = request.getfixturevalue("server").model
        model.replies.clear()
        model.requests.clear()
        model.client_left.clear()


@pytest.fixture(scope="module")
def application(built_in_data: Path) -> Iterator[httpx.Client]:
    """The application on this machine for whoever is on it, without a model."""
    assistants = Assistants(load_settings(data_dir=built_in_data), questions_per_minute=100)
    with in_thread(lambda: build_application(assistants)) as url, httpx.Client(base_url=url, timeout=60) as http:
        yield http


def asked(question: str, *before: Any, model: str = QUOTATION) -> dict[str, Any]:
    return {"model": model, "messages": [*before, {"role": "user", "content": question}]}


def recalled(**citation: Any) -> dict[str, Any]:
    """An answer as it comes back from clients that keep all of it."""
    return {
        "role": "assistant",
        "content": f"Said before [{citation['number']}].",
        "abstract_assistant": {"citations": [citation]},
    }


def without_timings(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "timings_ms"}


def check_annotations(message: Any) -> None:
    """They lie on the source numbers, and say what `Answer.to_dict()` says."""
    answer = message.abstract_assistant
    shown = {citation: each for each in answer["sentences"] if each["shown"] for citation in each["citations"]}
    cited = [each for each in answer["citations"] if each["id"] in shown]
    notes = [note.url_citation for note in message.annotations]
    assert [message.content[note.start_index : note.end_index] for note in notes] == [
        f"[{each['number']}]" for each in cited
    ]
    assert [note.quote for note in notes] == [each["quote"] for each in cited]
    assert [note.verdict for note in notes] == [shown[each["id"]]["verdict"] for each in cited]
    for note, each in zip(notes, cited, strict=True):
        before = message.content[: note.start_index]
        said = shown[each["id"]]["text"]
        assert readable(said)[-20:] in readable(before)[-60:]
        assert note.title == (each["title"] or each["label"])


def readable(text: str) -> str:
    return re.sub(r"\W+", " ", re.sub(r"\[\d+\]", "", text)).strip()


def streamed(chunks: Any) -> tuple[str, Any, Any]:
    """The text, the delta that has the annotations, and the usage."""
    chunks = list(chunks)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    last = next(delta for delta in deltas if delta.model_extra and "annotations" in delta.model_extra)
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    return "".join(delta.content or "" for delta in deltas), last, chunks[-1].usage


# The same answers


@pytest.mark.parametrize("kind", QUESTIONS)
def test_each_kind_of_answer_is_that_of_the_assistant(server: Server, assistant: Assistant, kind: str) -> None:
    answer = assistant.ask(QUESTIONS[kind])
    assert kind.split()[0] in (answer.kind, answer.status)
    assert ("| --- |" in answer.text) == (kind == "compare")
    client = server.client()
    whole = client.chat.completions.create(**asked(QUESTIONS[kind]))
    message = whole.choices[0].message
    assert message.content == answer.text
    assert without_timings(message.abstract_assistant) == without_timings(answer.to_dict())  # type: ignore[attr-defined]
    assert whole.model == QUOTATION
    assert whole.choices[0].finish_reason == "stop"
    check_annotations(message)
    text, last, _ = streamed(client.chat.completions.create(**asked(QUESTIONS[kind]), stream=True))
    assert text == answer.text
    assert without_timings(last.abstract_assistant) == without_timings(answer.to_dict())
    assert [note["url_citation"] for note in last.annotations] == [
        note.url_citation.model_dump() for note in message.annotations or ()
    ]
    assert server.model.requests == []


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_writes_and_what_it_invents_is_left_out(server: Server, stream: bool) -> None:
    server.model.says(INVENTED)
    settings = {**server.model.settings, "data_dir": server.data_dir}
    answer = build_assistant(**settings).ask(QUESTION)
    completions = server.client().chat.completions
    if stream:
        options = {"include_usage": True}
        text, message, usage = streamed(
            completions.create(**asked(QUESTION, model=WRITTEN), stream=True, stream_options=options)  # type: ignore[call-overload]
        )
    else:
        whole = completions.create(**asked(QUESTION, model=WRITTEN))
        message, usage = whole.choices[0].message, whole.usage
        text = message.content
        check_annotations(message)
    assert text == answer.text
    assert "1 sentence left out" in text
    assert "512" not in text
    assert without_timings(message.abstract_assistant) == without_timings(answer.to_dict())
    assert [each["shown"] for each in message.abstract_assistant["sentences"]][:2] == [True, False]
    assert (usage.prompt_tokens, usage.total_tokens) == (100, 100 + len(INVENTED.split()))


def test_a_stream_comes_as_it_is_written_and_counts_tokens_only_when_asked(server: Server) -> None:
    server.model.says(f"{GOOD} [1]. " * 3, seconds_between_words=0.05)
    start = time.monotonic()
    chunks = server.client().chat.completions.create(**asked(QUESTION, model=WRITTEN), stream=True)
    came = [(time.monotonic() - start, chunk) for chunk in chunks]
    first = next(seconds for seconds, chunk in came if chunk.choices[0].delta.content)
    assert first < came[-1][0] - 0.5
    assert all(chunk.usage is None for _, chunk in came)


def test_the_asynchronous_client_gets_the_same(server: Server, assistant: Assistant) -> None:
    async def ask() -> tuple[Any, str]:
        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key=server.key) as client:
            whole = await client.chat.completions.create(**asked(QUESTIONS["fact"]))
            stream = await client.chat.completions.create(**asked(QUESTIONS["fact"]), stream=True)
            deltas = [chunk.choices[0].delta.content or "" async for chunk in stream]
        return whole.choices[0].message, "".join(deltas)

    message, text = asyncio.run(ask())
    assert message.content == text == assistant.ask(QUESTIONS["fact"]).text
    check_annotations(message)


def test_langchain_asks_it_like_any_model(server: Server, assistant: Assistant) -> None:
    model = ChatOpenAI(base_url=f"{server.url}/v1", api_key=server.key, model=QUOTATION)  # type: ignore[arg-type]
    first = assistant.ask("What is LiftQuant?")
    history: list[BaseMessage] = [SystemMessage("Be kind."), HumanMessage("What is LiftQuant?")]
    reply = model.invoke(history)
    assert reply.content == first.text
    history += [AIMessage(reply.content), HumanMessage("Compare it with CoMem.")]
    told = [{"role": "user", "content": "What is LiftQuant?"}]
    told.append({"role": "assistant", "content": first.text, "citations": first.to_dict()["citations"]})  # type: ignore[dict-item]
    expected = assistant.ask("Compare it with CoMem.", told)
    assert model.invoke(history).content == expected.text
    assert "".join(str(chunk.content) for chunk in model.stream(history)) == expected.text


# Conversations


def test_source_numbers_stay_when_only_texts_come_back(server: Server) -> None:
    messages, papers = list[dict[str, Any]](), dict[int, str]()
    for question in (
        "What is LiftQuant?",
        "Compare it with CoMem.",
        "And which papers are on agents?",
        "What is CoMem?",
    ):
        messages.append({"role": "user", "content": question})
        reply = server.post({"model": QUOTATION, "messages": messages}).json()["choices"][0]["message"]
        messages.append({"role": "assistant", "content": f"  {reply['content']}\n"})  # as clients trim or pad it
        for citation in reply["abstract_assistant"]["citations"]:
            assert papers.setdefault(citation["number"], citation["label"]) == citation["label"]
    assert len(papers) == len({*papers.values()}) > 3


def test_an_answer_that_comes_back_whole_is_understood_after_a_new_start(server: Server) -> None:
    known = recalled(number=7, label="CoMem", paper_id="x", quote="no matter")
    said = server.post(asked("What is it?", {"role": "user", "content": "Hm?"}, known)).json()
    assert "CoMem" in said["choices"][0]["message"]["abstract_assistant"]["standalone_question"]


def test_what_one_visitor_was_told_is_not_told_to_another(server: Server) -> None:
    reply = server.post(asked("What is LiftQuant?")).json()["choices"][0]["message"]["content"]
    other = {"role": "assistant", "content": reply[:-20]}
    said = server.post(asked("What is CoMem?", other)).json()["choices"][0]["message"]
    numbers = {each["number"] for each in said["abstract_assistant"]["citations"]}
    assert numbers
    assert 1 not in numbers


def test_a_history_of_a_megabyte_does_not_take_long(server: Server) -> None:
    turn = {"role": "user", "content": "What does LiftQuant do? " * 80}
    before = [turn, {"role": "assistant", "content": "It quantizes models [1]. " * 80}] * 220
    body = json.dumps(asked("What is CoMem?", *before))
    assert 850_000 < len(body) < 1_000_000
    start = time.monotonic()
    assert server.post(body).status_code == 200
    assert time.monotonic() - start < 5


# What Open WebUI sends


def test_open_webui_is_answered(server: Server, assistant: Assistant) -> None:
    listed = server.http.get(f"{server.url}/v1/models", headers=server.headers).json()
    assert {"id", "object"} <= listed["data"][0].keys()
    body = {
        "stream": True,
        "model": QUOTATION,
        "messages": [
            {"role": "system", "content": "You are a pirate. Always say ARRR."},
            {"role": "user", "content": [{"type": "text", "text": QUESTIONS["fact"]}]},
        ],
        "stream_options": {"include_usage": True},
        "temperature": 0.8,
        "top_p": 0.9,
        "max_tokens": 5,
        "seed": 1,
        "stop": ["a"],
        "user": {"name": "Ann", "id": "1", "email": "ann@example.org", "role": "user"},
        "metadata": {"chat_id": "1"},
        "tools": [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}],
        "tool_choice": "auto",
        "reasoning_effort": "high",
    }
    lines = server.post(body).text.split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    frames = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    deltas = [frame["choices"][0]["delta"] for frame in frames if frame["choices"]]
    answer = assistant.ask(QUESTIONS["fact"])
    assert "".join(delta.get("content", "") for delta in deltas) == answer.text
    sources = [note["url_citation"] for delta in deltas for note in delta.get("annotations", ())]
    assert sources[0]["title"] == answer.citations[0].paper.label
    assert sources[0]["url"]
    assert frames[-1]["usage"]["total_tokens"] == 0


@pytest.mark.parametrize("wanted", ["title", "tags", "follow_ups", "queries"])
def test_orders_for_a_chat_model_are_no_questions_on_the_papers(server: Server, wanted: str) -> None:
    order = f'### Task:\nMake {wanted} for this chat.\n### Output:\nJSON format: {{ "{wanted}": [] }}\n'
    order += "### Chat History:\n<chat_history>\nUSER: What is LiftQuant?\n</chat_history>"
    for model in (QUOTATION, WRITTEN):
        said = server.post(asked(order, model=model))
        assert said.status_code == 400
        assert "not a question on the papers" in said.json()["error"]["message"]
    assert server.model.requests == []


def test_images_are_refused_in_plain_words(server: Server) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    said = server.post(asked([{"type": "text", "text": "What is this?"}, picture]))  # type: ignore[arg-type]
    assert said.status_code == 400
    assert said.json()["error"]["param"] == "messages.0.content"
    assert "only text" in said.json()["error"]["message"]
    assert "AAAA" not in said.text


# Models


def test_collections_and_writers_are_models(server: Server, assistant: Assistant) -> None:
    models = server.client().models
    expected = [f"{name}/{writer}" for name in ("cats", "icml2026") for writer in (f"openai:{MODEL}", "quotation")]
    assert [model.id for model in models.list()] == expected
    assert [models.retrieve(name).id for name in expected] == expected
    completions = server.client().chat.completions
    cats = completions.create(**asked("Which paper finds cats?", model="cats/quotation")).choices[0].message
    assert "CatNet" in str(cats.content)
    both = completions.create(**asked("Which paper finds cats?", model="icml2026,cats/quotation")).choices[0].message
    assert "CatNet" in str(both.content)
    server.model.says(f"{GOOD} [1].")
    assert completions.create(**asked(QUESTION, model="icml2026")).choices[0].message.content == f"{GOOD}. [1]"
    assert len(server.model.requests) == 1


@pytest.mark.parametrize(
    "name", ["nope", "icml2026/nope", "../icml2026", "nope/quotation", "/quotation", "icml2026,nope"]
)
def test_other_models_are_not_found(server: Server, name: str) -> None:
    client = server.client()
    with pytest.raises(openai.NotFoundError, match="There is no") as caught:
        client.chat.completions.create(**asked("Hello!", model=name))
    assert caught.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve(name)


def test_other_addresses_are_not_found_as_the_api_says_so(server: Server) -> None:
    with pytest.raises(openai.NotFoundError, match="only /v1/chat/completions") as caught:
        server.client().embeddings.create(model=QUOTATION, input="x")
    assert caught.value.code is None


# Errors


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user", "content": "   "}]}, "The question is empty"),
        ({"messages": [{"role": "user", "content": "a " * 2100}]}, "at most 4,000"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "last message"),
        ({"messages": [{"role": "pirate", "content": "x"}]}, "messages.0.role"),
        ({"n": 2}, "n: "),
        ({"response_format": {"type": "json_object"}}, "response_format.type"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_what_cannot_be_a_question_is_a_bad_request(
    server: Server, change: dict[str, Any], words: str, stream: bool
) -> None:
    with pytest.raises(openai.BadRequestError, match=words) as caught:
        server.client().chat.completions.create(**{**asked("Hello!"), **change}, stream=stream)
    assert caught.value.type == "invalid_request_error"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{nope",
        "[]",
        "[" * 100_000 + "]" * 100_000,
        json.dumps(asked("half \ud800 a pair")),
        json.dumps(asked("What is it?", recalled(number=1, label="\ud800", paper_id="x"))),
        json.dumps(asked("What is it?", recalled(number=10**20, label="x", paper_id="x"))),
        json.dumps(asked("What is it?", recalled(number=1, label="x"))),
    ],
)
def test_what_is_not_a_request_is_a_bad_request(server: Server, body: str) -> None:
    said = server.post(body)
    assert said.status_code == 400
    assert said.json()["error"]["message"]
    assert said.json()["error"]["type"] == "invalid_request_error"


def test_a_model_that_refuses_its_key_is_an_error_of_the_server(server: Server) -> None:
    server.model.says("", status=401)
    client = server.client()
    with pytest.raises(openai.InternalServerError, match="does not accept the key") as caught:
        client.chat.completions.create(**asked(QUESTION, model=WRITTEN))
    with pytest.raises(openai.APIError, match="does not accept the key") as in_stream:
        list(client.chat.completions.create(**asked(QUESTION, model=WRITTEN), stream=True))
    for error in (caught, in_stream):
        assert KEY not in str(error.value)
        assert server.model.url not in str(error.value)


# Who may ask


@pytest.mark.parametrize("key", [None, "pa-wrong", "Bearer", "\xff"])
def test_without_a_key_nothing_is_answered(server: Server, key: str | None) -> None:
    headers = [(b"authorization", f"Bearer {key}".encode("latin1"))] if key else []
    for method, path in (("GET", "/v1/models"), ("POST", "/v1/chat/completions"), ("POST", "/mcp"), ("GET", "/v1/x")):
        said = server.http.request(method, f"{server.url}{path}", headers=headers)
        assert said.status_code == 401
        assert said.json()["error"]["code"] == "invalid_api_key"
    for path in ("/config", "/gradio_api/info"):
        assert server.http.get(f"{server.url}{path}", headers=headers).status_code == 401
    with pytest.raises(openai.AuthenticationError):
        server.client("pa-wrong").models.list()


def test_a_key_counts_from_when_it_is_made_until_it_is_taken_away(server: Server) -> None:
    key = server.users.new_key("guest")
    assert server.client(key).models.list()
    server.users.remove("guest")
    with pytest.raises(openai.AuthenticationError, match="API key"):
        server.client(key).models.list()
    assert server.client().models.list()


def test_a_file_of_users_that_cannot_be_read_lets_nobody_in_and_is_not_named(server: Server) -> None:
    kept = server.users.path.read_bytes()
    try:
        server.users.path.write_bytes(b"{")
        with pytest.raises(openai.InternalServerError, match="cannot answer now") as caught:
            server.client().models.list()
        assert str(server.users.path) not in str(caught.value)
        assert server.http.get(f"{server.url}/health").status_code == 200
    finally:
        server.users.path.write_bytes(kept)
    assert server.client().models.list()


def test_mcp_is_open_to_who_has_a_key(server: Server) -> None:
    async def ask() -> str:
        async with (
            httpx.AsyncClient(headers=server.headers) as connection,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=connection)) as client,
        ):
            result = await client.call_tool("search_papers", {"query": "LiftQuant"})
        return str(result.content)

    assert "LiftQuant" in asyncio.run(ask())
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accepted = {**server.headers, "Accept": "application/json, text/event-stream", "Host": "papers.example.org"}
    assert server.http.post(f"{server.url}/mcp", json=ping, headers=accepted).status_code == 200


def test_a_password_opens_the_page_and_no_other_does(server: Server) -> None:
    server.users.set_password("ann", "a good password")
    right = {"name": "ann", "password": "a good password"}
    with httpx.Client(base_url=server.url) as browser:
        for wrong in (
            {**right, "password": "a bad password"},
            {**right, "name": "reader"},
            {**right, "name": ""},
        ):
            assert browser.post("/login", data=wrong).status_code == 401
        assert browser.get("/config").status_code == 401
        assert browser.post("/login", data=right).status_code == 303
        assert browser.get("/config").status_code == 200


# Limits


def chunks_of(size: int) -> Iterator[bytes]:
    for _ in range(0, size, 100_000):
        yield b" " * 100_000


@pytest.mark.parametrize(("path", "size"), [("/v1/chat/completions", 1_100_000), ("/mcp", 1_100_000)])
def test_a_body_that_is_too_large_is_not_read(server: Server, path: str, size: int) -> None:
    for body in (b" " * size, chunks_of(size)):
        said = server.http.post(f"{server.url}{path}", content=body, headers=server.headers)
        assert said.status_code == 413
        assert said.json()["error"]["code"] == "request_too_large"


def test_the_page_takes_no_body_that_is_too_large_either(application: httpx.Client) -> None:
    for path in ("/gradio_api/queue/join", "/login"):
        for body in (b" " * 8_100_000, chunks_of(8_100_000)):
            assert application.post(path, content=body).status_code == 413
    assert application.post("/gradio_api/upload", content=chunks_of(200_000)).status_code == 411
    for length in (str(10**10), "-1"):
        connection = HTTPConnection("127.0.0.1", application.base_url.port)
        connection.putrequest("POST", "/gradio_api/upload")
        connection.putheader("Content-Length", length)
        connection.endheaders()
        assert connection.getresponse().status in (400, 413)
        connection.close()


def test_each_key_has_its_own_limit(built_in_data: Path, tmp_path: Path) -> None:
    users = Users(tmp_path / "users.json")
    keys = [users.new_key("one"), users.new_key("two")]
    assistants = Assistants(load_settings(data_dir=built_in_data), questions_per_minute=2)
    with in_thread(lambda: build_application(assistants, users=users)) as url:
        one, two = (OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0) for key in keys)
        for _ in range(2):
            one.chat.completions.create(**asked("Hello!"))
        with pytest.raises(openai.RateLimitError, match="2 questions a minute") as caught:
            one.chat.completions.create(**asked("Hello!"))
        assert 50 <= int(caught.value.response.headers["Retry-After"]) <= 60
        for _ in range(5):
            assert one.models.list()
        with pytest.raises(openai.RateLimitError, match="8 requests a minute"):
            one.models.list()
        assert two.chat.completions.create(**asked("Hello!")).choices


def test_nothing_is_fetched_for_a_visitor(application: httpx.Client) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0.3)
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        for route in (
            "file=http://",
            "file=https://",
            "proxy=http://",
            "proxy=https://",
            "file/http://",
            "file%3Dhttp://",
        ):
            said = application.get(f"/gradio_api/{route}{address}/x")
            assert said.status_code in (403, 404)
        with pytest.raises(TimeoutError):
            listener.accept()


@pytest.mark.parametrize("path", ["/health", "/v1/models", "/mcp", "/", "/config"])
def test_on_this_machine_no_other_name_and_no_other_site_is_answered(application: httpx.Client, path: str) -> None:
    method = "POST" if path == "/mcp" else "GET"
    for host in ("evil.example", "127.0.0.1.evil.example", "evil.example:7860", ""):
        assert application.request(method, path, headers={"Host": host}).status_code in (400, 403)
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
        assert application.request(method, path, headers={"Origin": origin}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost", "[::1]:7860"])
def test_this_machine_is_known_by_its_own_names(application: httpx.Client, host: str) -> None:
    assert application.get("/health", headers={"Host": host}).json() == {"status": "ok"}


# Health, and the end


def test_a_damaged_collection_is_not_ready_and_its_place_is_not_told(data_dir: Path) -> None:
    assistants = Assistants(load_settings(data_dir=data_dir))
    with in_thread(lambda: build_application(assistants)) as url:
        assert httpx.get(f"{url}/ready").json() == {"status": "ready", "papers": 34}
        for path in data_dir.rglob("library.sqlite*"):
            path.write_bytes(b"garbage")
        said = httpx.get(f"{url}/ready")
        assert said.status_code == 503
        assert "CollectionDamaged" in said.json()["error"]
        refused = httpx.post(f"{url}/v1/chat/completions", json=asked(QUESTIONS["fact"]))
        assert refused.status_code == 503
        for reply in (said, refused):
            assert str(data_dir) not in reply.text
        assert httpx.get(f"{url}/health").json() == {"status": "ok"}


def test_told_to_end_it_finishes_the_answer_and_does_not_wait_for_open_pages(
    built_in_data: Path, model_server: ModelServer
) -> None:
    model_server.says(f"{GOOD} [1]. {GOOD} [1].", seconds_between_words=0.1)
    environment = {
        "ASSISTANT_DATA_DIR": str(built_in_data),
        "ASSISTANT_MODEL": f"openai:{MODEL}",
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": model_server.url,
    }
    with program("--host", "0.0.0.0", "--open-to-all", **environment) as running, httpx.Client() as page:
        with page.stream("GET", f"{running.url}/gradio_api/heartbeat/a-page") as alive:
            beats = alive.iter_text()  # kept, or the connection would be closed with it
            assert "ALIVE" in next(beats)
            client = OpenAI(base_url=f"{running.url}/v1", api_key="any", max_retries=0)
            chunks = client.chat.completions.create(**asked(QUESTION, model=WRITTEN), stream=True)
            next(chunk for chunk in chunks if chunk.choices[0].delta.content)
            with ThreadPoolExecutor(1) as pool:
                rest = pool.submit(list, chunks)
                seconds = running.end(signal.SIGTERM)
            assert rest.result()[-1].choices[0].finish_reason == "stop"
        assert seconds < 10
    assert running.process.returncode == 0
    assert "Traceback" not in running.output


def test_a_port_that_is_taken_is_said_in_two_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr("sys.argv", ["assistant", "serve", "--port", str(port)])
        with pytest.raises(SystemExit) as left:
            main()
    assert left.value.code == 1
    assert capsys.readouterr().err.splitlines() == [
        f"Error: Port {port} of 127.0.0.1 cannot be used: Address already in use.",
        "Give another one with --port, such as 7861.",
    ]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "", "example.org"])
def test_a_public_address_needs_users(host: str) -> None:
    with pytest.raises(SettingsError, match="nobody has to log in"):
        serve(load_settings(port=free_port()), host=host)


def test_a_file_without_users_is_refused(tmp_path: Path) -> None:
    for text in (None, "{}"):
        if text:
            (tmp_path / "users.json").write_text(text)
        with pytest.raises(SettingsError, match="has none"):
            serve(load_settings(port=free_port(), auth_file=tmp_path / "users.json"), host="0.0.0.0", open_to_all=True)


# Many at once


def leave_while_streaming(server: Server, body: dict[str, Any]) -> None:
    with server.client().chat.completions.create(**body, stream=True) as chunks:
        next(chunk for chunk in chunks if chunk.choices[0].delta.content)


def leave_before_the_first(server: Server, body: dict[str, Any]) -> None:
    before = [{"role": "user", "content": "What is LiftQuant?"}, {"role": "assistant", "content": "A method."}]
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(
            f"{server.url}/v1/chat/completions",
            json={**asked("And its speed?", *before, model=WRITTEN), "stream": True},
            headers=server.headers,
            timeout=1,
        )


def leave_the_whole(server: Server, body: dict[str, Any]) -> None:
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.url}/v1/chat/completions", json=body, headers=server.headers, timeout=1)


@pytest.mark.parametrize("leave", [leave_while_streaming, leave_before_the_first, leave_the_whole])
def test_a_client_that_leaves_ends_the_request_to_the_model(server: Server, leave: Any) -> None:
    server.model.says(f"{GOOD} [1]. " * 50, seconds_between_words=0.05)
    leave(server, asked(QUESTION, model=WRITTEN))
    assert server.model.client_left.wait(3)


def test_health_is_told_while_questions_are_answered(server: Server) -> None:
    slowest, done = 0.0, threading.Event()
    with ThreadPoolExecutor(8) as pool, httpx.Client() as probe:
        answers = [pool.submit(server.post, asked(question)) for question in [*QUESTIONS.values()][:8]]
        threading.Thread(target=lambda: (all(answer.result() for answer in answers), done.set())).start()
        while not done.is_set():
            start = time.monotonic()
            assert probe.get(f"{server.url}/health").status_code == 200
            slowest = max(slowest, time.monotonic() - start)
    assert [answer.result().status_code for answer in answers] == [200] * 8
    assert slowest < 0.5
