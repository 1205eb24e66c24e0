import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ReplayNode, startReplayNode } from '../replay/node.js';
import { loadRecording } from '../replay/recording.js';

/** How many of the recorded blocks are left to come one by one, so that a newcomer sees the chain move. */
const blocksToCome = 30;

/**
 * Starts the recorded rollup as a node of its own. What it has shown is remembered in the
 * folder, so that a second start goes on where the first stopped; after the recording's end
 * empty blocks go on.
 */
export function startRecorded(folder: string, interval_ms: number): Promise<ReplayNode> {
  mkdirSync(folder, { recursive: true });
  const recording = loadRecording('evm');
  return startReplayNode({
    recording,
    tip: Math.max(recording.first, recording.last - blocksToCome),
    interval_ms,
    block_time_ms: interval_ms,
    state_path: join(folder, 'replay.json'),
  });
}
