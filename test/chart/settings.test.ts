import assert from 'node:assert/strict';
import { blockSettings } from '../../services/block/config.js';
import type { Setting, Settings } from '../../services/common/runtime/config.js';
import { gatewaySettings } from '../../services/gateway/config.js';
import { nftSettings } from '../../services/nft/config.js';
import { richlistSettings } from '../../services/richlist/config.js';
import { scoringSettings } from '../../services/scoring-operator/config.js';
import type { Schema } from '../../services/scoring-operator/operator/setting-types.js';
import { txSettings } from '../../services/tx/config.js';
import { settingsSchemas } from '../../tools/chart/settings-schemas.js';
import { helmAside, templateArgs, valuesFile, writeValues } from '../support/chart/helm.js';
import { only } from '../support/chart/leaves.js';
import { startsWith } from '../support/chart/starts.js';
import { forEach } from '../support/few-at-a-time.js';

/** Where settings stand in the values, and whose they are. */
const places: Readonly<Record<string, { readonly of: string; readonly settings: Settings }>> = {
  'services.block.settings': { of: 'blockSettings', settings: blockSettings },
  'services.tx.serve.settings': { of: 'txSettings', settings: txSettings },
  'services.nft.ingest.settings': { of: 'nftSettings', settings: nftSettings },
  'services.richlist.settings': { of: 'richlistSettings', settings: richlistSettings },
  'gateway.settings': { of: 'gatewaySettings', settings: gatewaySettings },
  'scoringOperator.settings': { of: 'scoringOperatorSettings', settings: scoringSettings },
};

const bounds = [
  0, 1, 2, 10, 11, 50, 49, 64, 65, 100, 101, 256, 257, 600, 1_000, 1_001, 4_096, 4_097, 60_000, 60_001,
];
const moreBounds = [
  65_536, 65_537, 86_400, 86_401, 600_000, 600_001, 1_000_000, 1_000_001, 86_400_000, 86_400_001,
];

const tried: readonly unknown[] = [
  ...[...bounds, ...moreBounds].flatMap((number) => [number, String(number)]),
  ...[-1, 1.5, '-1', '1.5', '1e3', '0x10', '007', ' 7 ', '', true, false, 'true', 'false', 'yes', 'no'],
  ...['null', 'off', 'none', '*', 'info', 'trace', 'verbose', '30s', '1m30s', '1.5s', '30 s', 's', '11x'],
  ...['/rollup-1', '/a/b/', '//a', '/', 'a/b', '/a b', '/ä', 'a-name', 'A-name', '-a', 'a'.repeat(254)],
  ...[
    'https://a.example',
    'https://a.example/, http://b.example:8080',
    'a.example',
    'https://a.example/path',
  ],
  ...['https://a.example:443', '11m', '0s'],
];

/** What only a process tells, because it has to read it; the schema takes it. */
const toldAtStart: readonly string[] = [
  'gateway.settings.CORS: "https://a.example:443" is taken',
  'gateway.settings.REQUEST_TIMEOUT_MS: "0s" is taken',
  'gateway.settings.REQUEST_TIMEOUT_MS: "11m" is taken',
];

/** A name is a text: what YAML makes a number of is more likely a mistake. */
const isNumberForName = (name: string, value: unknown): boolean =>
  name === 'LEADER_LEASE_NAME' && typeof value !== 'string';

/** Whether a process starts with a setting. */
const takes = (settings: Settings, name: string, value: unknown): boolean =>
  startsWith({ [name]: settings[name] as Setting<unknown> }, { [name]: String(value) });

/** Files of values that have one at every setting. */
const everywhere = (value: unknown): readonly string[] =>
  Object.entries(places).map(([place, { of }]) =>
    writeValues(only(place.split('.'), Object.fromEntries(namesOf(of).map((name) => [name, value])))),
  );

const namesOf = (schema: string): string[] =>
  Object.keys((settingsSchemas[schema] as Schema)['properties'] as object);

describe('T0: settings by their own names', () => {
  it('are refused where the process would not start, and nowhere else', async function () {
    this.timeout(240_000);
    const wrong: string[] = [];
    await forEach(tried, async (value) => {
      const { stderr } = await helmAside(templateArgs([valuesFile('minimal'), ...everywhere(value)]));
      for (const [place, { of, settings }] of Object.entries(places))
        for (const name of namesOf(of)) {
          const isRefused = stderr.includes(`'/${place.replaceAll('.', '/')}/${name}'`);
          if (isRefused === (takes(settings, name, value) && !isNumberForName(name, value)))
            wrong.push(`${place}.${name}: ${JSON.stringify(value)} is ${isRefused ? 'refused' : 'taken'}`);
        }
    });
    assert.deepEqual(wrong.sort(), toldAtStart);
  });
});
