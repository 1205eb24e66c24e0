import type { Target } from '../../common/clickhouse/migrate.js';

/** The tables of the schema folder. */
export type TableName =
  | 'chain'
  | 'blocks'
  | 'changes'
  | 'balances'
  | 'holders'
  | 'ranks'
  | 'tokens'
  | 'denoms'
  | 'checks';

/** The names of tables in statements. */
export interface Tables {
  /** Where rows are read and inserted. */
  readonly of: (name: TableName) => string;
  /** Where rows are removed: a Distributed table cannot do it, so those that hold the rows. */
  readonly removable: (name: TableName) => string;
}

/** The names of the tables of a target. */
export function tablesOf({ database, cluster }: Target): Tables {
  const of = (name: TableName): string => `${database}.${name}`;
  return {
    of,
    removable: (name) => (cluster === '' ? of(name) : `${of(name)}_local ON CLUSTER '${cluster}'`),
  };
}
