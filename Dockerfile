# The service as one image: runs `platen serve` with the Postgres at DATABASE_URL.
# The browser runs in its own sandbox, which requires deploy/chromium-seccomp.json. See docs/containers.md.

FROM debian:bookworm-slim AS build
WORKDIR /src
COPY Cargo.toml Cargo.lock ./
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc frontend/
COPY deploy/setup.sh deploy/toolchain.sh deploy/
RUN deploy/setup.sh --only build && deploy/setup.sh --only site && rm -rf /var/lib/apt/lists/*
COPY . .
RUN --mount=type=cache,target=/root/.cargo/registry --mount=type=cache,target=/target \
    export CARGO_TARGET_DIR=/target && deploy/build.sh \
    && install -D --target-directory=/out /target/release/platen && cp -r /target/release/site /out/

FROM debian:bookworm-slim
RUN --mount=type=bind,source=deploy,target=/set-up/deploy \
    /set-up/deploy/setup.sh --only render && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --home-dir /var/lib/platen --create-home --shell /usr/sbin/nologin platen
COPY --from=build /out/platen /usr/local/bin/platen
COPY --from=build /out/site /usr/local/share/platen/site
USER platen
WORKDIR /var/lib/platen
ENV PLATEN_DATA_DIR=/var/lib/platen PLATEN_LISTEN=0.0.0.0:3000 PLATEN_SITE_DIR=/usr/local/share/platen/site
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["curl", "--fail", "--silent", "--output", "/dev/null", "http://127.0.0.1:3000/readyz"]
ENTRYPOINT ["platen"]
CMD ["serve"]
