import type { CallOptions, ClientReadableStream, Metadata, ServiceError } from '@grpc/grpc-js';
import { type CallSettings, callRpc, streamRpc } from '../../services/common/rpc/client.js';

type Answered<Method> = Method extends (
  request: infer Request,
  metadata: Metadata,
  options: Partial<CallOptions>,
  callback: (error: ServiceError | null, response: infer Response) => void,
) => unknown
  ? (request: Request, settings?: CallSettings) => Promise<Response>
  : never;

type Streamed<Method> = Method extends (
  request: infer Request,
  metadata?: Metadata,
  options?: Partial<CallOptions>,
) => ClientReadableStream<infer Message>
  ? (request: Request, settings?: CallSettings) => AsyncGenerator<Message, void, undefined>
  : never;

/** The calls of a client that have one answer: `ask(client).getStatus({})`. */
export const ask = <Client extends object>(client: Client) =>
  methodsOf(client, callRpc) as { [Name in keyof Client]: Answered<Client[Name]> };

/** Its calls that have many messages: `stream(client).streamBlocks({ ... })`. */
export const stream = <Client extends object>(client: Client) =>
  methodsOf(client, streamRpc) as { [Name in keyof Client]: Streamed<Client[Name]> };

const methodsOf = (client: object, call: (method: never, ...rest: [never]) => unknown): object =>
  new Proxy(client, {
    get: (_, name) => {
      const method = Reflect.get(client, name) as (...args: unknown[]) => unknown;
      return (...rest: [never]) => call(method.bind(client) as never, ...rest);
    },
  });

/** All items of the messages of a stream. */
export async function collect<Message, Item>(
  messages: AsyncIterable<Message>,
  items: (message: Message) => readonly Item[],
): Promise<Item[]> {
  const all: Item[] = [];
  for await (const message of messages) all.push(...items(message));
  return all;
}
