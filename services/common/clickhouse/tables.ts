import type { Target } from './migrate.js';

/** The names of a service's tables in statements. */
export interface TableNames<Name extends string> {
  /** Where rows are read and inserted. */
  readonly of: (name: Name) => string;
  /** Where rows are removed: a Distributed table cannot do it, so those that hold the rows. */
  readonly removable: (name: Name) => string;
}

/** The names of the tables of a target. */
export function namesOf<Name extends string>({ database, cluster }: Target): TableNames<Name> {
  const of = (name: Name): string => `${database}.${name}`;
  return {
    of,
    removable: (name) => (cluster === '' ? of(name) : `${of(name)}_local ON CLUSTER '${cluster}'`),
  };
}
