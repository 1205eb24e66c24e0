import type { Settings } from '../../services/common/config.js';
import { databaseSettings, logSettings, transportSettings } from '../../services/common/settings.js';
import { signingSettings } from '../../services/scoring-operator/program/config.js';

const { MAX_CONNECTION_AGE_MS: _, ...clientSettings } = transportSettings;

/** Settings of `weft score` beside those of signing, which a dry run does not look at. */
export const scoreOwnSettings = {
  ...databaseSettings,
  ...clientSettings,
  LOG_LEVEL: { ...logSettings.LOG_LEVEL, default: 'warn' },
} satisfies Settings;

/** Every setting of `weft score`. */
export const scoreSettings = { ...scoreOwnSettings, ...signingSettings } satisfies Settings;
