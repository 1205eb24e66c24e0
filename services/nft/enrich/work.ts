import type { AccountKey } from '../../common/chain/address.js';
import type { Database } from '../../common/clickhouse/database.js';
import type { DecodeProblem } from '../../common/runtime/log.js';
import { readItems } from '../read/items.js';
import type { Reading } from '../read/reader.js';
import { readShown } from '../read/shown.js';
import { readSaidUris } from '../read/tokens.js';
import type { Details, Job, UriRow } from '../store/details.js';
import { lookUpClasses, lookUpOrigins, lookUpTokens } from '../store/lookups.js';
import type { Tables } from '../store/tables.js';
import { heightOf } from '../store/token.js';
import { type Ask, type CollectionName, tokenName } from '../store/types.js';
import { cutText, isLonger, type TextLimits } from '../text-limits.js';
import { afterAllKeys, beforeAllKeys, tokenIdOf } from '../token-key.js';
import type { Earlier } from './earlier.js';
import { jobAfter, jobDone, jobNow, type Outcome } from './outcome.js';
import { lookUpOpenJobs } from './queue.js';
import type { RangePlanner } from './ranges.js';
import type { DetailSource } from './source.js';

export interface WorkOptions {
  readonly database: Database;
  readonly tables: Tables;
  readonly source: DetailSource;
  /** Says which ranges of tokens are asked about now. */
  readonly ranges: RangePlanner;
  /** How often the node may refuse a detail before it is given up. */
  readonly attempts: number;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** How long texts may be; what is longer is cut. */
  readonly limits: TextLimits;
  /** Takes what was cut. */
  readonly report: (problem: DecodeProblem) => void;
  /** While tables are rebuilt: what those in use know, shown until the node says it again. */
  readonly earlier?: (() => Earlier | undefined) | undefined;
}

/** What is worked off: an ask of the chain, or a job that is due. */
export type Task = Ask & { readonly attempts?: number };

/** What came of tasks: rows to write, and whether the node answered at all. */
export interface Worked {
  readonly details: Details;
  /** No answer to anything: the node is away, and the tasks had better stay as they are. */
  readonly isAway: boolean;
}

/** Tokens of ranges that are asked for in one go; the rest stays a job. */
const tokensOfRanges = 500;

/** A text of a contract as it is kept. */
function kept(
  { limits, report }: Pick<WorkOptions, 'limits' | 'report'>,
  limit: 'NFT_URI_BYTES' | 'NFT_NAME_BYTES',
  source: AccountKey,
  text: string,
): string {
  const most = limits[limit];
  if (!isLonger(text, most)) return text;
  const what = limit === 'NFT_URI_BYTES' ? 'a uri' : 'the name';
  report({ source, reason: `${what} is longer than ${most} bytes: it is cut (${limit})`, limit });
  return cutText(text, most);
}

/**
 * The block that a node must have to be believed: the last one here, so that what an earlier
 * question has learnt is never replaced by something older.
 */
const heightToAsk = ({ end }: Reading, about: readonly { readonly at: number }[]): number =>
  about.reduce((height, { at }) => Math.max(height, heightOf(at)), heightOf(end));

/** Asks the node about collections first, then about tokens of those that are shown. */
export async function workOff(
  options: WorkOptions,
  tasks: readonly Task[],
  areJobs: boolean,
  reading: Reading,
): Promise<Worked> {
  const earlier = options.earlier?.();
  const named = await nameCollections(options, earlier, tasks, areJobs, reading);
  const told = await tellUris(
    options,
    earlier,
    tasks,
    areJobs,
    reading,
    new Set(named.names.map(({ collection }) => collection)),
  );
  return {
    details: {
      names: named.names,
      uris: told.uris,
      jobs: [...named.jobs, ...told.jobs],
    },
    // A rebuild does not wait for a node that is away: what it would say is asked for again later.
    isAway: earlier === undefined && named.answered + told.answered === 0 && named.asked + told.asked > 0,
  };
}

interface Counted {
  readonly asked: number;
  /** Of those asked, how many the node answered or refused. */
  readonly answered: number;
}

const countAnswered = (outcomes: readonly Outcome<unknown>[]): Counted => ({
  asked: outcomes.length,
  answered: outcomes.filter(({ is }) => is !== 'unreached').length,
});

/** The last of several tasks about the same thing. */
function latest(tasks: readonly Task[], subject: Ask['subject']): Task[] {
  const byKey = new Map<string, Task>();
  for (const task of tasks) {
    if (task.subject === subject) byKey.set(`${task.collection}/${task.first_key}/${task.last_key}`, task);
  }
  return [...byKey.values()];
}

