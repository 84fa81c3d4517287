# The assistant with the versions of requirements.lock. docs/containers.md says how it is run.
FROM python:3.11-slim-bookworm AS build

WORKDIR /source
RUN python -m venv /opt/assistant
ENV PATH=/opt/assistant/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY pyproject.toml requirements.lock README.md LICENSE ./
COPY assistant assistant
COPY prompts prompts
COPY vectorstore vectorstore
RUN pip install --constraint requirements.lock .

FROM python:3.11-slim-bookworm

RUN useradd --create-home --uid 10001 --user-group assistant \
    && install --directory --owner 10001 --group 10001 /data /vectors
COPY --from=build /opt/assistant /opt/assistant
ENV PATH=/opt/assistant/bin:$PATH PYTHONUNBUFFERED=1 ASSISTANT_DATA_DIR=/data
USER 10001:10001
WORKDIR /home/assistant
VOLUME ["/data", "/vectors"]
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:7860/health', timeout=4)"]
CMD ["assistant", "serve", "--host", "0.0.0.0", "--port", "7860"]
