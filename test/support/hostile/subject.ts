import { plainBody, type RawAnswer, type RawRequest, sendRaw } from '../raw-http.js';
import { checkAnswer } from './check.js';
import type { ApiRoute, KnownItems } from './routes.js';

/** What hostile requests are sent to. */
export interface Subject {
  /** Base URL. */
  readonly url: string;
  /** Height of the newest block. */
  readonly height: number;
  readonly known: KnownItems;
}

/** Sends a request and checks what is true of every answer. */
export async function ask(
  subject: Subject,
  target: string,
  request: Omit<RawRequest, 'target'> = {},
): Promise<RawAnswer> {
  const answer = await sendRaw(subject.url, { target, ...request });
  checkAnswer(answer, target);
  return answer;
}

/** The JSON of an answer. */
export const jsonOf = <T>(answer: RawAnswer): T => JSON.parse(plainBody(answer).toString()) as T;

/** Routes that answer with a page. */
export const listsOf = (routes: readonly ApiRoute[]): (ApiRoute & { list: string })[] =>
  routes.filter((route): route is ApiRoute & { list: string } => route.list !== undefined);
