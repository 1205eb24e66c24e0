import { Phase, type Progress } from '../../services/common/gen/indexer/reindex/v1/reindex.js';
import { duration, group } from '../terminal.js';

/** Characters between the brackets of a bar. */
const barWidth = 30;

/** `[#####.....]  45 %` of a share between 0 and 1. */
export function bar(share: number): string {
  const bounded = Math.min(1, Math.max(0, share));
  const filled = Math.floor(bounded * barWidth);
  const percent = String(Math.floor(bounded * 100)).padStart(3);
  return `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}] ${percent} %`;
}

/** One line of how a rebuild gets on: the bar, what is done, how fast, and how long it may take. */
export function progressLine(progress: Progress): string {
  const { phase, from_height, height, target_height, blocks_per_second, copied_rows, rows_to_copy } =
    progress;
  if (phase === Phase.COPYING) {
    if (from_height <= 1 || rows_to_copy === 0) return `${bar(0)}  making the tables`;
    return `${bar(copied_rows / rows_to_copy)}  copying what lies below block ${group(from_height)}: ${group(copied_rows)} of ${group(rows_to_copy)} rows`;
  }
  const [done, all] = [Math.max(0, height - from_height + 1), Math.max(1, target_height - from_height + 1)];
  const left =
    blocks_per_second > 0 && target_height > height
      ? `, ${duration((target_height - height) / blocks_per_second)} left`
      : '';
  return `${bar(done / all)}  block ${group(height)} of ${group(target_height)}, ${blocks_per_second.toFixed(blocks_per_second < 10 ? 1 : 0)} blocks/s${left}`;
}
