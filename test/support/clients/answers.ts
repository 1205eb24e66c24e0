import assert from 'node:assert/strict';
import {
  bool,
  both,
  type Check,
  coercible,
  decimal,
  either,
  filled,
  hexNumber,
  list,
  nothing,
  number,
  object,
  text,
  utc,
} from './checks.js';

/*
 * What each client needs of an answer to take it without an error: the explorer parses every
 * answer against a schema, the wallet reads members of members.
 */

/** The explorer's pagination; `next_key` is a text or null, and both are never missing. */
export const pagination = object({
  next_key: either(text, nothing),
  previous_key: either(text, nothing),
  total: decimal,
});

const page = (name: string, item: Check): Check => object({ [name]: list(item), pagination });

const proposer = object({ moniker: text, identity: text, operator_address: text });

/** A block in the explorer. */
const block = object({
  ...{ height: coercible, tx_count: coercible, gas_used: coercible, gas_wanted: coercible },
  ...{ hash: filled, timestamp: utc, proposer },
});

const coin = object({ denom: text, amount: decimal });
const any = object({ '@type': filled });
const key = object({ '@type': filled, key: filled });
const signMode: Check = (value, at) =>
  assert.ok(value === 9999 || /^SIGN_MODE_[A-Z_0-9]+$/.test(String(value)), `${at} is ${String(value)}`);
const single = object({ single: object({ mode: signMode }) });
const signer = either(
  object({ sequence: text, mode_info: single, public_key: key }),
  object({
    sequence: text,
    mode_info: object({
      multi: object({
        bitarray: object({ elems: text, extra_bits_stored: number }),
        mode_infos: list(single),
      }),
    }),
    public_key: object({ '@type': filled, threshold: number, public_keys: list(key, 1) }),
  }),
);

/** Attributes are plain text with their order kept, and an event has at least one. */
const event = object({
  type: filled,
  attributes: list(object({ key: text, value: text, index: bool }), 1),
});

/** A tx in the explorer. */
const explorerTx = object({
  ...{ txhash: filled, height: text, code: number, codespace: text, data: text, raw_log: text, info: text },
  ...{ gas_wanted: text, gas_used: text, logs: list(object({})), timestamp: utc, events: list(event) },
  tx: object({
    auth_info: object({
      fee: object({ amount: list(coin), gas_limit: text, granter: text, payer: text }),
      signer_infos: list(signer, 1),
    }),
    body: object({
      ...{ memo: text, messages: list(any, 1), timeout_height: text },
      ...{ extension_options: list(any), non_critical_extension_options: list(any) },
    }),
    signatures: list(text, 1),
  }),
});

interface WalletTx {
  readonly events: readonly { type: string; attributes: readonly { key: string; value: string }[] }[];
}

/** What the wallet makes its list of balance changes from: coins and Move withdrawals and deposits. */
const changes: Check = (value, at) => {
  for (const { type, attributes } of (value as WalletTx).events) {
    const read = (name: string): string | undefined => attributes.find((one) => one.key === name)?.value;
    if (read('msg_index') === undefined) continue;
    if (type === 'coin_spent' || type === 'coin_received') {
      assert.match(read(type === 'coin_spent' ? 'spender' : 'receiver') ?? '', /^init1[a-z0-9]{38,58}$/, at);
      assert.match(read('amount') ?? '', /^(|\d+[a-zA-Z][\w/:.-]*(,\d+[a-zA-Z][\w/:.-]*)*)$/, at);
    }
    const tag = type === 'move' ? (read('type_tag') ?? '') : '';
    if (!/^0x1::fungible_asset::(Withdraw|Deposit)Event$/.test(tag)) continue;
    const moved = JSON.parse(read('data') ?? '') as Record<string, string>;
    assert.match(moved['store_addr'] ?? '', /^0x[0-9a-f]+$/, at);
    assert.match(moved['metadata_addr'] ?? '', /^0x[0-9a-f]+$/, at);
    assert.match(moved['amount'] ?? '', /^\d+$/, at);
  }
};

/** The wallet shows the part of a message's type after `Msg`. */
const walletMessage: Check = (value, at) =>
  assert.ok(
    (value as Record<string, string>)['@type']?.split('Msg')[1],
    `${at}: no Msg in ${JSON.stringify(value)}`,
  );

/** A tx in the wallet's activity. */
const walletTx = both(
  object({
    ...{ txhash: filled, timestamp: utc, code: number, events: list(event) },
    tx: object({
      body: object({ memo: text, messages: list(both(any, walletMessage), 1) }),
      auth_info: object({
        fee: object({ amount: list(coin), gas_limit: text }),
        signer_infos: list(object({ public_key: key }), 1),
      }),
    }),
  }),
  changes,
);

const log = object({
  ...{ address: filled, data: text, topics: list(text), removed: bool, blockHash: filled },
  ...{ blockNumber: hexNumber, logIndex: hexNumber, transactionHash: filled, transactionIndex: hexNumber },
});

/**
 * A receipt in the explorer and in gas scripts. `to` is null where the node says so (a contract
 * was made), as `contractAddress` is everywhere else.
 */
const receipt = object({
  ...{ blockHash: filled, blockNumber: hexNumber, transactionHash: filled, transactionIndex: hexNumber },
  ...{ contractAddress: either(filled, nothing), to: either(filled, nothing), from: filled, type: hexNumber },
  ...{ cumulativeGasUsed: hexNumber, effectiveGasPrice: hexNumber, gasUsed: hexNumber, status: hexNumber },
  ...{ logs: list(log), logsBloom: filled, timestamp: utc },
});

const valueOrNone: Check = (value, at) => (value === '0x' ? undefined : hexNumber(value, at));

/** A call frame in the explorer. */
const frame = object({
  ...{ height: number, index: number, parent_index: number, hash: filled, type: filled, from: filled },
  ...{ to: text, input: text, output: text, gas: hexNumber, gasUsed: hexNumber, value: valueOrNone },
});

/** A collection: the explorer wants the length as a number, the wallet compares the creator with bech32. */
const bech32: Check = (value, at) => assert.match(String(value), /^init1[02-9ac-hj-np-z]{38,58}$/, at);
const address: Check = (value, at) => assert.match(String(value), /^0x([0-9a-f]{40}|[0-9a-f]{64})$/, at);
const collection = object({
  object_addr: address,
  collection: object({
    creator: bech32,
    name: text,
    origin_name: text,
    nfts: object({ handle: text, length: coercible }),
  }),
  height: number,
  timestamp: utc,
});

/** A token: every text is there, since the wallet searches them in lower case. */
const token = object({
  ...{ collection_addr: address, collection_name: text, collection_origin_name: text, object_addr: text },
  ...{ owner: text, nft: object({ token_id: text, uri: text }), height: number, timestamp: utc },
});

/** Whole answers by what they are of. */
export const answers = {
  blocks: page('blocks', block),
  block: object({ block }),
  average: object({ avg_block_time: number }),
  txs: page('txs', both(explorerTx, walletTx)),
  tx: object({ tx: both(explorerTx, walletTx) }),
  receipts: page('txs', receipt),
  receipt: object({ tx: receipt }),
  frames: page('internal_txs', frame),
  tokens: page('tokens', token),
  collections: page('collections', collection),
  collection: object({ collection }),
  holders: page('holders', object({ account: filled, amount: filled })),
  status: object({
    ...{ version: filled, commit_hash: filled, chain_id: filled },
    ...{ height: number, internal_tx_height: number, rich_list_height: number },
  }),
} as const;
