import { fetchReceipts } from '../../../services/common/chain/evm.js';
import { compareNames, type Difference, differencesOf, type HeightCheck } from '../check.js';

type Receipt = Readonly<Record<string, unknown>> & { readonly transactionHash: string };

/** EVM receipts: which are in the block, in which order, and every member of each. */
export const receipts: HeightCheck = {
  name: 'receipts',
  appliesTo: ({ vm_type, json_rpc }) => vm_type === 'evm' && json_rpc.urls.length > 0,
  async run({ api, json_rpc, signal }, height) {
    const [ours, { text }] = await Promise.all([
      api.list<Receipt>(`/indexer/tx/v1/evm-txs/by_height/${height}`, 'txs'),
      fetchReceipts(json_rpc, height, signal),
    ]);
    const theirs = JSON.parse(text) as Receipt[];
    const differences: Difference[] = compareNames(
      `receipts of block ${height}`,
      'hash',
      ours.map(({ transactionHash }) => transactionHash),
      theirs.map(({ transactionHash }) => transactionHash),
    );
    const byHash = new Map(ours.map((receipt) => [receipt.transactionHash, receipt]));
    for (const receipt of theirs) {
      const own = byHash.get(receipt.transactionHash);
      if (own === undefined) continue;
      const members = Object.keys(receipt).map((name) => [name, [own[name], receipt[name]]] as const);
      differences.push(...differencesOf(`receipt ${receipt.transactionHash}`, Object.fromEntries(members)));
      const found = await api.get<{ tx: Receipt }>(`/indexer/tx/v1/evm-txs/${receipt.transactionHash}`);
      if (found === undefined)
        differences.push(
          ...differencesOf(`receipt ${receipt.transactionHash}`, {
            'found by its hash': [undefined, String(height)],
          }),
        );
    }
    return { compared: theirs.length, differences };
  },
};
