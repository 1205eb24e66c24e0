import { type Head as CommonHead, createHead as createCommonHead } from '../../common/head.js';
import { nothing, type Position } from '../store/cursor.js';

/** How far calls may read, in memory; names and uris that are learnt late revise it. */
export type Head = CommonHead<Position>;

/** Makes a head of empty tables. */
export const createHead = (): Head => createCommonHead(nothing, ['height', 'hash']);
