import { loadSettings } from '../services/common/config.js';
import { createLog } from '../services/common/log.js';
import { createMetrics } from '../services/common/metrics.js';
import { type ClientSecurity, checkTransport, openTransport } from '../services/common/rpc/transport.js';
import { transportSettings } from '../services/common/settings.js';

/**
 * How a command speaks to services: with the certificate that the environment names, as it does
 * in a pod of theirs, else in plain text.
 *
 * @throws UserError when the certificate cannot be used.
 */
export function clientSecurity(): ClientSecurity {
  const config = loadSettings(transportSettings, process.env, checkTransport);
  return openTransport(config, createLog('warn', 2), createMetrics()).client;
}
