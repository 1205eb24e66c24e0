/** Called between any two steps, so that tests can stop the process right there. */
export type FaultPoint = (point: string) => void | Promise<void>;
