/** A program that the API server takes; nothing answers at its endpoints unless others are given. */
export function sampleProgram(name: string, spec: object = {}): Record<string, unknown> {
  return {
    apiVersion: 'vip.weft.dev/v1alpha1',
    kind: 'ScoringProgram',
    metadata: { name },
    spec: { ...sampleSpec, ...spec },
  };
}

/** A schedule by which nothing starts while tests run: a Job that nobody runs would keep its program from going. */
export const never = '0 0 29 2 *';

/** The least that a program needs. */
export const sampleSpec = {
  chainId: 'rollup-1',
  bridgeId: 5,
  contract: { address: `0x${'ab'.repeat(20)}` },
  signer: { address: `0x${'cd'.repeat(20)}`, secretRef: { name: 'signer' } },
  endpoints: {
    l1: { urls: ['http://127.0.0.1:1'], module: '0x1' },
    rollup: { jsonRpcUrls: ['http://127.0.0.1:1'] },
  },
  clickhouse: { secretRef: { name: 'clickhouse' } },
  policy: { builtin: 'tx-count' },
  score: { schedule: never },
  finalize: { schedule: never },
};
