import type { TableReader } from '../../common/one-chain.js';
import type { Position } from '../store/cursor.js';
import type { Tables } from '../store/tables.js';

/** Everything that the list is read with. */
export type Reader = TableReader<Tables, Position>;
