import type { Enums, Schema } from '../decode.js';

const CLIENT = 'ibc.lightclients.tendermint.v1';
const HEIGHT = 'ibc.core.client.v1.Height!';
const TYPES = 'tendermint.types';
const PROOF = 'cosmos.ics23.v1';

/** What a relayer puts into MsgCreateClient and MsgUpdateClient. */
export const tendermint: Schema = {
  [`${CLIENT}.ClientState`]: {
    chain_id: '1 string',
    trust_level: `2 ${CLIENT}.Fraction!`,
    trusting_period: '3 duration!',
    unbonding_period: '4 duration!',
    max_clock_drift: '5 duration!',
    frozen_height: `6 ${HEIGHT}`,
    latest_height: `7 ${HEIGHT}`,
    proof_specs: `8 ${PROOF}.ProofSpec[]`,
    upgrade_path: '9 string[]',
    allow_update_after_expiry: '10 bool',
    allow_update_after_misbehaviour: '11 bool',
  },
  [`${CLIENT}.Fraction`]: { numerator: '1 uint64', denominator: '2 uint64' },
  [`${CLIENT}.ConsensusState`]: {
    timestamp: '1 timestamp!',
    root: '2 ibc.core.commitment.v1.MerkleRoot!',
    next_validators_hash: '3 hex',
  },
  [`${CLIENT}.Header`]: {
    signed_header: `1 ${TYPES}.SignedHeader`,
    validator_set: `2 ${TYPES}.ValidatorSet`,
    trusted_height: `3 ${HEIGHT}`,
    trusted_validators: `4 ${TYPES}.ValidatorSet`,
  },
  [`${CLIENT}.Misbehaviour`]: {
    client_id: '1 string',
    header_1: `2 ${CLIENT}.Header`,
    header_2: `3 ${CLIENT}.Header`,
  },
  [`${PROOF}.ProofSpec`]: {
    leaf_spec: `1 ${PROOF}.LeafOp`,
    inner_spec: `2 ${PROOF}.InnerSpec`,
    max_depth: '3 int32',
    min_depth: '4 int32',
    prehash_key_before_comparison: '5 bool',
  },
  [`${PROOF}.LeafOp`]: {
    hash: '1 enum:HashOp',
    prehash_key: '2 enum:HashOp',
    prehash_value: '3 enum:HashOp',
    length: '4 enum:LengthOp',
    prefix: '5 bytes',
  },
  [`${PROOF}.InnerSpec`]: {
    child_order: '1 int32[]',
    child_size: '2 int32',
    min_prefix_length: '3 int32',
    max_prefix_length: '4 int32',
    empty_child: '5 bytes',
    hash: '6 enum:HashOp',
  },
  [`${TYPES}.SignedHeader`]: { header: `1 ${TYPES}.Header`, commit: `2 ${TYPES}.Commit` },
  [`${TYPES}.Header`]: {
    version: '1 tendermint.version.Consensus!',
    chain_id: '2 string',
    height: '3 int64',
    time: '4 timestamp!',
    last_block_id: `5 ${TYPES}.BlockID!`,
    last_commit_hash: '6 bytes',
    data_hash: '7 bytes',
    validators_hash: '8 bytes',
    next_validators_hash: '9 bytes',
    consensus_hash: '10 bytes',
    app_hash: '11 bytes',
    last_results_hash: '12 bytes',
    evidence_hash: '13 bytes',
    proposer_address: '14 bytes',
  },
  'tendermint.version.Consensus': { block: '1 uint64', app: '2 uint64' },
  [`${TYPES}.BlockID`]: { hash: '1 bytes', part_set_header: `2 ${TYPES}.PartSetHeader!` },
  [`${TYPES}.PartSetHeader`]: { total: '1 uint32', hash: '2 bytes' },
  [`${TYPES}.Commit`]: {
    height: '1 int64',
    round: '2 int32',
    block_id: `3 ${TYPES}.BlockID!`,
    signatures: `4 ${TYPES}.CommitSig[]`,
  },
  [`${TYPES}.CommitSig`]: {
    block_id_flag: '1 enum:BlockIDFlag',
    validator_address: '2 bytes',
    timestamp: '3 timestamp!',
    signature: '4 bytes',
  },
  [`${TYPES}.ValidatorSet`]: {
    validators: `1 ${TYPES}.Validator[]`,
    proposer: `2 ${TYPES}.Validator`,
    total_voting_power: '3 int64',
  },
  [`${TYPES}.Validator`]: {
    address: '1 bytes',
    pub_key: '2 tendermint.crypto.PublicKey!',
    voting_power: '3 int64',
    proposer_priority: '4 int64',
  },
  'tendermint.crypto.PublicKey': { ed25519: '1 bytes?', secp256k1: '2 bytes?' },
};

/** Enums of headers and proofs. */
export const tendermintEnums: Enums = {
  BlockIDFlag: {
    0: 'BLOCK_ID_FLAG_UNKNOWN',
    1: 'BLOCK_ID_FLAG_ABSENT',
    2: 'BLOCK_ID_FLAG_COMMIT',
    3: 'BLOCK_ID_FLAG_NIL',
  },
  HashOp: {
    0: 'NO_HASH',
    1: 'SHA256',
    2: 'SHA512',
    3: 'KECCAK',
    4: 'RIPEMD160',
    5: 'BITCOIN',
    6: 'SHA512_256',
    7: 'BLAKE2B_512',
    8: 'BLAKE2S_256',
    9: 'BLAKE3',
  },
  LengthOp: {
    0: 'NO_PREFIX',
    1: 'VAR_PROTO',
    2: 'VAR_RLP',
    3: 'FIXED32_BIG',
    4: 'FIXED32_LITTLE',
    5: 'FIXED64_BIG',
    6: 'FIXED64_LITTLE',
    7: 'REQUIRE_32_BYTES',
    8: 'REQUIRE_64_BYTES',
  },
};
