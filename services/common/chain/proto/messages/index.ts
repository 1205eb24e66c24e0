import type { Enums, Schema } from '../decode.js';
import { cosmos, cosmosEnums } from './cosmos.js';
import { ibc, ibcEnums } from './ibc.js';
import { opinit } from './opinit.js';
import { tendermint, tendermintEnums } from './tendermint.js';
import { tx, txEnums } from './tx.js';
import { vm, vmEnums } from './vm.js';

/** Every message that a tx of a rollup is expected to hold. To add one, add its lines to a file here. */
export const schema: Schema = { ...tx, ...cosmos, ...vm, ...ibc, ...tendermint, ...opinit };

/** Every enum of those messages. */
export const enums: Enums = { ...txEnums, ...cosmosEnums, ...vmEnums, ...ibcEnums, ...tendermintEnums };
