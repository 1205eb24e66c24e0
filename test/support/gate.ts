/** Something to wait for, until it is opened. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** Makes one that is shut. */
export function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** Holds whoever comes first to a point between two writes, until the gate is opened. */
export interface Hold extends Gate {
  readonly fault: (point: string) => Promise<void>;
  readonly isReached: () => boolean;
}

/** Makes one that nobody has come to. */
export function holdAt(point: string): Hold {
  const gate = createGate();
  let isReached = false;
  return {
    ...gate,
    isReached: () => isReached,
    async fault(at) {
      if (at !== point || isReached) return;
      isReached = true;
      await gate.opened;
    },
  };
}
