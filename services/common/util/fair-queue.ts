/** Things that wait, of several clients who take turns. */
export interface FairQueue<T> {
  readonly length: number;
  /**
   * @param client whose turn it is.
   * @param before of two things of one client the one with the lower number goes first, and then the one that came first.
   */
  add(item: T, client: string, before: number): void;
  /** The next thing: of the client who has used least. It stays. */
  peek(): T | undefined;
  /** Takes the next thing out. */
  take(): T | undefined;
  /** Serves a client at once, while nobody waits. */
  pass(client: string): void;
  /** Notes what a client has used. */
  charge(client: string, cost: number): void;
}

interface Client<T> {
  readonly items: { readonly item: T; readonly before: number }[];
  used: number;
}

/** Clients without anything waiting whose use is remembered. */
const mostIdle = 1_000;

/**
 * Fair queueing among clients by what they use. What a client did not want is not saved up: one who comes back begins where
 * the one who was served last stood, and so is served next, whatever the others have waiting.
 */
export function createFairQueue<T>(): FairQueue<T> {
  const clients = new Map<string, Client<T>>();
  let length = 0;
  /** Where the client who was served last stood then. */
  let floor = 0;

  const clientOf = (name: string): Client<T> => {
    let client = clients.get(name);
    if (client === undefined) {
      client = { items: [], used: floor };
      clients.set(name, client);
    }
    return client;
  };

  /** Forgets those who would begin where somebody new begins. */
  const forgetIdle = (): void => {
    for (const [name, { items, used }] of clients)
      if (items.length === 0 && used <= floor) clients.delete(name);
  };

  const next = (): Client<T> | undefined => {
    let least: Client<T> | undefined;
    for (const client of clients.values())
      if (client.items.length > 0 && (least === undefined || client.used < least.used)) least = client;
    return least;
  };

  return {
    get length() {
      return length;
    },
    add(item, name, before) {
      const client = clientOf(name);
      const { items } = client;
      if (items.length === 0) client.used = Math.max(client.used, floor);
      let at = items.length;
      while (at > 0 && (items[at - 1]?.before as number) > before) at -= 1;
      items.splice(at, 0, { item, before });
      length += 1;
    },
    peek: () => next()?.items[0]?.item,
    take() {
      const client = next();
      if (client === undefined) return undefined;
      floor = client.used;
      length -= 1;
      return client.items.shift()?.item;
    },
    pass(name) {
      const client = clientOf(name);
      client.used = Math.max(client.used, floor);
      floor = client.used;
    },
    charge(name, cost) {
      clientOf(name).used += cost;
      if (clients.size > mostIdle) forgetIdle();
    },
  };
}
