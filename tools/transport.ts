import { type ClientSecurity, checkTransport, openTransport } from '../services/common/rpc/transport.js';
import { loadSettings } from '../services/common/runtime/config.js';
import { createLog } from '../services/common/runtime/log.js';
import { createMetrics } from '../services/common/runtime/metrics.js';
import { requestSettings, transportSettings } from '../services/common/runtime/settings.js';

/**
 * How a command speaks to services: with the certificate that the environment names, as it does
 * in a pod of theirs, else in plain text; and with the token for calls that change something.
 *
 * @throws UserError when the certificate cannot be used.
 */
export function clientSecurity(): ClientSecurity {
  const config = loadSettings({ ...transportSettings, ...requestSettings }, process.env, checkTransport);
  return openTransport(config, createLog('warn', 2), createMetrics()).client;
}
