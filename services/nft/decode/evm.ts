import { keyOfHexDigits } from '../../common/chain/address.js';
import { attributeOf, isObject, type TxEvent } from '../../common/chain/events.js';
import { messageOf } from '../../common/runtime/errors.js';
import { parseInnerJson } from '../../common/util/bounded-input.js';
import type { TxSink } from './types.js';

/** keccak256 of Transfer(address,address,uint256): ERC-721 and ERC-20. */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** ERC-4906: keccak256 of MetadataUpdate(uint256) and of BatchMetadataUpdate(uint256,uint256). */
const metadataTopic = '0xf8e1a15aba9398e019f0b49df1a4fde98ee17ae345cb5f6b5e2c27f5033e8ce7';
const batchMetadataTopic = '0x6bd5c950a8d8df17f772f5af37cb3655737899cbf903264b9795592da439661c';
/** ERC-7572: keccak256 of ContractURIUpdated(). */
const contractUriTopic = '0xa5d4097edda6d87cb9329af83fb3712ef77eeb13738ffe43cc35a4ce305ad962';

const known = [transferTopic, metadataTopic, batchMetadataTopic, contractUriTopic];

/** Reads what the events of an EVM tx say of NFTs: contracts that were created, and logs. */
export function decodeEvmEvents(events: readonly TxEvent[], sink: TxSink): void {
  for (const event of events) {
    if (event.type === 'contract_created') {
      const digits = /^0x([0-9a-fA-F]{40})$/.exec(attributeOf(event, 'contract'))?.[1];
      if (digits !== undefined) sink.add({ what: 'contract', contract: keyOfHexDigits(digits) });
    }
    if (event.type !== 'evm') continue;
    for (const { key, value } of event.attributes) {
      // Most logs are of other kinds: no need to parse them.
      if (key === 'log' && known.some((topic) => value.includes(topic))) decodeLog(value, sink);
    }
  }
}

function decodeLog(text: string, sink: TxSink): void {
  let log: unknown;
  try {
    log = parseInnerJson(text);
  } catch (error) {
    sink.problem('evm log', messageOf(error));
    return;
  }
  if (!isObject(log) || typeof log['address'] !== 'string') return;
  const digits = /^0x([0-9a-fA-F]{40})$/.exec(log['address'])?.[1];
  const topics = Array.isArray(log['topics']) ? log['topics'].map(wordOf) : [];
  const data = typeof log['data'] === 'string' ? log['data'] : '';
  if (digits === undefined || topics.includes(undefined)) {
    sink.problem(String(log['address']), 'a log without an address or with odd topics');
    return;
  }
  decodeTopics(keyOfHexDigits(digits), topics as string[], data, sink);
}

function decodeTopics(collection: string, topics: readonly string[], data: string, sink: TxSink): void {
  const [topic = '', ...words] = topics;
  const values = [...words, ...wordsOf(data)];
  switch (`0x${topic}`) {
    case transferTopic:
      // ERC-20 has the amount in the data, and three topics.
      if (words.length === 3 && (data === '0x' || data === '')) addTransfer(collection, words, sink);
      return;
    case metadataTopic: {
      const [id] = values;
      if (id !== undefined) sink.add({ what: 'uri', token: { collection, token_id: decimal(id) } });
      return;
    }
    case batchMetadataTopic: {
      const [first, last] = values;
      if (first !== undefined && last !== undefined)
        sink.add({
          what: 'refresh_tokens',
          collection,
          first_id: decimal(first),
          last_id: decimal(last),
        });
      return;
    }
    case contractUriTopic:
      sink.add({ what: 'refresh_collection', collection });
  }
}

function addTransfer(
  collection: string,
  [from = '', to = '', id = '']: readonly string[],
  sink: TxSink,
): void {
  const token = { collection, token_id: decimal(id) };
  const [isMint, isBurn] = [isZero(from), isZero(to)];
  if (isMint && isBurn) return;
  if (isBurn) sink.add({ what: 'burn', token });
  else sink.add({ what: isMint ? 'mint' : 'transfer', token, owner: keyOfHexDigits(to.slice(24)) });
}

/** The 64 lower-case digits of a 32-byte word. */
function wordOf(topic: unknown): string | undefined {
  return typeof topic === 'string' ? /^0x([0-9a-f]{64})$/.exec(topic.toLowerCase())?.[1] : undefined;
}

const wordsOf = (data: string): string[] =>
  data
    .slice(2)
    .toLowerCase()
    .match(/[0-9a-f]{64}/g) ?? [];

const decimal = (word: string): string => BigInt(`0x${word}`).toString();

const isZero = (word: string): boolean => /^0+$/.test(word);
