import {
  ranked,
  type Score,
  type ScoreList,
  type ScoreWindow,
} from '../../services/scoring-operator/policy/result.js';
import { group, table, time } from './print.js';

/** Rows that are printed; the rest is counted. */
const mostRows = 50;

/** What scoring a stage would send: the largest scores first, strays with a 0. */
export function dryRunText(
  window: ScoreWindow,
  { list, wanted }: { readonly list: ScoreList; readonly wanted: readonly Score[] },
): string {
  const rows = ranked(wanted).slice(0, mostRows);
  const rest = wanted.length - rows.length;
  return [
    `\nstage ${window.stage}, ${time(window.start_time)} to ${time(window.end_time)}, blocks ${group(window.from_height)} to ${group(window.to_height)}`,
    `${group(list.scores.length)} scores, ${group(list.total)} in all, list ${list.hash}`,
    `to be sent: ${group(wanted.length)}; the contract has the others already\n`,
    table(
      ['address', 'score'],
      rows.map(({ address, amount }) => [address, group(amount)]),
    ) + (rest > 0 ? `... and ${group(rest)} more\n` : ''),
  ].join('\n');
}
