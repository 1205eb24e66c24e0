import { asInteger, asOneOf, asText, type Settings, type ValuesOf } from '../common/config.js';
import { databaseSettings, logSettings, serverSettings } from '../common/settings.js';
import { signingSettings } from './program/config.js';

/** Every setting of the scoring operator that runs alone; what it scores stands in the program's file. */
export const scoringSettings = {
  ...logSettings,
  ...databaseSettings,
  ...serverSettings,
  ...signingSettings,
  SCORING_PROGRAM: {
    doc: 'Path of the program: YAML or JSON with the L1, the rollup, the contract, the policy and the rules.',
    parse: (text: string): string => {
      if (text === '') throw new Error('must be the path of a program');
      return asText(text);
    },
  },
  ROLE: {
    doc: 'What this process does: all (run the program, and answer calls; one process) or serve (answer calls; any number).',
    default: 'all',
    parse: asOneOf('all', 'serve'),
  },
  GRPC_PORT: { doc: 'Port of gRPC; 0 for any free one.', default: '7005', parse: asInteger(0, 65_535) },
} satisfies Settings;

export type ScoringConfig = ValuesOf<typeof scoringSettings>;
