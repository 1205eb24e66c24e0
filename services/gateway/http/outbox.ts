import type { ServerResponse } from 'node:http';

/** Answers on their way to clients. */
export interface Outbox {
  /**
   * Notes an answer that is about to be sent, until it has left or its connection is closed.
   *
   * @param body what is held for it; an answer that several clients are sent lies in memory once.
   * @param bytes its length: a body that is streamed has more bytes than it holds at once.
   */
  add(response: ServerResponse, client: string, body: Held, bytes: number): void;
}

/** Something in memory: a buffer, or what stands for the parts of a body that is streamed. */
export interface Held {
  /** In bytes. */
  readonly length: number;
}

export interface OutboxOptions {
  /** Bytes of all answers that wait to be read by their clients. */
  readonly max_bytes: number;
  /** How long a client may take for each 8 MiB of an answer. */
  readonly timeout_ms: number;
  readonly onFull: () => void;
  readonly onSlow: () => void;
}

interface Sending {
  readonly response: ServerResponse;
  readonly client: string;
  readonly body: Held;
}

/** Bytes that a client has the time of the setting for. */
const timed_bytes = 8 * 1024 * 1024;

/**
 * Bounds what is kept for clients that do not read. An answer that takes too long, and the oldest answer of the client that is
 * sent most when all of them are too many bytes, ends with its connection.
 */
export function createOutbox({ max_bytes, timeout_ms, onFull, onSlow }: OutboxOptions): Outbox {
  const sending = new Set<Sending>();
  /** How many answers send a body. */
  const bodies = new Map<Held, number>();
  let held = 0;

  const hold = (body: Held): void => {
    const count = bodies.get(body) ?? 0;
    if (count === 0) held += body.length;
    bodies.set(body, count + 1);
  };
  const release = (body: Held): void => {
    const count = (bodies.get(body) ?? 1) - 1;
    if (count > 0) bodies.set(body, count);
    else {
      bodies.delete(body);
      held -= body.length;
    }
  };

  /** The oldest answer of the client that is sent most. */
  const greediest = (): Sending | undefined => {
    const bytes = new Map<string, number>();
    for (const { client, body } of sending) bytes.set(client, (bytes.get(client) ?? 0) + body.length);
    const [client] = [...bytes].reduce((a, b) => (b[1] > a[1] ? b : a), ['', -1] as [string, number]);
    for (const one of sending) if (one.client === client) return one;
    return undefined;
  };

  return {
    add(response, client, body, bytes) {
      const one: Sending = { response, client, body };
      const timer = setTimeout(
        () => {
          onSlow();
          response.destroy();
        },
        timeout_ms * Math.max(1, Math.ceil(bytes / timed_bytes)),
      );
      timer.unref();
      const end = (): void => {
        clearTimeout(timer);
        if (sending.delete(one)) release(body);
      };
      response.once('finish', end);
      response.once('close', end);
      sending.add(one);
      hold(body);
      while (held > max_bytes && sending.size > 1) {
        const dropped = greediest();
        if (dropped === undefined) break;
        sending.delete(dropped);
        release(dropped.body);
        onFull();
        dropped.response.destroy();
      }
    },
  };
}
