/** The header by which REST answers for the state after a block. */
export const heightHeader = 'x-cosmos-block-height';

/** How the node ends what a contract itself said: nothing in it is the node's word. */
const saidByContract = 'query wasm contract failed';

const gone = /failed to load state|version does not exist|pruned|lowest height|not available/i;
const notYet = /in the future|greater than the current/i;

/**
 * What an error of the REST API says of the state that was asked for: `gone` where the node has
 * pruned it, `not yet` where the node is behind; undefined where it is about something else.
 */
export function stateProblem(message: string): 'gone' | 'not yet' | undefined {
  if (message.includes(saidByContract)) return undefined;
  if (notYet.test(message)) return 'not yet';
  return gone.test(message) ? 'gone' : undefined;
}
