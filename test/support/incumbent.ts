import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packageRoot } from '../../services/common/runtime/paths.js';
import type { Facts, RecordingName } from './facts.js';

/** An answer to a path. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** undefined when the text is no JSON. */
  readonly json: unknown;
}

/** What the incumbent answered about a recorded chain, by path. */
export function readIncumbent(name: RecordingName): ReadonlyMap<string, Answer> {
  const file = join(packageRoot, 'test/fixtures/recordings', name, 'incumbent-answers.jsonl.gz');
  const lines = gunzipSync(readFileSync(file)).toString().split('\n');
  return new Map(
    lines
      .filter((line) => line !== '')
      .map((line) => {
        const { path, status, body } = JSON.parse(line) as { path: string; status: number; body: string };
        return [path, answerOf(status, body)];
      }),
  );
}

/** An answer with its JSON, if it is some. */
export function answerOf(status: number, text: string): Answer {
  try {
    return { status, text, json: JSON.parse(text) };
  } catch {
    return { status, text, json: undefined };
  }
}

/** What reasons look at in a tx. */
export interface Tx {
  readonly events: readonly { readonly type: string; readonly attributes: readonly Attribute[] }[];
  readonly tx: { readonly body: { readonly messages: readonly { readonly '@type': string }[] } };
}
interface Attribute {
  readonly key: string;
  readonly value: string;
}
/** What reasons look at in a block. */
export interface Block {
  readonly proposer: { readonly operator_address: string };
}
/** A page of any list, its items under the list's name. */
export interface Page {
  readonly pagination: { readonly next_key: string; readonly total: string };
  readonly [list: string]: unknown;
}

/** One path, asked of both. */
export interface Asked {
  readonly recording: RecordingName;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly theirs: Answer;
  readonly ours: Answer;
  readonly facts: Facts;
  /** Header times by height. */
  readonly times: ReadonlyMap<number, string>;
  /** All that the incumbent answered, by path. */
  readonly recorded: ReadonlyMap<string, Answer>;
  /** Asks our stack something else. */
  readonly ask: (path: string) => Promise<Page>;
}
