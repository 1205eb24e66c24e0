import type { CallSettings } from '../common/rpc/client.js';
import type { Clients } from './clients.js';
import type { JsonSchema, Schemas } from './openapi/schema.js';
import type { AbsentKey } from './pagination.js';
import type { ArgumentsOf, Parameters } from './parameters.js';

/** Virtual machines a rollup can have. */
export type Vm = 'evm' | 'move' | 'wasm';

/** Services whose head an answer depends on. */
export type Owner = keyof Clients;

/** What a handler works with. */
export interface RouteContext {
  readonly clients: Clients;
  /** Deadline, request id and cancellation, for every call that the handler makes. */
  readonly call: CallSettings;
  readonly about: About;
  /** Milliseconds since the lowest height of these services moved. */
  readonly quiet_ms: (owners: readonly Owner[]) => number;
  /** The Accept header, for routes that look at it; empty for the others. */
  readonly accept: string;
}

/** What the gateway knows about itself. */
export interface About {
  readonly version: string;
  readonly commit_hash: string;
  /** Chain id of the configuration; empty when the block service has to say it. */
  readonly chain_id: string;
  readonly vm: Vm;
  readonly base_path: string;
  readonly absent_key: AbsentKey;
}

/** A body that is read while it is sent, since it is too large to be held. */
export interface StreamedBody {
  readonly bytes: number;
  /** Begins to read it; ends when the signal is aborted. */
  readonly open: (signal: AbortSignal) => AsyncIterable<Buffer>;
}

/** The body of a good answer. */
export interface Content {
  /** Empty where it is streamed. */
  readonly body: Buffer;
  readonly streamed?: StreamedBody;
  /** Whether it can no longer change, short of a rollback of the chain. */
  readonly settled: boolean;
  /** Content type; JSON when left out. */
  readonly type?: string;
  /** Headers of this content besides those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Seconds that clients may keep it; by default long for what is settled, 1 for the rest. */
  readonly max_age?: number;
}

/**
 * A route, declared once: mounted as a handler, checked by its parameters and described in
 * the document.
 */
export interface Route {
  readonly method: 'GET';
  /** Below the base path, parameters in braces: `/indexer/tx/v1/txs/{tx_hash}`. */
  readonly path: string;
  /** Whether the last parameter takes the rest of the path, slashes included. */
  readonly takes_rest?: boolean;
  readonly operation: string;
  readonly summary: string;
  readonly doc: string;
  readonly parameters: Parameters;
  /** Schema of the answer; undefined for what is no part of the document (pages, files). */
  readonly response: JsonSchema | undefined;
  /** Reads an answer to show. */
  readonly example?: () => unknown;
  /** Statuses that this route can give besides those that every route can. */
  readonly problems: readonly (400 | 404 | 501)[];
  /** The only virtual machine that has it, and what it is called in the answer elsewhere. */
  readonly only?: { readonly vm: Vm; readonly what: string };
  /** Services whose head moving makes an answer old; none for what depends on no chain. */
  readonly owners: readonly Owner[];
  /** What is still served, old, when its service fails; an answer to have at all matters most. */
  readonly outlives_failure?: boolean;
  /** Whether the answer depends on the Accept header. */
  readonly negotiates?: boolean;
  readonly handler: (args: never, context: RouteContext) => Promise<Content>;
}

type Declaration<P extends Parameters> = Omit<Route, 'method' | 'parameters' | 'handler'> & {
  readonly parameters: P;
  readonly handler: (args: ArgumentsOf<P>, context: RouteContext) => Promise<Content>;
};

/** Declares a route; the handler's arguments have the types of its parameters. */
export function route<P extends Parameters>(declaration: Declaration<P>): Route {
  return { method: 'GET', ...declaration };
}

/** Routes that belong together in the document, with the schemas of their answers. */
export interface RouteGroup {
  readonly tag: string;
  readonly doc: string;
  readonly schemas: Schemas;
  readonly routes: readonly Route[];
}
