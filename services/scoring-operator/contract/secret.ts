import { inspect } from 'node:util';

/** A text that is told only on purpose: printing, logging or serialising it shows that there is one, not which. */
export interface Secret {
  /** The text itself. What takes it must not keep it where it can be printed. */
  reveal(): string;
}

const shown = '[secret]';

/** Hides a text. It lives in a closure, so that no dump of the object has it. */
export function hide(text: string): Secret {
  return Object.freeze({
    reveal: () => text,
    toString: () => shown,
    toJSON: () => shown,
    [inspect.custom]: () => shown,
  });
}
