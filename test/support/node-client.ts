/** What a node answered. */
export interface NodeAnswer {
  readonly status: number;
  readonly text: string;
  /** undefined where the text is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any JSON
  readonly json: any;
}

/** Asks a node for a URL, of the state at a height if one is given. */
export const getFrom = (url: string, height?: number): Promise<NodeAnswer> => ask(url, height, {});

/** Sends JSON to a node, about the state at a height if one is given. */
export const postTo = (url: string, body: unknown, height?: number): Promise<NodeAnswer> =>
  ask(url, height, { method: 'POST', body: JSON.stringify(body) });

/** A call of JSON-RPC. */
export const call = (method: string, ...params: readonly unknown[]) => ({
  jsonrpc: '2.0',
  id: 7,
  method,
  params,
});

async function ask(url: string, height: number | undefined, init: RequestInit): Promise<NodeAnswer> {
  const headers = height === undefined ? {} : { 'x-cosmos-block-height': String(height) };
  const response = await fetch(url, { ...init, headers });
  const text = await response.text();
  return { status: response.status, text, json: /^[[{]/.test(text) ? JSON.parse(text) : undefined };
}
