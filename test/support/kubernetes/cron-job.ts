import type { V1CronJob } from '@kubernetes/client-node';

/** An object of the library with all that it may have: tests look at what is there. */
type Whole<T> = T extends object ? { readonly [Field in keyof T]-?: Whole<T[Field]> } : T;

/** A CronJob as the API server has it. */
export type CronJob = Whole<V1CronJob>;

export type PodSpec = CronJob['spec']['jobTemplate']['spec']['template']['spec'];
