import {
  atLeast,
  decimal,
  exactly,
  type JsonSchema,
  listOf,
  natural,
  ref,
  type Schemas,
  text,
  timestamp,
} from './schema.js';

const anything: JsonSchema = { type: 'object', additionalProperties: true };

const event = exactly(
  {
    type: text('Type of the event.'),
    attributes: listOf(
      exactly({
        key: text('Key.'),
        value: text('Value, every byte kept.'),
        index: { type: 'boolean', description: 'Whether the node indexes it.' },
      }),
    ),
  },
  'An event of the execution, attributes in the order of the node.',
);

const body = atLeast({
  messages: listOf(
    atLeast(
      { '@type': text('Message type with a leading slash.') },
      'A message; its fields depend on the type.',
    ),
  ),
  memo: text('Memo.'),
  timeout_height: decimal('Height after which the tx is not valid; "0" for none.'),
  extension_options: listOf(anything),
  non_critical_extension_options: listOf(anything),
});

const signer = atLeast({
  public_key: {
    type: ['object', 'null'],
    additionalProperties: true,
    description: 'Public key, when the tx carries it.',
  },
  mode_info: { type: ['object', 'null'], additionalProperties: true },
  sequence: decimal('Sequence of the signer.'),
});

const auth_info = atLeast({
  signer_infos: listOf(signer),
  fee: atLeast({
    amount: listOf(exactly({ denom: text('Denomination.'), amount: decimal('Amount.') })),
    gas_limit: decimal('Gas limit.'),
    payer: text('Who pays the fee, when that is not the first signer.'),
    granter: text('Who granted the fee.'),
  }),
});

const tx = exactly(
  {
    txhash: text('Upper-case hex.', { pattern: '^[0-9A-F]{64}$' }),
    height: decimal('Height of the block.'),
    codespace: text('Namespace of the code; empty on success.'),
    code: natural('0 on success.'),
    data: text('Upper-case hex of what the messages returned.', { pattern: '^([0-9A-F]{2})*$' }),
    raw_log: text('Log of the execution.'),
    logs: { type: 'array', items: {}, description: 'Always empty.' },
    info: text('Further information.'),
    gas_wanted: decimal('Gas asked for.'),
    gas_used: decimal('Gas used.'),
    tx: atLeast({ body, auth_info, signatures: listOf(text('base64.')) }, 'The tx as it was signed.'),
    timestamp: timestamp('Time of the block.'),
    events: listOf(event),
  },
  'A tx with its result (Cosmos TxResponse).',
);

/** Hex as Ethereum writes it. */
const hex = (description: string): JsonSchema => text(description, { pattern: '^0x[0-9a-fA-F]*$' });

const hexOrNull = (description: string): JsonSchema => ({ ...hex(description), type: ['string', 'null'] });

const evmTx = atLeast(
  {
    transactionHash: hex('Ethereum hash.'),
    blockNumber: hex('Height.'),
    from: hex('Sender.'),
    to: hexOrNull('Receiver; null for a contract creation.'),
    contractAddress: hexOrNull('Address of the contract that was created.'),
    gasUsed: hex('Gas used.'),
    status: hex('0x1 on success.'),
    logs: listOf(
      atLeast({ address: hex('Contract.'), topics: listOf(hex('Topic.')), data: hex('Data.') }, 'A log.'),
    ),
    timestamp: timestamp('Time of the block.'),
  },
  'A receipt as `eth_getBlockReceipts` gives it, and the time of its block.',
);

const evmInternalTx = exactly(
  {
    height: natural('Height.'),
    hash: hex('Ethereum hash of the tx.'),
    parent_index: {
      type: 'integer',
      minimum: -1,
      description: 'Index of the calling frame; -1 for the top one.',
    },
    index: natural('Index of the frame in pre-order.'),
    type: text('CALL, STATICCALL, DELEGATECALL, CREATE and so on.'),
    from: text('Caller.'),
    to: text('Callee; empty when there is none.'),
    input: hex('Input.'),
    output: hex('Output; "0x" when absent.'),
    value: hex('Value; "0x" when absent.'),
    gas: hex('Gas given.'),
    gasUsed: hex('Gas used.'),
  },
  'A call frame.',
);

