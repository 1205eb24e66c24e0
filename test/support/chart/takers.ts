import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chart } from './helm.js';

/** A place in values where those of components stand, whose objects they concern, and the names that it takes. */
export interface Taker {
  readonly path: readonly string[];
  readonly components: readonly string[];
  readonly takes: readonly string[];
}

/** Each kind of component, with the names of `defaults` that the schema lets it have. */
export function componentsWithValues(): Taker[] {
  const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'));
  const places = {
    'services.tx.ingest': ['tx-ingest'],
    'services.nft.serve': ['nft'],
    'services.richlist': ['richlist-ingest', 'richlist'],
    gateway: ['gateway'],
    scoringOperator: ['scoring-operator'],
  };
  return Object.entries(places).map(([place, components]) => {
    const path = place.split('.');
    const { properties } = path.reduce((inner, name) => inner.properties[name], schema);
    const takes = Object.keys(properties).filter((name) => schema.definitions[`component.${name}`]);
    return { path, components, takes };
  });
}
