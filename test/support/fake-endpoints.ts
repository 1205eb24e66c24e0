import type { Endpoints, NodeRequest } from '../../services/common/chain/endpoints.js';

/** A node whose answers a function gives, status and body: a text as it is, anything else as JSON. */
export const fakeEndpoints = (
  api: Endpoints['api'],
  answer: (request: NodeRequest) => readonly [status: number, body: unknown],
): Endpoints => ({
  api,
  urls: ['http://node:1317'],
  close: async () => {},
  blame: (error) => error,
  async ask(request, read) {
    const [status, body] = answer(request);
    return read(status, typeof body === 'string' ? body : JSON.stringify(body));
  },
});
