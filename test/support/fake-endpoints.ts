import type { Endpoints, NodeRequest } from '../../services/common/chain/endpoints.js';

/** What a made-up node answers to a request. */
export type NodeAnswers = (
  request: NodeRequest,
) => readonly [status: number, body: unknown] | Promise<readonly [status: number, body: unknown]>;

/** A node whose answers a function gives: texts as they are, anything else as JSON. */
export const fakeEndpoints = (api: Endpoints['api'], answers: NodeAnswers): Endpoints => ({
  api,
  urls: ['http://node:1317'],
  close: async () => {},
  async ask(request, read) {
    const [status, body] = await answers(request);
    return read(status, typeof body === 'string' ? body : JSON.stringify(body));
  },
});
