import type { Call } from '../../common/clickhouse/database.js';
import type { TableReader } from '../../common/consumer/look.js';
import type { PageBound } from '../../common/page/fit.js';
import type { Position } from '../store/cursor.js';
import type { Tables } from '../store/tables.js';
import { endOf } from '../store/token.js';
import type { ShownMemory } from './shown.js';

/** Everything that lists are read with. */
export interface Reader extends TableReader<Tables, Position> {
  readonly shown: ShownMemory;
  readonly page: PageBound;
}

/** What one call reads with: facts up to the same end of the chain in all its statements, and views as they are. */
export interface Reading extends Reader {
  /** Position up to which facts count. */
  readonly end: number;
  readonly call: Call;
}

/** Begins to read, up to where the tables are whole now. */
export const startReading = (reader: Reader, call: Call): Reading => ({
  ...reader,
  end: endOf(reader.head.position.height),
  call,
});
