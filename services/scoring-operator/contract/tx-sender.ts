import { messageOf } from '../../common/runtime/errors.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import type { Log } from '../../common/runtime/log.js';
import { createMutex } from '../../common/util/concurrency.js';
import { ContractError } from './errors.js';
import {
  atLeast,
  fetchPrices,
  type GasLimits,
  gasFor,
  leastLimit,
  offerPrice,
  raisePrice,
  requiredPrice,
} from './fees.js';
import {
  broadcast,
  type Flight,
  hashesOf,
  type Outcome,
  type TxRequest,
  type Version,
  type Watch,
  waitFor,
} from './flight.js';
import { fetchNonces, nextNonce, pinNonce } from './nonce.js';
import { explainReceipt, type RawReceipt } from './receipts.js';
import { LostReply } from './remote-signer.js';
import { type EvmRpc, fromQuantity } from './rpc.js';
import type { Signer } from './signer.js';
import { type GasPrice, highestPrice, isSamePrice, type TxFields } from './tx.js';

/** Times and margins of sending. */
export interface SendConfig {
  /** Without a receipt for this long, a tx is replaced by one that pays more. */
  readonly stuck_ms: number;
  /** Without a receipt for this long, sending ends with `not_mined`. */
  readonly give_up_ms: number;
  readonly poll_ms: number;
  /** How long the EVM's index may lag behind the count of mined txs. */
  readonly index_lag_ms: number;
  /** Added to the estimated gas, in percent. */
  readonly gas_margin_percent: number;
  /** Highest price of gas that is ever offered, in wei (TX_MAX_GAS_PRICE). */
  readonly max_gas_price: bigint;
  /** Highest fee that a tx may ever cost, in wei (TX_MAX_FEE). */
  readonly max_fee: bigint;
}

/** What a sender is made of. */
export interface TxSenderOptions {
  readonly rpc: EvmRpc;
  readonly signer: Signer;
  readonly chain_id: bigint;
  /** The rollup's own limit for this signer; 0n for none. Asked before every tx. @throws NodeError */
  readonly rollupGasLimit: () => Promise<bigint>;
  readonly config: SendConfig;
  readonly log: Log;
  /** Told when a bound was reached, by the setting that names it. */
  readonly onLimit?: ((limit: string) => void) | undefined;
}

/** A tx in a block; `failure` says why when it failed. */
export interface Sent {
  readonly receipt: RawReceipt;
  readonly failure: ContractError | undefined;
}

/** Sends txs of one account, one after the other. */
export interface TxSender {
  readonly account: string;
  /**
   * Sends one tx and waits until it is in a block, whether it succeeded there or failed.
   *
   * @throws ContractError when it cannot be sent or is not seen in a block in time; NodeError when
   * the node gives no usable answer before anything was signed.
   */
  send(request: TxRequest): Promise<Sent>;
  /** Gas that a tx may have; undefined when no limit is known. @throws NodeError */
  gasLimit(): Promise<bigint | undefined>;
}

/** How often a tx is begun anew with another nonce, and how often its price is raised. */
const [mostRounds, mostRaises] = [5, 100];

/** How often a tx is looked up that the node refused in words that tell nothing, before it counts as refused. */
const mostLookUps = 3;

