import { type MigrationMode, prepareTables, type Target } from '../clickhouse/migrate.js';
import { messageOf } from '../runtime/errors.js';
import { type FaultPoint, sleep } from '../runtime/lifecycle.js';
import { createFence, type Fence, type Superseded } from '../writer/fence.js';
import { prepareWriters, readRowEpoch } from '../writer/writers.js';
import { type Generations, prepareGenerations, readGenerations, targetOf } from './generations.js';
import { createInUse, type InUse } from './in-use.js';
import type { GenerationTables, ReindexEnvironment } from './tables.js';
import { createWriter, type Reindexer } from './writer.js';

export interface GenerationsOptions<Tables extends GenerationTables> extends ReindexEnvironment<Tables> {
  /** Whether this process writes the tables; one process does. */
  readonly ingests: boolean;
  readonly migrations: MigrationMode;
  /** How long replaced tables stay, in milliseconds. */
  readonly keep_ms: number;
  /** How long a writer is silent before another one takes over, in milliseconds. */
  readonly lease_ms: number;
  /** Called when another process has taken over the writing. */
  readonly onSuperseded: (error: Superseded) => void;
  /** Told what keeps a process that only serves from looking at the tables; '' once nothing does. */
  readonly onLook: (hindrance: string) => void;
  /** For tests: called between any two steps. */
  readonly fault?: FaultPoint | undefined;
}

/** A service's tables, whichever generation is in use. */
export interface OpenedGenerations<Tables> {
  /** What calls are answered from now; a call that has begun keeps what it began with. */
  current(): Tables;
  /** Undefined where another process writes. */
  readonly reindexer: Reindexer | undefined;
  /** What keeps a process that writes from writing; '' once nothing does. */
  notReadyReason(): string;
  /** Does the work of the process until the signal. */
  run(): Promise<void>;
}

/** Opens the generation in use, migrated; nothing is written before `run`. */
export async function openGenerations<Tables extends GenerationTables>(
  options: GenerationsOptions<Tables>,
): Promise<OpenedGenerations<Tables>> {
  const { service, database, signal, fault = () => {} } = options;
  await prepareGenerations(database, service.base, options.migrations);
  const state = await readGenerations(database, service.base);
  const target = targetOf(service.base, state.in_use);
  await prepareTables(database, service.migrations, target, options.migrations);
  const fence = await openFence(options, target);
  const inUse = createInUse(service, database, target, fence, signal);
  await inUse.current().look();
  const common = { current: inUse.current, notReadyReason: () => fence.notReadyReason };
  if (!options.ingests) return { ...common, reindexer: undefined, run: () => follow(options, state, inUse) };
  const writer = createWriter({ ...options, fault, inUse, state, fence });
  return { ...common, reindexer: writer, run: () => writer.run() };
}

/** The fence of all generations. @param inUse the tables that a version without a fence would write. */
async function openFence<Tables extends GenerationTables>(
  { service, database, log, metrics, migrations, lease_ms, onSuperseded }: GenerationsOptions<Tables>,
  inUse: Target,
): Promise<Fence> {
  await prepareWriters(database, service.base, migrations);
  return createFence({
    ...{ database, target: service.base, scope: '', lease_ms, log, onSuperseded },
    what: `the tables of the ${service.name} service`,
    rowEpoch: () => readRowEpoch(database, inUse),
    onEpoch: (epoch) => metrics.writerEpoch.set({ service: service.name }, epoch),
  });
}

/** How often a process that only serves looks, in milliseconds. */
const look_ms = 250;

/** Shows what another process writes, and the generation that it has put in use. */
async function follow<Tables extends GenerationTables>(
  options: GenerationsOptions<Tables>,
  state: Generations,
  inUse: InUse<Tables>,
): Promise<void> {
  const { service, database, log, signal, onLook } = options;
  let shown = state.in_use;
  while (!signal.aborted) {
    try {
      const { in_use } = await readGenerations(database, service.base);
      if (in_use !== shown) {
        const tables = inUse.open(targetOf(service.base, in_use));
        await tables.look();
        inUse.show(tables);
        shown = in_use;
        log.info({ generation: in_use }, 'the rebuilt tables are in use');
      } else await inUse.current().look();
      onLook('');
    } catch (error) {
      onLook(`the database does not answer: ${messageOf(error)}`);
      log.warn({ err: error }, `the tables do not answer: ${messageOf(error)}`);
    }
    await sleep(look_ms, signal);
  }
}
