import type { AccountKey } from '../../../services/common/chain/address.js';

/*
 * What is true of a made-up chain, kept the plain way: a contract is its tokens by id. The
 * generators of the virtual machines change it beside the events that they emit, and say in
 * them what a node would; nothing here knows how the index works.
 */

/** A token, burnt ones too. */
export interface MadeToken {
  readonly id: string;
  /** An account's key, or `?` and a text that names none; '' once it is burnt. */
  owner: string;
  /** What the node says; undefined where it says nothing. */
  uri: string | undefined;
  /** What events say; '' where they say nothing. */
  said: string;
  burnt: boolean;
  /** Its last mint, transfer or new uri. */
  height: number;
  timestamp: string;
  /** Move. */
  readonly object: string;
  /** Its txs, oldest first: upper-case hashes. */
  readonly txs: string[];
}

/** A place in the chain. */
export interface MadePlace {
  readonly height: number;
  /** Among everything that happened in the block. */
  readonly order: number;
  readonly timestamp: string;
}

/** A contract or Move collection. */
export interface MadeContract {
  readonly address: AccountKey;
  /** What its generator makes of it. */
  readonly kind: string;
  /** As the node says it now; undefined where it is no collection. */
  name: string | undefined;
  creator: string;
  /** When it certainly came to be; undefined until then. */
  born: MadePlace | undefined;
  /** When something first told of it that may be about anything. */
  seen?: MadePlace;
  readonly tokens: Map<string, MadeToken>;
}

/** The state after a block. */
export interface MadeWorld {
  readonly contracts: Map<AccountKey, MadeContract>;
  /** Names at home of classes that came over IBC. */
  readonly classes: Map<string, string>;
}

export const emptyWorld = (): MadeWorld => ({ contracts: new Map(), classes: new Map() });

/** Where something happens. */
export interface MadeMoment {
  readonly height: number;
  readonly timestamp: string;
  /** Upper-case; '' for what the block itself does. */
  readonly hash: string;
  /** '' for what the block itself does. */
  readonly signer: string;
  /** Counts up within a block. */
  next(): number;
}

const placeOf = ({ height, timestamp, next }: MadeMoment): MadePlace => ({
  ...{ height, timestamp, order: next() },
});

/** Tells when a contract came to be, if nothing has yet. */
export function bear(contract: MadeContract, moment: MadeMoment, creator?: string): void {
  if (contract.born !== undefined) return;
  contract.born = placeOf(moment);
  if (creator !== undefined) contract.creator = creator;
}

/** Tells of a contract that may be anything. */
export function glimpse(contract: MadeContract, moment: MadeMoment): void {
  contract.seen ??= placeOf(moment);
}

/** Notes that a tx concerns a token. */
export function note(token: MadeToken, { hash }: MadeMoment): void {
  if (hash !== '' && token.txs.at(-1) !== hash) token.txs.push(hash);
}

/** Gives a token to somebody, new or not. A mint says its uri anew. */
export function give(
  contract: MadeContract,
  id: string,
  owner: string,
  moment: MadeMoment,
  mint?: { readonly uri: string | undefined; readonly said?: string; readonly object?: string },
): MadeToken {
  const before = contract.tokens.get(id);
  const isNew = mint !== undefined || before === undefined || before.burnt;
  const token: MadeToken = before ?? {
    ...{ id, owner, uri: undefined, said: '', burnt: false, height: 0, timestamp: '', txs: [] },
    object: mint?.object ?? '',
  };
  contract.tokens.set(id, token);
  if (isNew) {
    token.uri = mint?.uri;
    token.said = mint?.said ?? '';
  }
  Object.assign(token, { owner, burnt: false, height: moment.height, timestamp: moment.timestamp });
  note(token, moment);
  return token;
}

/** Burns a token, if it is there. */
export function burn(contract: MadeContract, id: string, moment: MadeMoment): void {
  const token = contract.tokens.get(id);
  if (token === undefined || token.burnt) return;
  Object.assign(token, { owner: '', burnt: true, height: moment.height, timestamp: moment.timestamp });
  note(token, moment);
}

/** The tokens that are there. */
export const alive = ({ tokens }: MadeContract): MadeToken[] =>
  [...tokens.values()].filter(({ burnt }) => !burnt);
