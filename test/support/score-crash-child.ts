import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { SignedTx } from '../../services/scoring-operator/machine/ports.js';
import { differences } from '../../services/scoring-operator/machine/verify.js';
import { clientOf, quick, scoresOf } from './score-contract.js';

// One stage scored and finalized by a process that may be killed at any time: what it signs is
// written to a journal first, and what the journal has is settled before anything is sent.
// Arguments: JSON-RPC URL, contract, journal. The key comes from the environment.
const [url, address, journal] = process.argv.slice(2) as [string, string, string];
const private_key = process.env['PRIVATE_KEY'] as string;
const { contract, sender } = clientOf(url, address, { private_key, max_scores: 20, config: quick });

const signed: SignedTx[] = existsSync(journal)
  ? readFileSync(journal, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as SignedTx)
  : [];
for (const tx of signed) {
  while ((await sender.settle(tx)).kind === 'pending')
    await new Promise((resolve) => setTimeout(resolve, 20));
}
const hooks = {
  leastHeight: async () => 0,
  onSigned: async (tx: SignedTx) =>
    appendFileSync(journal, `${JSON.stringify({ ...tx, stage: String(tx.stage) })}\n`),
  onMined: async () => {},
  onReplaced: async () => {},
};
await sender.sendScores(5n, differences(scoresOf(60), await contract.scores(5n)), hooks);
if ((await contract.stage(5n))?.is_finalized !== true) await sender.finalize(5n, async () => {}, hooks);
process.exit(0);
