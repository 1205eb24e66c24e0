/** Names that the custom resource, its children and the API server know each other by. */
export const group = 'vip.weft.dev';
export const version = 'v1alpha1';
export const kind = 'ScoringProgram';
export const plural = 'scoringprograms';

/** The operator's name as an owner of fields, a label of what it has made, and a reporter of events. */
export const manager = 'scoring-operator';

/** Keeps a deleted program until no Job of it runs. */
export const drainFinalizer = `${group}/drain`;

export const labels = {
  managedBy: 'app.kubernetes.io/managed-by',
  program: `${group}/program`,
  phase: `${group}/phase`,
} as const;

/** Selects every child of every program. */
export const childSelector = `${labels.managedBy}=${manager}`;

/** What a Job does. */
export type Phase = 'score' | 'finalize';
export const phases: readonly Phase[] = ['score', 'finalize'];

/** Metadata as JSON has it. */
export interface Meta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** How the Jobs of a phase are run. Defaults are the API server's. */
export interface RunSpec {
  readonly schedule: string;
  readonly timeZone: string;
  readonly startingDeadlineSeconds: number;
  readonly activeDeadlineSeconds: number;
  readonly backoffLimit: number;
  readonly successfulJobsHistoryLimit: number;
  readonly failedJobsHistoryLimit: number;
}

export interface FinalizeSpec extends RunSpec {
  readonly approval: 'Automatic' | 'Manual';
  readonly approvedStage?: number;
  /** Hash of the list of that stage, as its `resultHash` in the status. */
  readonly approvedList?: string;
  /** A duration such as 1h30m. */
  readonly delayAfterStageEnd: string;
  readonly confirmations: number;
  readonly allowEmptyStages?: readonly number[];
}

interface Reference {
  readonly name: string;
}

interface KeyReference extends Reference {
  readonly key: string;
}

/** What a person writes; crd/scoringprogram.yaml says what each field means. */
export interface Spec {
  readonly suspend: boolean;
  readonly chainId: string;
  readonly bridgeId: number;
  readonly vipVersion: number;
  readonly startStage: number;
  readonly stopAtStage?: number;
  readonly pollSeconds: number;
  readonly countIntervals: boolean;
  readonly windows?: readonly {
    readonly stage: number;
    readonly startTime: string;
    readonly endTime: string;
  }[];
  readonly contract: { readonly vm: 'evm'; readonly address: string };
  readonly signer: {
    readonly address: string;
    readonly secretRef: Reference & { readonly key?: string; readonly mnemonicKey?: string };
    readonly mnemonicIndex: number;
  };
  readonly endpoints: {
    readonly configMapRef?: KeyReference;
    readonly l1?: {
      readonly urls: readonly string[];
      readonly module: string;
      readonly moduleName: string;
      readonly prefix: string;
      readonly chainId?: string;
      readonly standstillSeconds: number;
      readonly agreeingUrls?: number;
      readonly maxAheadSeconds?: number;
    };
    readonly rollup?: {
      readonly jsonRpcUrls: readonly string[];
      readonly restUrls?: readonly string[];
      readonly evmChainId?: number;
      readonly accountPrefix: string;
      /** Wei, as texts. */
      readonly maxGasPrice?: string;
      readonly maxTxFee?: string;
    };
    readonly indexers?: Readonly<Partial<Record<'block' | 'tx' | 'nft' | 'richlist', string>>>;
  };
  readonly clickhouse: {
    readonly secretRef?: Reference;
    readonly configMapRef?: Reference;
    readonly database: string;
    readonly cluster?: string;
  };
  readonly policy: {
    readonly builtin?: 'tx-count' | 'gas-used';
    readonly configMapRef?: KeyReference;
    readonly inline?: Readonly<Record<string, unknown>>;
  };
  readonly score: RunSpec;
  readonly finalize: FinalizeSpec;
  readonly podTemplate?: {
    readonly image?: string;
    readonly serviceAccountName?: string;
    readonly priorityClassName?: string;
    readonly runtimeClassName?: string;
    readonly schedulerName?: string;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations?: readonly Readonly<Record<string, unknown>>[];
    readonly resources?: Readonly<Record<string, unknown>>;
  };
}

/** A condition as every Kubernetes API has it. Times are RFC 3339. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

export interface RunStatus {
  readonly cronJobName: string;
  readonly suspended: boolean;
  readonly reason: string;
  readonly activeJobs: readonly string[];
  readonly lastScheduleTime?: string;
  readonly lastSuccessfulTime?: string;
  readonly consecutiveFailures: number;
}

export interface StageStatus {
  readonly stage: number;
  readonly phase: 'Scoring' | 'Scored' | 'AwaitingApproval' | 'Finalizing' | 'Finalized' | 'Failed';
  readonly resultHash?: string;
  readonly users?: number;
  /** A decimal number. */
  readonly totalScore?: string;
  readonly txHashes?: readonly string[];
  readonly finalizedAt?: string;
  readonly message?: string;
}

/** What the operator says of a program. */
export interface Status {
  readonly observedGeneration?: number;
  readonly stage?: {
    readonly current: number;
    readonly startTime: string;
    readonly endTime: string;
    readonly observedAt: string;
  };
  readonly indexer?: { readonly height: number; readonly time: string };
  readonly lastScoredStage?: number;
  readonly lastFinalizedStage?: number;
  readonly score?: RunStatus;
  readonly finalize?: RunStatus;
  readonly stages?: readonly StageStatus[];
  readonly conditions?: readonly Condition[];
}

export interface ScoringProgram {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Meta;
  readonly spec: Spec;
  readonly status?: Status;
}

/** The parts of a CronJob that are looked at. */
export interface CronJob {
  readonly metadata: Meta;
  readonly spec?: { readonly suspend?: boolean };
  readonly status?: { readonly lastScheduleTime?: string; readonly lastSuccessfulTime?: string };
}

/** The parts of a Job that are looked at. */
export interface Job {
  readonly metadata: Meta;
  readonly spec?: { readonly activeDeadlineSeconds?: number };
  readonly status?: {
    /** Pods that run and are ready. */
    readonly ready?: number;
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly lastTransitionTime?: string;
    }[];
  };
}

/** Name of the CronJob of a phase. */
export const cronJobName = (program: string, phase: Phase): string => `${program}-${phase}`;

/** Key of an object: namespace/name. */
export const keyOf = ({ namespace, name }: Pick<Meta, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

/** Whether an object is controlled by a program. */
export function isControlledBy(object: { readonly metadata: Meta }, uid: string): boolean {
  return (object.metadata.ownerReferences ?? []).some((owner) => owner.controller && owner.uid === uid);
}
