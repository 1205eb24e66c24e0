import { startReplayNode } from '../../tools/replay/node.js';
import { type RecordingName, readFacts, vmOf } from './facts.js';
import { type Stack, startStack } from './stack.js';

const started = new Map<RecordingName, Promise<Stack>>();

/**
 * Every service over a whole recording, with all that it has indexed, for tests that only
 * read: one for all files of a mocha process. Like the engine beneath it stays open until the
 * process ends.
 */
export function recordedStack(name: RecordingName): Promise<Stack> {
  const stack = started.get(name) ?? start(name);
  started.set(name, stack);
  return stack;
}

async function start(name: RecordingName): Promise<Stack> {
  const { height } = readFacts(name);
  const node = await startReplayNode({ recording: name });
  const stack = await startStack(node, { vm: vmOf(name) });
  await stack.reaches(height, vmOf(name) === 'evm');
  await stack.knowsNfts(height);
  return stack;
}
