import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { HDNodeWallet } from 'ethers';

/** How a local EVM node is started. */
export interface AnvilOptions {
  /** EVM chain id; 31337 by default. */
  readonly chain_id?: number | undefined;
  /** Seconds between blocks; by default every tx makes a block at once. */
  readonly block_time?: number | undefined;
  /** Gas of a block; 30 million by default. */
  readonly gas_limit?: number | undefined;
  /** Gas costs nothing, as on many rollups. Default true. */
  readonly is_gas_free?: boolean | undefined;
  /** Balance of each account in whole coins; 10,000 by default. */
  readonly balance?: number | undefined;
  /** 0, the default, for any free one. */
  readonly port?: number | undefined;
  /** Number of the first block, above that of any index beside it; see `firstBlock`. */
  readonly first_block?: number | undefined;
  /** Further arguments of the program. */
  readonly args?: readonly string[] | undefined;
}

/** A running local EVM node. */
export interface Anvil {
  /** JSON-RPC URL. */
  readonly url: string;
  readonly pid: number;
  /** Accounts with a balance: address with checksum, and the private key. */
  readonly accounts: readonly { readonly address: string; readonly private_key: string }[];
  /** Calls a JSON-RPC method; anvil's own included. @throws Error with the node's words */
  call(method: string, ...params: readonly unknown[]): Promise<unknown>;
  /** Ends the process and waits for it. */
  stop(): Promise<void>;
}

/**
 * Where blocks begin by default. The operator reads a contract at a block that its index has reached: an index of another
 * chain, as it stands beside a local node, must not be ahead of it.
 */
const firstBlock = 10_000_000;

/** The words that its accounts are made from; they are in every book, and worth nothing. */
export const anvilMnemonic = 'test test test test test test test test test test test junk';

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Path of the program, or undefined where npm has none for this platform. Its launcher needs an install script; this does not. */
export function anvilBinary(): string | undefined {
  const name = `@foundry-rs/anvil-${process.platform}-${architectures[process.arch] ?? process.arch}`;
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    const path = join(folder, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Starts a node and waits until it listens. @throws Error when there is no program for this platform, or it ends. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const binary = anvilBinary();
  if (binary === undefined)
    throw new Error(`there is no anvil for ${process.platform}-${process.arch} in node_modules`);
  const { chain_id = 31_337, gas_limit = 30_000_000, balance = 10_000, port = 0 } = options;
  const free = options.is_gas_free ?? true;
  const child = spawn(
    binary,
    [
      ...['--port', String(port), '--chain-id', String(chain_id), '--gas-limit', String(gas_limit)],
      ...['--number', String(options.first_block ?? firstBlock)],
      ...['--mnemonic', anvilMnemonic, '--accounts', '10', '--balance', String(balance)],
      ...(options.block_time === undefined ? [] : ['--block-time', String(options.block_time)]),
      ...(free ? ['--gas-price', '0', '--block-base-fee-per-gas', '0', '--disable-min-priority-fee'] : []),
      ...(options.args ?? []),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const listening = await new Promise<string>((resolve, reject) => {
    let said = '';
    const listen = (chunk: Buffer): void => {
      said += chunk.toString();
      const match = /Listening on ([\d.]+:\d+)/.exec(said);
      if (match !== null) resolve(match[1] as string);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('error', reject);
    void ended.then(() => reject(new Error(`anvil ended: ${said.slice(-500)}`)));
  });
  const url = `http://${listening}`;
  const leave = (): void => void child.kill('SIGKILL');
  process.once('exit', leave);
  return {
    url,
    pid: child.pid as number,
    accounts: Array.from({ length: 10 }, (_, index) => {
      const wallet = HDNodeWallet.fromPhrase(anvilMnemonic, '', `m/44'/60'/0'/0/${index}`);
      return { address: wallet.address, private_key: wallet.privateKey };
    }),
    call: (method, ...params) => callRpc(url, method, params),
    async stop() {
      process.off('exit', leave);
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function callRpc(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}
