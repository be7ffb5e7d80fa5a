# setveil without a network at run time, as an ordinary user, with the data mounted:
#   docker build -t setveil .
#   docker run --rm --network none -v "$PWD/data:/data" setveil anonymize baskets.csv -o out --model km -k 5 -m 2
# Files belong to whoever runs it with --user "$(id -u):$(id -g)"; that user needs no home folder.
FROM python:3.12-slim@sha256:229a2c5bfa27522db7815ea81f9bed70af17ccb9de9fc7ad142b1877b5830d36 AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY docs docs
COPY src src
RUN python -m venv /opt/setveil && /opt/setveil/bin/pip install --no-cache-dir -c constraints.txt .

FROM python:3.12-slim@sha256:229a2c5bfa27522db7815ea81f9bed70af17ccb9de9fc7ad142b1877b5830d36
COPY --from=build /opt/setveil /opt/setveil
RUN useradd --create-home --uid 1000 steward \
    && install -d -o steward -m 0755 /data \
    && install -d -o steward -m 0777 /var/cache/setveil
# Compiled kernels are kept in a folder that every user of the image can read and write. The demo fills it.
ENV PATH=/opt/setveil/bin:$PATH PYTHONDONTWRITEBYTECODE=1 NUMBA_CACHE_DIR=/var/cache/setveil
USER steward
RUN cd "$(mktemp -d)" && setveil demo --quiet > demo.txt && rm -rf "$PWD" && chmod -R a+rwX /var/cache/setveil
WORKDIR /data
ENTRYPOINT ["setveil"]
CMD ["--help"]
