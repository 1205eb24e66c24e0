import { scoreInterface } from './artifact.js';

/**
 * What kind of failure it is, and so what can be done about it:
 * - `reverted`: the contract refuses; the same tx is refused again until something changes.
 * - `out_of_gas`: too much for one tx; fewer scores may go through.
 * - `insufficient_funds`: the signer cannot pay for gas.
 * - `no_account`: the rollup has no account of the signer yet: somebody has to send it something.
 * - `too_expensive`: the gas price or the fee is above what may be paid.
 * - `no_contract`: there is no scoring contract at the address.
 * - `nonce_taken`: a tx that is not ours took the nonce: somebody else writes with this key.
 * - `wrong_tx`: a signer that sends by itself named a tx that is not the one it was asked for: nothing counts as sent.
 * - `not_mined`: sent, but not seen in a block for as long as we wait; it may still come.
 * - `refused`: the node or the signer does not take the tx, for another reason.
 * - `aborted`: we stopped; what was sent may still come.
 */
export type ContractFailure =
  | 'reverted'
  | 'out_of_gas'
  | 'insufficient_funds'
  | 'no_account'
  | 'too_expensive'
  | 'no_contract'
  | 'nonce_taken'
  | 'wrong_tx'
  | 'not_mined'
  | 'refused'
  | 'aborted';

/** A contract's own error. */
export interface Revert {
  /** `StageFinalized`, `Panic`, ...; '' when it is not known. */
  readonly name: string;
  readonly args: readonly (string | bigint)[];
}

/** A read or a tx of the scoring contract failed for a reason that is not the connection (that is a NodeError). */
export class ContractError extends Error {
  override name = 'ContractError';

  constructor(
    readonly kind: ContractFailure,
    message: string,
    readonly revert?: Revert | undefined,
    /** Hashes of the txs it is about, as far as they are known. */
    readonly tx_hashes: readonly string[] = [],
  ) {
    super(message);
  }
}

/** An error answer of a JSON-RPC node. */
export interface RpcFailure {
  readonly code?: number | undefined;
  readonly message: string;
  /** What came with it: the revert data, or an object that holds it, or nothing. */
  readonly data?: unknown;
}

const panics: Readonly<Record<string, string>> = {
  '1': 'an assertion failed',
  '17': 'arithmetic overflow or underflow',
  '18': 'division by zero',
  '50': 'index out of bounds',
  '65': 'out of memory',
};

/** The error in revert data; undefined when there is none or it is of a selector that nobody knows. */
export function decodeRevert(data: string): Revert | undefined {
  if (!/^0x[0-9a-f]{8}/i.test(data)) return undefined;
  try {
    const parsed = scoreInterface.parseError(data.toLowerCase());
    if (parsed === null) return undefined;
    return { name: parsed.name, args: parsed.args.map((value) => value as string | bigint) };
  } catch {
    // The selector is known, the arguments are cut.
    return undefined;
  }
}

/** How much of a contract's, a node's or a signer's own words is told on: it goes to logs, tables and terminals. */
const mostSaid = 300;

/** Foreign words on one line, cut, and without characters that steer a terminal. */
export const readable = (text: string): string =>
  text.slice(0, mostSaid).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ');

/** A revert in words. */
export function describeRevert({ name, args }: Revert): string {
  const [first, second] = args.map((value) => readable(String(value)));
  switch (name) {
    case 'PermissionDenied':
      return `PermissionDenied: ${first} is not on the allow list of the contract`;
    case 'ZeroStage':
      return 'ZeroStage: there is no stage 0';
    case 'AddrsAndAmountsLengthMistmatch':
      return 'AddrsAndAmountsLengthMistmatch: not as many amounts as addresses';
    case 'StageNotFound':
      return `StageNotFound: the contract has no stage ${first}`;
    case 'StageFinalized':
      return `StageFinalized: stage ${first} is finalized`;
    case 'PreviousStageNotFinalized':
      return `PreviousStageNotFinalized: stage ${first} comes before and is not finalized`;
    case 'ScoreOutOfRange':
      return `ScoreOutOfRange: the score of ${first} or the total of stage ${second} would leave 0 to 2^64-1`;
    case 'Panic':
      return `Panic ${first}: ${panics[first ?? ''] ?? 'see the Solidity documentation'}`;
    case 'Error':
      return `${first}`;
    default:
      return 'reverted, without saying why';
  }
}

/**
 * The revert in a node's error answer: in its data (also nested, as proxies do), as hex inside the
 * text, or by the name of the error in the text.
 */
export function findRevert(failure: RpcFailure): Revert | undefined {
  const texts = [...hexTextsIn(failure.data, 0), ...(failure.message.match(/0x[0-9a-f]{8,}/gi) ?? [])];
  for (const text of texts) {
    const revert = decodeRevert(text);
    if (revert !== undefined) return revert;
  }
  let named: string | undefined;
  scoreInterface.forEachError(({ name }) => {
    if (name !== 'Error' && name !== 'Panic' && failure.message.includes(name)) named = name;
  });
  return named === undefined ? undefined : { name: named, args: argumentsIn(failure.message, named) };
}

/** Numbers and addresses in the parentheses after an error's name. */
function argumentsIn(message: string, name: string): string[] {
  const rest = message.slice(message.indexOf(name) + name.length);
  return /^\(([^()]{1,200})\)/.exec(rest)?.[1]?.split(/\s*,\s*/) ?? [];
}

function hexTextsIn(data: unknown, depth: number): string[] {
  if (typeof data === 'string') return data.match(/0x[0-9a-f]{8,}/gi) ?? [];
  if (typeof data !== 'object' || data === null || depth > 4) return [];
  return Object.values(data).flatMap((value) => hexTextsIn(value, depth + 1));
}

const outOfGas =
  /out of gas|gas required exceeds|exceeds (the )?(block )?gas limit|exceeds block gas|gas limit (is )?(too|reached)|intrinsic gas too (low|high)|oversized data|tx too large|request entity too large|transaction too large|exceeds max(imum)? (tx|transaction|initcode)|gas uint64 overflow|max gas limit/i;
const insufficientFunds = /insufficient (funds|balance|fees? balance)|spendable balance .* is smaller/i;
const noAccount =
  /(account|fee payer|address)\b.*\b(does not exist|not found|unknown address)|unknown (account|address)/i;
const revertedText = /revert/i;

/** What a node's error answer to a call, an estimate or a tx means. */
export function explainFailure(what: string, failure: RpcFailure): ContractError {
  const revert = findRevert(failure);
  if (revert !== undefined)
    return new ContractError('reverted', `${what}: ${describeRevert(revert)}`, revert);
  const said = readable(failure.message) || 'the node refuses and gives no reason';
  if (outOfGas.test(failure.message)) return new ContractError('out_of_gas', `${what}: ${said}`);
  if (insufficientFunds.test(failure.message))
    return new ContractError('insufficient_funds', `${what}: ${said}`);
  if (noAccount.test(failure.message)) return new ContractError('no_account', `${what}: ${said}`);
  if (revertedText.test(failure.message) || failure.code === 3) {
    return new ContractError('reverted', `${what}: ${said}`, { name: '', args: [] });
  }
  return new ContractError('refused', `${what}: ${said}`);
}
