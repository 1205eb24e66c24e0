import { ApiError } from '../kubernetes/api.js';

/** Every reason that a condition, an event or a status may give: a closed list, so that alerts can name them. */
export const reasons = [
  // Nothing was looked at yet, or the last look is too old to go by.
  'NotObserved',
  'Stale',
  // All is well.
  'AsExpected',
  'Reachable',
  'CaughtUp',
  'Allowed',
  'Funded',
  'GasIsFree',
  'ReadBack',
  'Scheduled',
  'NothingToFinalize',
  'ReadyToFinalize',
  'StageNotBegun',
  'StageRunning',
  'Stopped',
  'Suspended',
  'Draining',
  'Drained',
  'DrainTimedOut',
  // Work that is to be done, or waits.
  'ScorePending',
  'ScoreJobActive',
  'FinalizeJobActive',
  'ApprovalNeeded',
  'MarginNotOver',
  'ConfirmationsNeeded',
  'EmptyStage',
  // What cannot be read.
  'L1Unreadable',
  'L1StandsStill',
  'L1Contradicts',
  'ContractUnreadable',
  'NodeBehind',
  'IndexerUnreadable',
  'ChainUnknown',
  'IndexerBehind',
  'IndexIncomplete',
  'WindowUnknown',
  'TablesUnreadable',
  'Unreachable',
  'SignerUnreadable',
  // What a person has to put right.
  'InvalidProgram',
  'InvalidPolicy',
  'OtherTables',
  'ConfigMapMissing',
  'SecretMissing',
  'JobNotStarting',
  'ChildConflict',
  'ChildRefused',
  'NotAllowed',
  'NoBalance',
  'NoAccount',
  'GasPriceTooHigh',
  'WrongTx',
  'OtherChain',
  'OtherContractRegistered',
  'OtherVersion',
  'InitStageTooLate',
  'FinalizedTooEarly',
  'FinalizedBefore',
  'StageMissing',
  'NoProgress',
  'ScoreJobFailing',
  'FinalizeJobFailing',
  'DeadlineAtRisk',
  // What the operator did.
  'DriftRepaired',
  'OrphanRemoved',
  'FinalizationBegins',
  'StageFinalized',
  'JobFailed',
  // What this version has no word for.
  'Other',
] as const;

export type Reason = (typeof reasons)[number];

const known: ReadonlySet<string> = new Set(reasons);

/** A reason of the stage machine as one of the list. */
export const asReason = (reason: string): Reason => (known.has(reason) ? (reason as Reason) : 'Other');

/** A field that the API server does not know is an inner error to it where an object is applied. */
const unknownField = /field not declared in schema/;

/** What the API server says of a body that is wrong, that it may not take, or that a policy of the cluster refuses. */
const statuses: readonly number[] = [400, 403, 413, 422];

/** Values that are shorter than this hold no secret, and stand in other words too. */
const least = 6;

/**
 * That the API server refused an object for what is in it, for its size, or for want of a right; undefined where it was something else.
 * The message has no value of the variables: it is shown to more people than the object.
 */
export function asRefusal(
  error: unknown,
  variables: readonly Readonly<Record<string, unknown>>[] = [],
): ApiError | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { status, message } = error;
  if (!statuses.includes(status) && !unknownField.test(message)) return undefined;
  const values = variables.map(({ value }) => value).filter((value) => typeof value === 'string');
  const longestFirst = values.filter((value) => value.length >= least).sort((a, b) => b.length - a.length);
  const shown = longestFirst.reduce((text, value) => text.replaceAll(value, '(not shown)'), message);
  return new ApiError(status, shown);
}
