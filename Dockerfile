# syntax=docker/dockerfile:1
# Built by `npm run test:image`, with Debian's buildah over a stand-in for Node's image: neither a Docker engine nor a
# registry of images can be had where the tests run. What it gives is, file for file, what they run in pods (tools/image).
#
#   docker build --build-arg COMMIT_HASH=$(git rev-parse HEAD) --build-arg SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) -t weft .
#   docker build --target sbom --output . .        # sbom.cdx.json
#
# The same tree gives the same files: `npm ci` takes the versions of the lock, and every file has the time of the commit.
# The two folders that the build itself makes have it with BuildKit's `--output type=image,rewrite-timestamp=true`, or
# with `buildah build --timestamp`, which gives the same digest each time. Give NODE_IMAGE with a digest to fix the base
# as well.
ARG NODE_IMAGE=node:20-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /weft
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
ARG SOURCE_DATE_EPOCH=0
RUN node tools/build.mjs && SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH node tools/image/assemble.mjs /image

# Without the compiler and without the embedded ClickHouse: an image talks to a server. Some versions of npm leave behind
# the empty folders of what was omitted.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /weft
COPY package.json package-lock.json ./
ARG SOURCE_DATE_EPOCH=0
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
 && rm node_modules/.package-lock.json \
 && find node_modules -type d -empty -delete \
 && find node_modules -depth -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

# What is in the image, as CycloneDX. Asked to omit those of development, npm leaves out what they share with others, and
# without being asked it misses them: so the package has none here.
FROM dependencies AS list
RUN npm pkg delete devDependencies optionalDependencies && npm sbom --sbom-format=cyclonedx > /sbom.cdx.json

FROM scratch AS sbom
COPY --from=list /sbom.cdx.json /

FROM ${NODE_IMAGE} AS weft
ARG COMMIT_HASH=unknown
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="weft" \
      org.opencontainers.image.description="Indexer and stage-scoring operator for rollups" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT_HASH"
ENV NODE_ENV=production HOST=0.0.0.0 COMMIT_HASH=$COMMIT_HASH
WORKDIR /weft
COPY --from=dependencies /weft/node_modules node_modules
COPY --from=build /image ./
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
# gateway, gRPC of block, tx, nft, richlist and scoring, health checks, metrics
EXPOSE 8080 7001 7002 7003 7004 7005 7090 9090
ENTRYPOINT ["node"]
CMD ["dist/services/gateway/main.js"]
