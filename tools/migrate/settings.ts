import { asInteger, type Settings } from '../../services/common/runtime/config.js';
import { databaseSettings } from '../../services/common/runtime/settings.js';

/** Every setting of `weft migrate`. */
export const migrateSettings = {
  ...databaseSettings,
  MIGRATE_WAIT_SECONDS: {
    doc: 'How long a database that does not answer is waited for, in seconds.',
    default: '120',
    parse: asInteger(0, 86_400),
  },
} satisfies Settings;
