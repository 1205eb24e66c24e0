import { asInteger, asOneOf, asText, type Settings } from '../runtime/config.js';
import { proxySettings } from '../runtime/network.js';
import {
  chainSettings,
  logSettings,
  nodeSettings,
  reindexSettings,
  requestSettings,
  serverSettings,
  tableSettings,
  writerSettings,
} from '../runtime/settings.js';

/**
 * Every setting of a service that consumes blocks.
 *
 * @param grpc_port where its gRPC is unless told otherwise.
 * @param own what only this service is told.
 * @param urls where it reaches the node.
 */
export const consumerSettings = <Own extends Settings, Urls extends Settings>(
  grpc_port: number,
  own: Own,
  urls: Urls,
) =>
  ({
    ...logSettings,
    ...tableSettings,
    ...chainSettings,
    ...serverSettings,
    ...requestSettings,
    ...own,
    ...reindexSettings,
    ...urls,
    NODE_TIMEOUT_MS: nodeSettings.NODE_TIMEOUT_MS,
    NODE_ANSWER_MB: nodeSettings.NODE_ANSWER_MB,
    ...proxySettings,
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
