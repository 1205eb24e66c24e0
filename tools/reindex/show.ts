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
  const { phase, height, target_height, blocks_per_second } = progress;
  if (phase === Phase.COPYING) return `${bar(0)}  making the tables`;
  const left =
    blocks_per_second > 0 && target_height > height
      ? `, ${duration((target_height - height) / blocks_per_second)} left`
      : '';
  return `${bar(height / Math.max(1, target_height))}  block ${group(height)} of ${group(target_height)}, ${blocks_per_second.toFixed(blocks_per_second < 10 ? 1 : 0)} blocks/s${left}`;
}