async function nameCollections(
  options: WorkOptions,
  earlier: Earlier | undefined,
  tasks: readonly Task[],
  areJobs: boolean,
  reading: Reading,
): Promise<Counted & Pick<Details, 'names' | 'jobs'>> {
  const { database, tables, source, attempts, signal, now } = options;
  const wanted = latest(tasks, 'collection');
  const addresses = wanted.map(({ collection }) => collection);
  // A rollback to between two tasks leaves the name, which is then asked for again.
  const first = new Map<AccountKey, number>();
  for (const { subject, collection, at } of tasks)
    if (subject === 'collection') first.set(collection, Math.min(at, first.get(collection) ?? at));
  const origins = await lookUpOrigins(database, tables, addresses);
  const before = await readShown(reading, addresses);
  const outcomes = await source.collections(addresses, heightToAsk(reading, wanted), signal);
  const known = await earlier?.collections(unansweredOf(addresses, outcomes));
  const [said, jobs]: [CollectionName[], Job[]] = [[], []];
  for (const [index, task] of wanted.entries()) {
    const { collection, at } = task;
    const [outcome, origin] = [outcomes[index], origins.get(collection)];
    if (outcome === undefined || origin === undefined) {
      if (areJobs) jobs.push(jobDone(task)); // the chain was rolled back below it
      continue;
    }
    const isAgain = areJobs || at > origin.told_at;
    if (outcome.is !== 'answer') jobs.push(jobAfter(task, outcome, now(), attempts));
    else if (isAgain) jobs.push(jobDone(task));
    const value = outcome.is === 'answer' ? outcome.value : known?.get(collection);
    if (value === undefined) continue;
    const name = kept(options, 'NFT_NAME_BYTES', collection, value.name);
    said.push({ collection, name, origin_name: '', creator: value.creator, at: first.get(collection) ?? at });
    // Its tokens were passed over while it was not shown.
    if (isAgain && !before.has(collection)) jobs.push(jobNow(allTokens(collection, at)));
  }
  const classes = await lookUpClasses(
    database,
    tables,
    said.map(({ name }) => name),
  );
  return {
    names: said.map((row) => ({ ...row, origin_name: classes.get(row.name) ?? '' })),
    jobs,
    ...countAnswered(outcomes),
  };
}

/** Those of several that were asked about and not answered. */
const unansweredOf = <T>(items: readonly T[], outcomes: readonly Outcome<unknown>[]): T[] =>
  items.filter((_, index) => outcomes[index]?.is !== 'answer');

const allTokens = (collection: AccountKey, at: number): Ask => ({
  ...{ at, subject: 'tokens', collection, first_key: beforeAllKeys, last_key: afterAllKeys },
});

/** A token to ask about, and the task that wants it. */
interface WantedToken {
  readonly collection: AccountKey;
  readonly id_key: string;
  readonly object: string;
  /** Place that the answer is good for: a task can be older than the token. */
  readonly at: number;
  /** Position of its last mint. */
  readonly minted_at: number;
  readonly task: Task;
  /** Whether it is not asked about for the first time. */
  readonly isAgain: boolean;
}

