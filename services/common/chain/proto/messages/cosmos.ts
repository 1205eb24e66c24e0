import type { Enums, Schema } from '../decode.js';

const COIN = 'cosmos.base.v1beta1.Coin';

/** bank, authz, feegrant, group and the other Cosmos SDK modules that rollups run. */
export const cosmos: Schema = {
  'cosmos.bank.v1beta1.MsgSend': { from_address: '1 string', to_address: '2 string', amount: `3 ${COIN}[]` },
  'cosmos.bank.v1beta1.MsgMultiSend': {
    inputs: '1 cosmos.bank.v1beta1.Input[]',
    outputs: '2 cosmos.bank.v1beta1.Output[]',
  },
  'cosmos.bank.v1beta1.Input': { address: '1 string', coins: `2 ${COIN}[]` },
  'cosmos.bank.v1beta1.Output': { address: '1 string', coins: `2 ${COIN}[]` },
  'cosmos.bank.v1beta1.MsgSetSendEnabled': {
    authority: '1 string',
    send_enabled: '2 cosmos.bank.v1beta1.SendEnabled[]',
    use_default_for: '3 string[]',
  },
  'cosmos.bank.v1beta1.SendEnabled': { denom: '1 string', enabled: '2 bool' },
  'cosmos.bank.v1beta1.SendAuthorization': { spend_limit: `1 ${COIN}[]`, allow_list: '2 string[]' },
  'cosmos.bank.v1beta1.Metadata': {
    description: '1 string',
    denom_units: '2 cosmos.bank.v1beta1.DenomUnit[]',
    base: '3 string',
    display: '4 string',
    name: '5 string',
    symbol: '6 string',
    uri: '7 string',
    uri_hash: '8 string',
  },
  'cosmos.bank.v1beta1.DenomUnit': { denom: '1 string', exponent: '2 uint32', aliases: '3 string[]' },
  'initia.bank.v1.MsgSetDenomMetadata': {
    authority: '1 string',
    metadata: '2 cosmos.bank.v1beta1.Metadata!',
  },
  'cosmos.authz.v1beta1.MsgGrant': {
    granter: '1 string',
    grantee: '2 string',
    grant: '3 cosmos.authz.v1beta1.Grant!',
  },
  'cosmos.authz.v1beta1.Grant': { authorization: '1 any', expiration: '2 timestamp' },
  'cosmos.authz.v1beta1.GenericAuthorization': { msg: '1 string' },
  'cosmos.authz.v1beta1.MsgExec': { grantee: '1 string', msgs: '2 any[]' },
  'cosmos.authz.v1beta1.MsgRevoke': { granter: '1 string', grantee: '2 string', msg_type_url: '3 string' },
  'cosmos.feegrant.v1beta1.MsgGrantAllowance': {
    granter: '1 string',
    grantee: '2 string',
    allowance: '3 any',
  },
  'cosmos.feegrant.v1beta1.MsgRevokeAllowance': { granter: '1 string', grantee: '2 string' },
  'cosmos.feegrant.v1beta1.MsgPruneAllowances': { pruner: '1 string' },
  'cosmos.feegrant.v1beta1.BasicAllowance': { spend_limit: `1 ${COIN}[]`, expiration: '2 timestamp' },
  'cosmos.feegrant.v1beta1.PeriodicAllowance': {
    basic: '1 cosmos.feegrant.v1beta1.BasicAllowance!',
    period: '2 duration!',
    period_spend_limit: `3 ${COIN}[]`,
    period_can_spend: `4 ${COIN}[]`,
    period_reset: '5 timestamp!',
  },
  'cosmos.feegrant.v1beta1.AllowedMsgAllowance': { allowance: '1 any', allowed_messages: '2 string[]' },
  'cosmos.upgrade.v1beta1.Plan': {
    name: '1 string',
    time: '2 timestamp!',
    height: '3 int64',
    info: '4 string',
    upgraded_client_state: '5 any',
  },
  'cosmos.upgrade.v1beta1.MsgSoftwareUpgrade': {
    authority: '1 string',
    plan: '2 cosmos.upgrade.v1beta1.Plan!',
  },
  'cosmos.upgrade.v1beta1.MsgCancelUpgrade': { authority: '1 string' },
  'cosmos.group.v1.MsgSubmitProposal': {
    group_policy_address: '1 string',
    proposers: '2 string[]',
    metadata: '3 string',
    messages: '4 any[]',
    exec: '5 enum:GroupExec',
    title: '6 string',
    summary: '7 string',
  },
  'cosmos.group.v1.MsgVote': {
    proposal_id: '1 uint64',
    voter: '2 string',
    option: '3 enum:GroupVoteOption',
    metadata: '4 string',
    exec: '5 enum:GroupExec',
  },
  'cosmos.group.v1.MsgExec': { proposal_id: '1 uint64', executor: '2 string' },
};

/** Enums of the modules above. */
export const cosmosEnums: Enums = {
  GroupExec: { 0: 'EXEC_UNSPECIFIED', 1: 'EXEC_TRY' },
  GroupVoteOption: {
    0: 'VOTE_OPTION_UNSPECIFIED',
    1: 'VOTE_OPTION_YES',
    2: 'VOTE_OPTION_ABSTAIN',
    3: 'VOTE_OPTION_NO',
    4: 'VOTE_OPTION_NO_WITH_VETO',
  },
};