/** Makes the one queue of an account's txs. */
export function createTxSender(options: TxSenderOptions): TxSender {
  const { rpc, signer, chain_id, config, log } = options;
  const { poll_ms, index_lag_ms, stuck_ms } = config;
  const watch: Watch = { rpc, account: signer.address, poll_ms, index_lag_ms, log };
  const oneAtATime = createMutex();

  const limits = async (block: bigint): Promise<GasLimits> => ({
    rollup: await options.rollupGasLimit(),
    block,
  });

  /** The least price that the node was ever heard to ask for: its own minimum, which no query shows. */
  let least_price = 0n;

  /** Stops before more is offered than may be paid. @throws ContractError too_expensive */
  const bounded = (price: GasPrice, gas: bigint, what: string): GasPrice => {
    const offered = highestPrice(price);
    const stop = (limit: string, message: string): never => {
      options.onLimit?.(limit);
      throw new ContractError('too_expensive', `${what}: ${message} (${limit})`);
    };
    if (offered > config.max_gas_price)
      stop(
        'TX_MAX_GAS_PRICE',
        `gas costs ${offered} wei, and at most ${config.max_gas_price} may be offered`,
      );
    if (offered * gas > config.max_fee)
      stop('TX_MAX_FEE', `the fee may be ${offered * gas} wei, and at most ${config.max_fee} may be paid`);
    return price;
  };

  const send = async (request: TxRequest): Promise<Sent> => {
    try {
      return await sendInRounds(request);
    } catch (error) {
      if (!(error instanceof ContractError) || error.kind !== 'no_account') throw error;
      const fund = `fund ${signer.address}: the rollup has no such account until somebody sends it something, also where gas is free`;
      throw new ContractError('no_account', `${fund} (${error.message})`);
    }
  };

  const sendInRounds = async (request: TxRequest): Promise<Sent> => {
    const deadline = Date.now() + config.give_up_ms;
    for (let round = 1; ; round++) {
      const flight = await prepare(request);
      const outcome = await fly(flight, deadline);
      const mined = outcome.kind === 'mined' ? outcome.receipt : undefined;
      for (const { tx_hash } of flight.versions) {
        if (tx_hash !== mined?.tx_hash) await request.onReplaced?.(tx_hash);
      }
      if (mined !== undefined) return judge(flight, mined);
      const { nonce } = flight.fields;
      log.warn({ nonce, round }, `${request.what}: a tx that is not ours took the nonce`);
      if (round >= mostRounds || Date.now() > deadline) {
        throw new ContractError(
          'nonce_taken',
          `${request.what}: nonce ${nonce} of ${signer.address} was taken by a tx that is not ours; somebody else sends with the same key`,
          undefined,
          hashesOf(flight),
        );
      }
      await sleep(poll_ms, request.signal);
    }
  };

  /** Everything up to the first signature: nonce, then check, then gas and price. */
  const prepare = async (request: TxRequest): Promise<Flight> => {
    const wait = { patience_ms: stuck_ms, poll_ms };
    const at_least = (await request.leastHeight?.()) ?? 0;
    // Every tx with this nonce or a later one is in a later block: nobody can have acted unseen before it.
    const next = await nextNonce(rpc, signer.address, wait, at_least, request.signal);
    const { nonce, height: after_height } = next;
    if (next.is_replacing) log.warn({ nonce }, `${request.what}: replaces a tx that is stuck in the pool`);
    if (request.check !== undefined)
      await request.check(await pinNonce(rpc, signer.address, nonce, after_height, request.signal));
    const estimate = await request.estimate();
    const prices = await fetchPrices(rpc);
    const allowed = await limits(prices.block_gas_limit);
    if (request.signal?.aborted)
      throw new ContractError('aborted', `${request.what}: stopped before it was sent`);
    const gas = gasFor(estimate, config.gas_margin_percent, allowed);
    if (gas === undefined) {
      const least = leastLimit(allowed);
      throw new ContractError(
        'out_of_gas',
        `${request.what}: needs ${estimate} gas, and a tx may have ${least} here`,
      );
    }
    const { to, data, what } = request;
    const price = bounded(atLeast(offerPrice(prices), least_price), gas, what);
    const fields = { chain_id, from: signer.address, to, data, nonce, gas, price };
    return { request, fields, versions: [], after_height, is_out: false, refusal: '' };
  };

  /** Sends a flight and waits for it, raising the price when it is too low or stuck. */
  const fly = async (flight: Flight, deadline: number): Promise<Exclude<Outcome, { kind: 'wrong' }>> => {
    const { what, signal } = flight.request;
    let { price } = flight.fields;
    let is_signed = false;
    for (let raises = 0; ; raises++) {
      const outcome = await attempt(flight, { ...flight.fields, price }, deadline, is_signed);
      if (outcome.kind === 'wrong') throw await wrongTx(flight, outcome.tx_hash);
      if (outcome.kind === 'mined' || outcome.kind === 'taken') return outcome;
      if (flight.is_out && (Date.now() >= deadline || signal?.aborted)) throw undecided(flight);
      if (raises >= mostRaises)
        throw new ContractError('refused', `${what}: the price is too low after ${raises} raises`);
      const next = await raised(flight, price);
      is_signed = isSamePrice(next, price);
      price = next;
      log.warn({ nonce: flight.fields.nonce, price: String(highestPrice(price)) }, `${what}: sent anew`);
    }
  };

  /** The next price. Only an account that has something can pay more than nothing. */
  const raised = async (flight: Flight, old: GasPrice): Promise<GasPrice> => {
    const { fields, request, is_out, refusal } = flight;
    const asked = requiredPrice(refusal, highestPrice(old), fields.gas) ?? 0n;
    try {
      const now = offerPrice(await fetchPrices(rpc));
      const params = [signer.address, 'latest'];
      const balance = fromQuantity(await rpc.call('eth_getBalance', params), 'eth_getBalance');
      // A node that names its minimum is given that, rather than an eighth more and more.
      const price = bounded(
        asked > highestPrice(old) ? atLeast(now, asked) : raisePrice(old, now, balance > 0n),
        fields.gas,
        request.what,
      );
      if (asked <= config.max_gas_price) least_price = asked > least_price ? asked : least_price;
      const is_payable = balance >= highestPrice(price) * fields.gas;
      if (is_payable && (is_out || !isSamePrice(price, old))) return price;
      if (is_out) return old;
      throw new ContractError(
        'insufficient_funds',
        asked > 0n
          ? `${request.what}: the node asks for ${asked} wei for gas, ${asked * fields.gas} in all, and ${signer.address} has ${balance} wei`
          : `${request.what}: the node asks for more than ${highestPrice(old)} wei for gas, and ${signer.address} has ${balance} wei`,
      );
    } catch (error) {
      // With a tx on its way, a node that fails is no reason to leave it.
      if (is_out) return old;
      throw error;
    }
  };

  /** One version: signed, written down, sent, waited for. */
  const attempt = async (
    flight: Flight,
    fields: TxFields,
    deadline: number,
    is_signed: boolean,
  ): Promise<Outcome | { readonly kind: 'underpriced' }> => {
    const { request, versions } = flight;
    if (!is_signed) await sign(flight, fields);
    const newest = versions.at(-1);
    let is_held = newest?.raw === undefined;
    if (newest?.raw !== undefined) {
      const result = await broadcast(rpc, newest.raw, request.what);
      flight.refusal = result.kind === 'sent' ? '' : result.message;
      if (result.kind !== 'sent')
        log.warn({ nonce: fields.nonce }, `${request.what}: ${result.kind}: ${result.message}`);
      // A version that was sent before may still be mined: then a refusal of this one is not the end.
      if (!flight.is_out && result.kind === 'underpriced') return { kind: 'underpriced' };
      if (!flight.is_out && result.kind === 'refused') throw await explained(flight, result.failure);
      if (!flight.is_out && result.kind === 'unclear' && !(await isThere(flight, newest.tx_hash)))
        throw await explained(flight, result.failure);
      is_held = !/^(lost|not_yet|nonce_used|unclear)$/.test(result.kind);
    }
    flight.is_out = true;
    return waitFor(watch, flight, { stuck_at: Date.now() + stuck_ms, deadline }, is_held);
  };

  /** Whether a node has a tx, in its pool or in a block, or its nonce is used by now. */
  const isThere = async ({ fields, request }: Flight, tx_hash: string): Promise<boolean> => {
    for (let looks = 1; looks <= mostLookUps; looks++) {
      try {
        if ((await rpc.call('eth_getTransactionByHash', [tx_hash])) !== null) return true;
        if ((await fetchNonces(rpc, signer.address)).mined > fields.nonce) return true;
      } catch (error) {
        // Whoever cannot look does not know that it is not there.
        if (looks === mostLookUps) return true;
        log.debug({ nonce: fields.nonce }, messageOf(error));
      }
      await sleep(poll_ms, request.signal);
    }
    return false;
  };

  /** Adds a version. With a version on its way, a signer that refuses or does not answer is no reason to leave it. */
  const sign = async (flight: Flight, fields: TxFields): Promise<void> => {
    const { request, versions } = flight;
    const note = async (tx_hash: string) => request.onSigned?.({ tx_hash, nonce: fields.nonce });
    const hidden: Version = { tx_hash: '', raw: undefined };
    try {
      const signed = await signer.sign(fields, async () => {
        versions.push(hidden);
        await note('');
      });
      if (versions.some(({ tx_hash }) => tx_hash === signed.tx_hash)) return;
      if (signed.raw !== undefined && signed.offer !== undefined)
        bounded(signed.offer.price, signed.offer.gas, `${request.what}, as the signer has changed it`);
      await note(signed.tx_hash);
      if (signed.raw !== undefined) {
        versions.push({ tx_hash: signed.tx_hash, raw: signed.raw });
        return;
      }
      hidden.tx_hash = signed.tx_hash;
      await request.onReplaced?.('');
    } catch (error) {
      const is_known = error instanceof LostReply || error instanceof ContractError;
      if (is_known && flight.is_out) return;
      // It may have been sent: the nonce tells.
      if (error instanceof LostReply && versions.includes(hidden)) return;
      throw error instanceof LostReply
        ? new ContractError('refused', `${request.what}: ${error.message}`)
        : error;
    }
  };

  /** Nothing that the signer said of the tx counts. */
  const wrongTx = async ({ request }: Flight, tx_hash: string): Promise<ContractError> => {
    await request.onReplaced?.(tx_hash);
    return new ContractError(
      'wrong_tx',
      `${request.what}: ${signer.description} says that it sent ${tx_hash}, and that is another tx than it was asked for: it counts as not sent. Look at the signer`,
      undefined,
      [tx_hash],
    );
  };

  const undecided = (flight: Flight): ContractError => {
    const { what, signal } = flight.request;
    const known = hashesOf(flight);
    const refusal = flight.refusal === '' ? '' : `; the node said: ${flight.refusal.slice(0, 200)}`;
    return signal?.aborted
      ? new ContractError(
          'aborted',
          `${what}: stopped while waiting for ${known.join(', ')}`,
          undefined,
          known,
        )
      : new ContractError(
          'not_mined',
          `${what}: in no block after ${config.give_up_ms / 1000} s: ${known.join(', ')}; it may still come${refusal}`,
          undefined,
          known,
        );
  };

  const judge = async (flight: Flight, receipt: RawReceipt): Promise<Sent> => {
    if (receipt.is_success) return { receipt, failure: undefined };
    const { from, to, data, gas } = flight.fields;
    const failure = await explainReceipt(rpc, flight.request.what, receipt, { from, to, data, gas });
    return { receipt, failure: await explained(flight, failure) };
  };

  const explained = async ({ request }: Flight, failure: ContractError): Promise<ContractError> =>
    failure.kind === 'reverted' && request.explain !== undefined ? request.explain(failure) : failure;

  return {
    account: signer.address,
    send: (request) => oneAtATime(() => send(request)),
    async gasLimit() {
      const { block_gas_limit } = await fetchPrices(rpc);
      return leastLimit(await limits(block_gas_limit));
    },
  };
}