const page = ref('common.PaginationResponse');

/** Schemas of the answers of the tx service. */
export const txSchemas: Schemas = {
  'tx.Tx': tx,
  'tx.TxResponse': exactly({ tx: ref('tx.Tx') }),
  'tx.TxsResponse': exactly({ txs: listOf(ref('tx.Tx')), pagination: page }),
};

/** Schemas of receipts. */
export const evmTxSchemas: Schemas = {
  'tx.EvmTx': evmTx,
  'tx.EvmTxResponse': exactly({ tx: ref('tx.EvmTx') }),
  'tx.EvmTxsResponse': exactly({ txs: listOf(ref('tx.EvmTx')), pagination: page }),
};

/** Schemas of call frames. */
export const evmInternalTxSchemas: Schemas = {
  'tx.EvmInternalTx': evmInternalTx,
  'tx.EvmInternalTxsResponse': exactly({ internal_txs: listOf(ref('tx.EvmInternalTx')), pagination: page }),
};

const collection = exactly(
  {
    object_addr: text('Address of the collection: 0x hex of 20 bytes on EVM, of 32 elsewhere.', {
      pattern: '^0x([0-9a-f]{40}|[0-9a-f]{64})$',
    }),
    collection: exactly({
      creator: text('bech32 account that created it; empty when nobody says who.'),
      name: text('Name.'),
      origin_name: text('Name at home of a collection that came over IBC; empty otherwise.'),
      nfts: exactly({
        handle: text('Always empty.'),
        length: natural('Number of tokens that exist now.'),
      }),
    }),
    height: natural('Block of its creation.'),
    timestamp: timestamp('Time of that block.'),
  },
  'A collection.',
);

const token = exactly(
  {
    collection_addr: text('Address of the collection, 0x hex.', {
      pattern: '^0x([0-9a-f]{40}|[0-9a-f]{64})$',
    }),
    collection_name: text('Name of the collection.'),
    collection_origin_name: text('Name at home of a collection that came over IBC; empty otherwise.'),
    object_addr: text('Address of the object on Move, 0x hex; empty elsewhere.', {
      pattern: '^(0x[0-9a-f]{64})?$',
    }),
    owner: text('bech32 account; as it came where it names no account of this rollup.'),
    nft: exactly({
      token_id: text('Token id.'),
      uri: text('URI; empty when there is none, or while it is not known.'),
    }),
    height: natural('Block of its last mint, transfer or new URI.'),
    timestamp: timestamp('Time of that block.'),
  },
  'A token.',
);

/** Schemas of the answers of the nft service. */
export const nftSchemas: Schemas = {
  'nft.Collection': collection,
  'nft.CollectionResponse': exactly({ collection: ref('nft.Collection') }),
  'nft.CollectionsResponse': exactly({ collections: listOf(ref('nft.Collection')), pagination: page }),
  'nft.Nft': token,
  'nft.NftsResponse': exactly({ tokens: listOf(ref('nft.Nft')), pagination: page }),
};

/** Schemas of the answers of the richlist service. */
export const richlistSchemas: Schemas = {
  'richlist.TokenHolder': exactly(
    {
      account: text('0x and 40 lower-case hex digits.', { pattern: '^0x[0-9a-f]{40}$' }),
      amount: decimal('Balance in the smallest unit, above zero, up to 2^256 - 1.'),
    },
    'Who holds how much.',
  ),
  'richlist.TokenHoldersResponse': exactly({
    holders: listOf(ref('richlist.TokenHolder')),
    pagination: ref('common.PaginationResponse'),
  }),
};
