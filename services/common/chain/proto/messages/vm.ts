import type { Enums, Schema } from '../decode.js';

const COIN = 'cosmos.base.v1beta1.Coin';
const ACCESS = 'cosmwasm.wasm.v1.AccessConfig';

/** The three virtual machines and the token factory of Wasm rollups. */
export const vm: Schema = {
  'minievm.evm.v1.MsgCreate': {
    sender: '1 string',
    code: '2 string',
    value: '3 int',
    access_list: '4 minievm.evm.v1.AccessTuple[]',
  },
  'minievm.evm.v1.MsgCreate2': {
    sender: '1 string',
    code: '2 string',
    salt: '3 int',
    value: '4 int',
    access_list: '5 minievm.evm.v1.AccessTuple[]',
  },
  'minievm.evm.v1.MsgCall': {
    sender: '1 string',
    contract_addr: '2 string',
    input: '3 string',
    value: '4 int',
    access_list: '5 minievm.evm.v1.AccessTuple[]',
    auth_list: '6 minievm.evm.v1.SetCodeAuthorization[]',
  },
  'minievm.evm.v1.AccessTuple': { address: '1 string', storage_keys: '2 string[]' },
  'minievm.evm.v1.SetCodeAuthorization': {
    chain_id: '1 string',
    address: '2 string',
    nonce: '3 uint64',
    signature: '4 bytes',
  },
  'initia.move.v1.MsgPublish': {
    sender: '1 string',
    code_bytes: '2 bytes[]',
    upgrade_policy: '3 enum:UpgradePolicy',
  },
  'initia.move.v1.MsgExecute': moveCall('bytes'),
  'initia.move.v1.MsgExecuteJSON': moveCall('string'),
  'initia.move.v1.MsgScript': moveScript('bytes'),
  'initia.move.v1.MsgScriptJSON': moveScript('string'),
  'cosmwasm.wasm.v1.MsgStoreCode': {
    sender: '1 string',
    wasm_byte_code: '2 bytes',
    instantiate_permission: `5 ${ACCESS}`,
  },
  'cosmwasm.wasm.v1.MsgInstantiateContract': instantiate(),
  'cosmwasm.wasm.v1.MsgInstantiateContract2': { ...instantiate(), salt: '7 bytes', fix_msg: '8 bool' },
  'cosmwasm.wasm.v1.MsgExecuteContract': {
    sender: '1 string',
    contract: '2 string',
    msg: '3 json',
    funds: `5 ${COIN}[]`,
  },
  'cosmwasm.wasm.v1.MsgMigrateContract': {
    sender: '1 string',
    contract: '2 string',
    code_id: '3 uint64',
    msg: '4 json',
  },
  'cosmwasm.wasm.v1.MsgUpdateAdmin': { sender: '1 string', new_admin: '2 string', contract: '3 string' },
  'cosmwasm.wasm.v1.MsgClearAdmin': { sender: '1 string', contract: '3 string' },
  'cosmwasm.wasm.v1.MsgUpdateInstantiateConfig': {
    sender: '1 string',
    code_id: '2 uint64',
    new_instantiate_permission: `3 ${ACCESS}`,
  },
  'cosmwasm.wasm.v1.MsgSudoContract': { authority: '1 string', contract: '2 string', msg: '3 json' },
  'cosmwasm.wasm.v1.MsgPinCodes': { authority: '1 string', code_ids: '2 uint64[]' },
  'cosmwasm.wasm.v1.MsgUnpinCodes': { authority: '1 string', code_ids: '2 uint64[]' },
  'cosmwasm.wasm.v1.MsgUpdateContractLabel': {
    sender: '1 string',
    new_label: '2 string',
    contract: '3 string',
  },
  'cosmwasm.wasm.v1.AccessConfig': { permission: '1 enum:AccessType', addresses: '3 string[]' },
  'miniwasm.tokenfactory.v1.MsgCreateDenom': { sender: '1 string', subdenom: '2 string' },
  'miniwasm.tokenfactory.v1.MsgMint': {
    sender: '1 string',
    amount: `2 ${COIN}!`,
    mint_to_address: '3 string',
  },
  'miniwasm.tokenfactory.v1.MsgBurn': { sender: '1 string', amount: `2 ${COIN}!` },
  'miniwasm.tokenfactory.v1.MsgChangeAdmin': { sender: '1 string', denom: '2 string', new_admin: '3 string' },
  'miniwasm.tokenfactory.v1.MsgSetDenomMetadata': {
    sender: '1 string',
    metadata: '2 cosmos.bank.v1beta1.Metadata!',
  },
  'miniwasm.tokenfactory.v1.MsgSetBeforeSendHook': {
    sender: '1 string',
    denom: '2 string',
    cosmwasm_address: '3 string',
  },
};

/** Enums of the virtual machines. */
export const vmEnums: Enums = {
  UpgradePolicy: { 0: 'UNSPECIFIED', 1: 'COMPATIBLE', 2: 'IMMUTABLE' },
  // wasmd prints names of its own here.
  AccessType: { 0: 'Unspecified', 1: 'Nobody', 3: 'Everybody', 4: 'AnyOfAddresses' },
};

function moveCall(args: 'bytes' | 'string'): Record<string, string> {
  return {
    sender: '1 string',
    module_address: '2 string',
    module_name: '3 string',
    function_name: '4 string',
    type_args: '5 string[]',
    args: `6 ${args}[]`,
  };
}

function moveScript(args: 'bytes' | 'string'): Record<string, string> {
  return { sender: '1 string', code_bytes: '2 bytes', type_args: '3 string[]', args: `4 ${args}[]` };
}

function instantiate(): Record<string, string> {
  return {
    sender: '1 string',
    admin: '2 string',
    code_id: '3 uint64',
    label: '4 string',
    msg: '5 json',
    funds: `6 ${COIN}[]`,
  };
}
