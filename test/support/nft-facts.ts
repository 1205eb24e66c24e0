import { parseAccount, toBech32 } from '../../services/common/chain/address.js';
import { type Facts, type RecordingName, readFacts, vmOf } from './facts.js';
import type { ListAnswer } from './walk.js';

/** A collection as the API must show it at the end of a recording. */
export interface CollectionTruth {
  readonly addr: string;
  readonly name: string;
  readonly origin_name: string;
  /** bech32. */
  readonly creator: string;
  readonly height: number;
  readonly length: number;
}

/** A token as the API shows it. */
export interface ShownToken {
  readonly collection_addr: string;
  readonly collection_name: string;
  readonly collection_origin_name: string;
  readonly object_addr: string;
  readonly owner: string;
  readonly nft: { readonly token_id: string; readonly uri: string };
  readonly height: number;
  readonly timestamp: string;
}

/** A page of them. */
export interface TokenPage extends ListAnswer {
  readonly tokens: readonly ShownToken[];
}

/** A token as the API must show it at the end of a recording. */
export interface TokenTruth {
  readonly addr: string;
  readonly token_id: string;
  readonly object_addr: string;
  readonly owner: string;
  readonly uri: string;
  readonly height: number;
  readonly txs: number;
}

interface RawCollection {
  readonly object_addr: string;
  readonly name: string | null;
  readonly is_collection?: boolean;
  readonly creator: string;
  readonly height: number;
  readonly length: number;
  readonly origin_name?: string;
}

interface RawToken {
  readonly collection?: string;
  readonly contract?: string;
  readonly object_addr?: string;
  readonly token_id: string;
  readonly owner: string;
  readonly uri?: string;
  readonly height: number;
  readonly txs: number;
}

interface RawBurnt {
  readonly collection: string;
  readonly token_id: string;
  readonly known?: boolean;
}

interface RawFacts extends Facts {
  readonly collections: readonly RawCollection[];
  readonly nfts: readonly RawToken[];
  readonly burned: readonly RawBurnt[];
  readonly notes?: {
    readonly uri_differs_from_contract?: readonly (readonly [readonly [string, string], string, string])[];
  };
}

/** What is true of the NFTs of a recording. */
export interface NftTruth {
  readonly facts: Facts;
  readonly collections: readonly CollectionTruth[];
  readonly tokens: readonly TokenTruth[];
  /** Burnt and not minted again. */
  readonly burnt: readonly { readonly addr: string; readonly token_id: string }[];
  /** Addresses of what only pretends. */
  readonly pretenders: readonly string[];
}

/** An owner as the API shows it: what names no account as it came. */
function shownOwner(owner: string): string {
  const key = parseAccount(owner, 'init');
  return key === undefined ? owner : toBech32(key, 'init');
}

/** Names that the facts have from the creation, and that the contract changed later (height 68 on Wasm). */
const renamed = new Map([['Meta Dogs 漢字 "q" <&>', 'Renamed Dogs']]);

/** The uri of the token `long`, which the facts cut. */
const longUri = `https://x.example/${'y'.repeat(2000)}`;

/** Reads the facts in the API's spelling, with what the recordings' notes say to put right. */
export function readNftTruth(name: RecordingName): NftTruth {
  const facts = readFacts(name) as RawFacts;
  const digits = vmOf(name) === 'evm' ? 40 : 64;
  const addrOf = (address: string): string =>
    `0x${(parseAccount(address, 'init') ?? '').padStart(digits, '0')}`;
  const real = facts.collections.filter(({ is_collection = true }) => is_collection);
  const shown = new Set(real.map(({ object_addr }) => addrOf(object_addr)));
  const uris = new Map(
    (facts.notes?.uri_differs_from_contract ?? []).map(([[contract, id], , uri]) => [
      `${addrOf(contract)}/${id}`,
      uri,
    ]),
  );
  const tokens = facts.nfts.map((token): TokenTruth => {
    const addr = addrOf(token.collection ?? token.contract ?? '');
    const { token_id, height, txs } = token;
    const noted = uris.get(`${addr}/${token_id}`) ?? token.uri ?? '';
    // The notes are cut after 60 characters.
    const uri = token_id === 'long' ? longUri : noted;
    const object_addr = token.object_addr === undefined ? '' : addrOf(token.object_addr);
    // Its uri was changed after its last transfer.
    const changed = vmOf(name) === 'wasm' && token_id === 'd1' ? 67 : height;
    return { addr, token_id, object_addr, owner: shownOwner(token.owner), uri, height: changed, txs };
  });
  const there = new Set(tokens.map(({ addr, token_id }) => `${addr}/${token_id}`));
  return {
    facts,
    collections: real.map((collection) => ({
      addr: addrOf(collection.object_addr),
      name: renamed.get(collection.name ?? '') ?? collection.name ?? '',
      origin_name: collection.origin_name ?? '',
      creator: shownOwner(collection.creator),
      height: collection.height,
      length: collection.length,
    })),
    tokens: tokens.filter(({ addr }) => shown.has(addr)),
    burnt: facts.burned
      .filter(({ known = true }) => known)
      .map(({ collection, token_id }) => ({ addr: addrOf(collection), token_id }))
      .filter(({ addr, token_id }) => !there.has(`${addr}/${token_id}`)),
    pretenders: [...new Set(tokens.map(({ addr }) => addr).filter((addr) => !shown.has(addr)))],
  };
}
