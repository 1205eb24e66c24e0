import assert from 'node:assert/strict';
import { ConfigError, loadSettings, type Settings } from '../../../services/common/runtime/config.js';

/** Whether a process takes an environment, rather than to end with what is wrong. Arguments as of `loadSettings`. */
export function startsWith<S extends Settings>(...args: Parameters<typeof loadSettings<S>>): boolean {
  try {
    loadSettings(...args);
    return true;
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return false;
  }
}
