# syntax=docker/dockerfile:1
# Not built by the tests: no Docker engine can be had where they run.

FROM node:20-bookworm-slim AS build
WORKDIR /weft
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN node tools/build.mjs

# Without the compiler and without the embedded ClickHouse: an image talks to a server.
FROM node:20-bookworm-slim AS dependencies
WORKDIR /weft
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force

FROM node:20-bookworm-slim
LABEL org.opencontainers.image.title="weft" \
      org.opencontainers.image.description="Indexer of a rollup: blocks, transactions and accounts" \
      org.opencontainers.image.licenses="MIT"
ARG COMMIT_HASH=unknown
ENV NODE_ENV=production HOST=0.0.0.0 COMMIT_HASH=$COMMIT_HASH
WORKDIR /weft
COPY --from=dependencies /weft/node_modules node_modules
COPY --from=build /weft/dist dist
COPY package.json ./
COPY bin bin
COPY services services
COPY contracts/artifacts contracts/artifacts
COPY tools/onboard/chain.schema.json tools/onboard/chain.schema.json
COPY tools/replay/recordings tools/replay/recordings
USER node
EXPOSE 8080 7001 7002 7004 9090
ENTRYPOINT ["node"]
CMD ["dist/services/gateway/main.js"]
