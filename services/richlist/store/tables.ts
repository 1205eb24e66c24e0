import type { Target } from '../../common/clickhouse/migrate.js';
import { namesOf, type TableNames } from '../../common/clickhouse/tables.js';

/** The tables of the schema folder. */
export type TableName =
  | 'chain'
  | 'blocks'
  | 'cuts'
  | 'changes'
  | 'balances'
  | 'holders'
  | 'ranks'
  | 'tokens'
  | 'denoms'
  | 'checks'
  | 'drifting';

/** The tables that tables rebuilt from a later height begin with: all but what is said of the tables themselves. */
export const copiedTables: readonly TableName[] = [
  'changes',
  'balances',
  'holders',
  'ranks',
  'tokens',
  'denoms',
  'checks',
  'blocks',
];

/** Their names in statements. */
export type Tables = TableNames<TableName>;

/** Their names in the statements for a target. */
export const tablesOf = (target: Target): Tables => namesOf(target);
