import { asInteger, asOneOf, asText, type Settings } from './config.js';
import { writerSettings } from './settings.js';

/** What every service that consumes blocks is told. @param grpc_port where its gRPC is unless told otherwise. */
export const consumerSettings = (grpc_port: number) =>
  ({
    ROLE: {
      doc: 'What this process does: ingest (write the tables; one process), serve (answer calls; any number) or all.',
      default: 'all',
      parse: asOneOf('all', 'ingest', 'serve'),
    },
    GRPC_PORT: {
      doc: 'Port of gRPC; 0 for any free one.',
      default: String(grpc_port),
      parse: asInteger(0, 65_535),
    },
    BLOCK_SERVICE_ADDR: {
      doc: 'gRPC address of the block service: host:port, dns:///name:port or unix:/path.',
      default: '127.0.0.1:7001',
      parse: asText,
    },
    ...writerSettings,
  }) satisfies Settings;