async function tellUris(
  options: WorkOptions,
  earlier: Earlier | undefined,
  tasks: readonly Task[],
  areJobs: boolean,
  reading: Reading,
  justShown: ReadonlySet<AccountKey>,
): Promise<Counted & Pick<Details, 'uris' | 'jobs'>> {
  const { source, attempts, signal, now } = options;
  const wanted = latest(tasks, 'tokens');
  const shown = await readShown(reading, [...new Set(wanted.map(({ collection }) => collection))]);
  // Tokens of what is no collection are not asked for: all are, should it become one.
  const [of, dropped]: [Task[], Task[]] = [[], []];
  for (const task of wanted)
    (shown.has(task.collection) || justShown.has(task.collection) ? of : dropped).push(task);
  const jobs: Job[] = areJobs ? dropped.map(jobDone) : [];
  const singles = of.filter(({ first_key, last_key }) => first_key === last_key);
  const tokens = await aliveTokens(options, singles);
  // Nobody asks about a token that was burnt meanwhile.
  const alive = new Set(tokens.map(({ task }) => task));
  if (areJobs) jobs.push(...singles.filter((task) => !alive.has(task)).map(jobDone));
  const planned = await options.ranges.plan(
    of.filter(({ first_key, last_key }) => first_key !== last_key),
    areJobs,
  );
  for (const job of planned.jobs) jobs.push(job);
  let left = tokensOfRanges;
  for (const range of planned.due) {
    if (left <= 0) {
      // A range can have any number of tokens: those of the next ones are asked for another time.
      jobs.push(jobNow(range));
      continue;
    }
    const { found, rest } = await tokensIn(options, range, reading, left);
    for (const token of found) tokens.push(token);
    left -= found.length;
    if (rest !== undefined) jobs.push(jobNow(rest));
  }
  const questions = tokens.map(({ collection, id_key, object }) => ({
    ...{ collection, object, token_id: tokenIdOf(id_key) },
  }));
  const outcomes = await source.uris(questions, heightToAsk(reading, tokens), signal);
  const known = await earlier?.uris(unansweredOf(tokens, outcomes));
  const uris: UriRow[] = [];
  // Of a token that was asked about before, that may have failed: this answer ends it.
  const again = tokens.filter(({ isAgain }) => isAgain);
  const open = await lookUpOpenJobs(options.database, options.tables, again);
  const before = new Map(
    (await readSaidUris(reading, again)).map((uri) => [tokenName(uri.collection, uri.id_key), uri]),
  );
  for (const [index, { collection, id_key, at, minted_at, task }] of tokens.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) continue;
    const own: Task = { ...task, first_key: id_key, last_key: id_key };
    if (outcome.is === 'answer') {
      // Nothing to say voids what was said before.
      const { value } = outcome;
      const uri = kept(options, 'NFT_URI_BYTES', collection, value ?? '');
      const is_void = value === undefined;
      const said = before.get(tokenName(collection, id_key));
      const isKnown =
        said !== undefined && said.at >= minted_at && said.is_void === is_void && said.uri === uri;
      if (!isKnown) uris.push({ collection, id_key, uri, is_void, at });
      if (open.has(tokenName(collection, id_key))) jobs.push(jobDone(own));
    } else {
      jobs.push(jobAfter(own, outcome, now(), attempts));
      const said = known?.get(tokenName(collection, id_key));
      if (said !== undefined)
        uris.push({
          ...{ collection, id_key, is_void: false, at: Math.min(said.at, task.at) },
          uri: kept(options, 'NFT_URI_BYTES', collection, said.uri),
        });
    }
  }
  return { uris, jobs: lastOfEach(jobs), ...countAnswered(outcomes) };
}

/** Jobs without those that a later one of the same key replaces. */
const lastOfEach = (jobs: readonly Job[]): Job[] => [
  ...new Map(
    jobs.map((job) => [JSON.stringify([job.collection, job.first_key, job.last_key]), job]),
  ).values(),
];

/** The tokens of tasks that exist now: the node knows nothing of burnt ones. */
async function aliveTokens(
  { database, tables }: WorkOptions,
  tasks: readonly Task[],
): Promise<WantedToken[]> {
  const places = tasks.map(({ collection, first_key }) => ({ collection, id_key: first_key }));
  const states = await lookUpTokens(database, tables, places);
  return tasks.flatMap((task) => {
    const { collection, first_key: id_key } = task;
    const state = states.get(tokenName(collection, id_key));
    if (state === undefined || state.burnt) return [];
    const at = Math.max(task.at, state.minted_at);
    const isAgain = task.attempts !== undefined || task.at !== state.minted_at;
    return [{ collection, id_key, object: state.object, at, minted_at: state.minted_at, task, isAgain }];
  });
}

/** The first tokens of a range, and what is left of it. */
async function tokensIn(
  options: WorkOptions,
  range: Task,
  reading: Reading,
  most: number,
): Promise<{ found: WantedToken[]; rest: Ask | undefined }> {
  const { collection, first_key, last_key } = range;
  const items = await readItems(
    reading,
    { list: 'collection', scope: collection },
    // Beyond this there is the key itself: addresses sort after the empty text.
    {
      beyond: { position: [0, first_key, ''], side: 'after' },
      descending: false,
      offset: 0,
      limit: most + 1,
    },
  );
  const inside = items.filter(({ id_key }) => Buffer.from(id_key).compare(Buffer.from(last_key)) <= 0);
  const found = await aliveTokens(
    options,
    inside.slice(0, most).map(({ id_key }) => ({ ...range, first_key: id_key, last_key: id_key })),
  );
  const next = inside[most];
  return {
    found: found.map((token) => ({
      ...token,
      task: { ...token.task, first_key, last_key, attempts: 0 },
      isAgain: true,
    })),
    rest: next === undefined ? undefined : { ...range, first_key: next.id_key },
  };
}
