import type { Settings } from '../../services/common/runtime/config.js';
import { logSettings, tableSettings, transportSettings } from '../../services/common/runtime/settings.js';
import { signingSettings } from '../../services/scoring-operator/program/config.js';

/** Settings of `weft score` beside those of signing, which a dry run does not look at. */
export const scoreOwnSettings = {
  ...tableSettings,
  ...transportSettings,
  LOG_LEVEL: { ...logSettings.LOG_LEVEL, default: 'warn' },
} satisfies Settings;

/** Every setting of `weft score`. */
export const scoreSettings = { ...scoreOwnSettings, ...signingSettings } satisfies Settings;
