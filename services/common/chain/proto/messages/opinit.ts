import type { Schema } from '../decode.js';

const COIN = 'cosmos.base.v1beta1.Coin';
const PACKAGE = 'opinit.opchild.v1';

/** The rollup's side of the bridge. */
export const opinit: Schema = {
  [`${PACKAGE}.MsgFinalizeTokenDeposit`]: {
    sender: '1 string',
    from: '2 string',
    to: '3 string',
    amount: `4 ${COIN}!`,
    sequence: '5 uint64',
    height: '6 uint64',
    base_denom: '7 string',
    data: '8 bytes',
  },
  [`${PACKAGE}.MsgInitiateTokenWithdrawal`]: { sender: '1 string', to: '2 string', amount: `4 ${COIN}!` },
  [`${PACKAGE}.MsgUpdateOracle`]: { sender: '1 string', height: '2 uint64', data: '3 bytes' },
  [`${PACKAGE}.MsgExecuteMessages`]: { sender: '1 string', messages: '2 any[]' },
  [`${PACKAGE}.MsgMigrateToken`]: { sender: '1 string', amount: `2 ${COIN}!` },
  [`${PACKAGE}.MsgSpendFeePool`]: { authority: '1 string', recipient: '2 string', amount: `3 ${COIN}[]` },
  [`${PACKAGE}.MsgAddFeeWhitelistAddresses`]: { authority: '1 string', addresses: '2 string[]' },
  [`${PACKAGE}.MsgRemoveFeeWhitelistAddresses`]: { authority: '1 string', addresses: '2 string[]' },
  [`${PACKAGE}.MsgAddBridgeExecutor`]: { authority: '1 string', addresses: '2 string[]' },
  [`${PACKAGE}.MsgRemoveBridgeExecutor`]: { authority: '1 string', addresses: '2 string[]' },
  [`${PACKAGE}.MsgUpdateMinGasPrices`]: {
    authority: '1 string',
    min_gas_prices: '2 cosmos.base.v1beta1.DecCoin[]',
  },
  [`${PACKAGE}.MsgUpdateAdmin`]: { authority: '1 string', new_admin: '2 string' },
};
