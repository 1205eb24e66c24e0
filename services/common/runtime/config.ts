import { UserError } from './errors.js';

/** Which texts a parser takes, as far as that can be told without it: it may refuse some of them all the same. */
export interface Takes {
  /** Whole numbers from the first to the second. */
  readonly integers?: readonly [min: number, max: number];
  /** These words, in any case. */
  readonly words?: readonly string[];
  /** What a regular expression matches, that means the same in JavaScript and in Go. */
  readonly pattern?: string;
}

/** Reads a text; throws an Error that says what would be right. */
export type Parser<T> = ((text: string) => T) & { readonly takes?: Takes };

/** A parser that tells what it takes, so that others can look at a text before it is read. */
export const taking = <T>(takes: Takes, parse: (text: string) => T): Parser<T> =>
  Object.assign((text: string) => parse(text), { takes });

/** One environment variable: what it means, what it is when unset, and how its text is read. */
export interface Setting<T> {
  /** One or two sentences for the reference. */
  readonly doc: string;
  /** Text that stands for the default; undefined when there is none (then `parse` sees ''). */
  readonly default?: string | undefined;
  /** Other names that mean the same; the first that is set wins, after the name itself. */
  readonly aliases?: readonly string[] | undefined;
  /** Never shown: neither in an error nor in the log. */
  readonly secret?: boolean | undefined;
  readonly parse: Parser<T>;
}

// biome-ignore lint/suspicious/noExplicitAny: a map of settings of any value type
export type Settings = Readonly<Record<string, Setting<any>>>;

/** The values that belong to a map of settings. */
export type ValuesOf<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};

/** Every mistake found in the environment, together. */
export class ConfigError extends UserError {
  override name = 'ConfigError';

  constructor(readonly mistakes: readonly string[]) {
    super(
      `the configuration has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((m) => `  - ${m}`).join('\n')}`,
    );
  }
}

/** The values whose texts are right: what is unset has its default, what is wrong is absent. */
export type RightValues<S extends Settings> = Partial<ValuesOf<S>>;

/**
 * Reads settings from an environment.
 *
 * @param check looks at the values as a whole and returns further mistakes. It runs even when
 *   single ones are wrong, so that a user learns of all at once.
 * @throws ConfigError with all mistakes at once.
 */
export function loadSettings<S extends Settings>(
  settings: S,
  env: Readonly<Record<string, string | undefined>>,
  check: (values: RightValues<S>) => readonly string[] = () => [],
): ValuesOf<S> {
  const mistakes: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const used = [name, ...(setting.aliases ?? [])].find((n) => (env[n] ?? '').trim() !== '');
    const text = used === undefined ? (setting.default ?? '') : (env[used] as string).trim();
    try {
      values[name] = setting.parse(text);
    } catch (error) {
      const shown = setting.secret ? '(not shown)' : JSON.stringify(text);
      mistakes.push(`${used ?? name} is ${text === '' ? 'not set' : shown}: ${(error as Error).message}`);
    }
  }
  mistakes.push(...check(values as RightValues<S>));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return values as ValuesOf<S>;
}

/** What a parser reads, or nothing. */
export const orEmpty = <T>(parse: Parser<T>): Parser<T | ''> =>
  taking(parse.takes ?? {}, (text) => (text === '' ? '' : parse(text)));

/** A text that a regular expression matches as a whole; `what` says what that is. */
export function asMatching(pattern: string, what: string): Parser<string> {
  const whole = new RegExp(`^${pattern}$`);
  return taking({ pattern }, (text) => {
    if (!whole.test(text)) throw new Error(`must be ${what}`);
    return text;
  });
}

/** Any text. */
export const asText = (text: string): string => text;

/** A whole number within bounds, both inclusive. */
export const asInteger = (min: number, max = Number.MAX_SAFE_INTEGER): Parser<number> =>
  taking({ integers: [min, max] }, (text) => {
    const value = Number(text);
    if (!/^-?\d+$/.test(text) || value < min || value > max) {
      throw new Error(`must be a whole number from ${min} to ${max}`);
    }
    return value;
  });

/** true, false, 1 or 0 in any case. */
export const asBoolean = taking({ words: ['true', 'false', '1', '0'] }, (text): boolean => {
  if (/^(true|1)$/i.test(text)) return true;
  if (/^(false|0)$/i.test(text)) return false;
  throw new Error('must be true or false');
});

/** One of a few words. */
export const asOneOf = <const T extends string>(...words: readonly T[]): Parser<T> =>
  taking({ words }, (text) => {
    const word = words.find((w) => w === text.toLowerCase());
    if (word === undefined) throw new Error(`must be one of ${words.join(', ')}`);
    return word;
  });

/** A comma-separated list of http(s) URLs without trailing slashes; empty text is an empty list. */
export function asUrls(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const url = URL.canParse(part) ? new URL(part) : undefined;
      if (url === undefined || !/^https?:$/.test(url.protocol)) {
        throw new Error('must be http(s) URLs, separated by commas');
      }
      return part.replace(/\/+$/, '');
    });
}

/** One http(s) URL or empty. */
export function asUrl(text: string): string {
  const urls = asUrls(text);
  if (urls.length > 1) throw new Error('must be a single http(s) URL');
  return urls[0] ?? '';
}
