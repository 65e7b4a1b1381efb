# The studio from the wheel: `.venv/bin/uv build --wheel`, `docker build -t shoal-studio .`, then
# `docker run --rm -p 127.0.0.1:8765:8765 -v shoal:/home/shoal/.local shoal-studio`.
FROM python:3.12-slim
RUN useradd --create-home --uid 1000 shoal
WORKDIR /home/shoal
COPY dist/shoal-*.whl ./
RUN pip install --no-cache-dir "$(ls ./shoal-*.whl)[studio]" && rm ./shoal-*.whl
USER shoal
EXPOSE 8765
ENTRYPOINT ["shoal", "studio", "--no-browser", "--host", "0.0.0.0", "--allow-remote", "--port", "8765"]
