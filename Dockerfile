# setveil without a network at run time, as an ordinary user, with the data mounted:
#   docker build -t setveil .
#   docker run --rm --network none -v "$PWD/data:/data" setveil anonymize baskets.csv -o out --model km -k 5 -m 2
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN python -m venv /opt/setveil \
    && /opt/setveil/bin/pip install --no-cache-dir -c constraints.txt .

FROM python:3.12-slim
RUN useradd --create-home --uid 1000 steward && mkdir /data && chown steward /data
COPY --from=build /opt/setveil /opt/setveil
ENV PATH=/opt/setveil/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER steward
WORKDIR /data
ENTRYPOINT ["setveil"]
CMD ["--help"]
