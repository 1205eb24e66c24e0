import type { Database } from '../../services/common/clickhouse/database.js';
import { ScoringServiceClient, type Stage } from '../../services/common/gen/indexer/scoring/v1/scoring.js';
import { callRpc, connectRpc } from '../../services/common/rpc/client.js';
import { connectLocal } from '../../services/common/rpc/local.js';
import { RpcError, UserError } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import type { Program } from '../../services/scoring-operator/program/program.js';
import { scoringService } from '../../services/scoring-operator/rpc.js';
import { clientSecurity } from '../transport.js';
import { findProgram } from './find-program.js';
import { group, table, time } from './print.js';

/** Where to look: a running operator, or tables that no other process has open. */
export type Where =
  | { readonly address: string }
  | { readonly database: Database; readonly database_name: string };

/** Scores that are printed of a stage. */
const mostScores = 100;

const patience_ms = 30_000;

/**
 * What was done: `status`, a stage's number, or an address.
 *
 * @throws UserError when there is nothing of it, or with what the service answers.
 */
export async function showText(program: Program, what: string, where: Where): Promise<string> {
  const client =
    'address' in where
      ? connectRpc(ScoringServiceClient, where.address, clientSecurity())
      : await localClient(program, where);
  try {
    if (/^\d+$/.test(what)) return await stageText(client, what);
    if (what === 'status') return await statusText(client);
    return await addressText(client, what);
  } catch (error) {
    throw error instanceof RpcError ? new UserError(error.message) : error;
  } finally {
    client.close();
  }
}

async function localClient(
  program: Program,
  { database, database_name }: Extract<Where, { database: Database }>,
): Promise<ScoringServiceClient> {
  const own = await findProgram(program, database, database_name);
  return connectLocal<ScoringServiceClient>(
    scoringService({
      log: createLog('silent'),
      metrics: createMetrics(),
      source: { database, database_name, program: own },
      account: '',
      account_prefix: program.rollup.account_prefix,
      status: () => ({ step: undefined, at: 0, failures: 0, trouble: '' }),
    }),
  );
}

const settings = () => ({ deadline: Date.now() + patience_ms });

async function statusText(client: ScoringServiceClient): Promise<string> {
  const status = await callRpc(client.getStatus.bind(client), {}, settings());
  const { stages } = await callRpc(client.listStages.bind(client), {}, settings());
  const { decisions } = await callRpc(client.listDecisions.bind(client), { limit: 10 }, settings());
  const rows = stages.map((stage) => [
    stage.stage,
    time(stage.start_time),
    time(stage.end_time),
    group(stage.from_height),
    group(stage.to_height),
    group(stage.score_count),
    group(stage.total),
    stage.is_finalized
      ? 'finalized'
      : stage.is_verified
        ? 'read back'
        : stage.error === ''
          ? 'in work'
          : 'failed',
  ]);
  const log = decisions.map(({ at, kind, reason, message }) => [time(at / 1000), kind, reason, message]);
  return [
    `program ${status.program}`,
    `last scored ${status.last_scored_stage || 'none'}, last finalized ${status.last_finalized_stage || 'none'}\n`,
    table(['stage', 'start', 'end', 'first block', 'last block', 'scores', 'total', 'state'], rows),
    table(['decided at', 'what', 'why', 'in words'], log),
  ].join('\n');
}

async function stageText(client: ScoringServiceClient, stage: string): Promise<string> {
  const found = await callRpc(client.getStage.bind(client), { stage }, settings());
  const one = found.stage!;
  const pagination = { key: '', offset: 0, limit: mostScores, count_total: true, reverse: true };
  const page = await callRpc(client.listScores.bind(client), { stage, pagination }, settings());
  const scores = page.scores.map(({ rank, address, amount }) => [String(rank), address, group(amount)]);
  const rest = one.score_count - scores.length;
  const txs = found.txs.map((tx) => [
    tx.purpose,
    tx.tx_hash,
    String(tx.nonce),
    group(tx.score_count),
    tx.state,
    group(tx.height),
    tx.error,
  ]);
  const measures = found.measures.map(({ rule, account_count, left_out, location, sha256 }) => [
    rule,
    group(account_count),
    group(left_out),
    location,
    sha256,
  ]);
  const checks = found.checks.map(({ at, name, is_ok, expected, found: seen }) => [
    time(at / 1000),
    name,
    is_ok ? 'ok' : 'WRONG',
    expected,
    seen,
  ]);
  return [
    `stage ${stage}, ${time(one.start_time)} to ${time(one.end_time)}, blocks ${group(one.from_height)} to ${group(one.to_height)}`,
    `${group(one.score_count)} scores, ${group(one.total)} in all, list ${one.list_hash}`,
    `read back: ${one.is_verified ? 'yes' : 'no'}, finalized: ${one.is_finalized ? 'yes' : 'no'}, attempts: ${one.attempts}${one.error === '' ? '' : `, last failure: ${one.error}`}\n`,
    table(['rank', 'address', 'score'], scores) + (rest > 0 ? `... and ${group(rest)} more\n` : ''),
    `${table(['rule', 'accounts', 'left out', 'read from', 'sha256'], measures)}${countsText(one)}\n`,
    table(['tx', 'hash', 'nonce', 'scores', 'state', 'block', 'error'], txs),
    table(['checked at', 'what', '', 'expected', 'found'], checks),
    `policy ${one.policy_hash}\n\n${found.policy}`,
  ].join('\n');
}

async function addressText(client: ScoringServiceClient, address: string): Promise<string> {
  const { scores } = await callRpc(client.listScoresByAddress.bind(client), { address }, settings());
  if (scores.length === 0) return `${address} has no score in any stage\n`;
  const list = table(
    ['stage', 'score', 'rank', 'finalized'],
    scores.map(({ stage, amount, rank, is_finalized }) => [
      stage,
      group(amount),
      String(rank),
      is_finalized ? 'yes' : 'no',
    ]),
  );
  const { stage = '' } = scores.at(-1) ?? {};
  const { reasons } = await callRpc(client.explainScore.bind(client), { stage, address }, settings());
  const steps = reasons.map(({ rule, text, amount }) => [rule, text, group(amount)]);
  return `${list}\nhow stage ${stage} came to it\n${table(['rule', 'in words', 'score so far'], steps)}`;
}

/** What became of the accounts that have no score, or less than their points. */
function countsText({ counts }: Stage): string {
  const words = [
    [counts?.excluded, 'excluded'],
    [counts?.below_minimum, 'below the minimum'],
    [counts?.below_one, 'below one point'],
    [counts?.capped, 'cut to the cap'],
    [counts?.fitted, 'made less by fit_total'],
  ] as const;
  return words.map(([n = 0, what]) => `${group(n)} ${what}`).join(', ');
}
