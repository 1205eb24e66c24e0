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
