import { NodeError, retryDelay } from '../../common/chain/endpoints.js';
import { sleep } from '../../common/lifecycle.js';

/** How often a question is sent that only a node behind the others was there to answer. */
const attemptsAtBehind = 4;

/** Whether a question failed because the node that took it does not have the block yet. */
export const isBehind = (error: unknown): boolean => error instanceof NodeError && error.reason === 'behind';

/** Asks again, a few times, while a node that is behind takes the question. @throws what `ask` throws */
export async function askUntilThere<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (!isBehind(error) || attempt >= attemptsAtBehind || signal.aborted) throw error;
      await sleep(retryDelay(attempt - 1), signal);
    }
  }
}
