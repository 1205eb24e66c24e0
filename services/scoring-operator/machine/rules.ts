/** What a person has decided beforehand about a program. */
export interface Rules {
  /** Seconds of the L1's time after the end of a stage before it is finalized while the L1 still names it. */
  readonly margin_s: number;
  /** Automatic: stages are finalized without a person. Manual: with the list that a person has approved. */
  readonly approval: 'Automatic' | 'Manual';
  /** Last stage that a person has approved; undefined for none. */
  readonly approved_stage: bigint | undefined;
  /** Hash of the list that a person has approved; undefined for none. */
  readonly approved_list?: string | undefined;
  /** Stages that may be finalized without any score: a person's explicit word for each. */
  readonly allow_empty: readonly bigint[];
  /** Version of the registration that the program is for; undefined for any. */
  readonly vip_version?: bigint | undefined;
  /** Last stage to finalize; undefined for all that come. */
  readonly stop_at_stage: bigint | undefined;
}
