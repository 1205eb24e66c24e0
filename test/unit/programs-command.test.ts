import assert from 'node:assert/strict';
import { TryAgainError, UserError } from '../../services/common/runtime/errors.js';
import type { KubeApi } from '../../services/scoring-operator/kubernetes/api.js';
import { reachPrograms, type Wanted } from '../../tools/programs/reach.js';

interface Held {
  readonly metadata: { readonly name: string; readonly uid: string; readonly labels: Record<string, string> };
}

const own = { release: 'weft', part: 'program' };
const selector = 'release=weft,part=program';

/** Programs in memory. @param lingering names of those that do not go when they are deleted. */
function cluster(names: Readonly<Record<string, Record<string, string>>>, lingering: readonly string[] = []) {
  const held = new Map<string, Held>(
    Object.entries(names).map(([name, labels]) => [name, { metadata: { name, uid: `uid-${name}`, labels } }]),
  );
  const deleted: string[] = [];
  const api = {
    get: async (_resource: unknown, _namespace: string, name: string) => held.get(name),
    list: async () => ({
      metadata: { resourceVersion: '1' },
      items: [...held.values()].filter(({ metadata }) => metadata.labels['release'] === 'weft'),
    }),
    apply: async (_resource: unknown, _namespace: string, name: string, body: unknown) => {
      const { labels } = (body as Held).metadata;
      held.set(name, { metadata: { name, uid: held.get(name)?.metadata.uid ?? `uid-${name}`, labels } });
      return held.get(name);
    },
    remove: async (_resource: unknown, _namespace: string, name: string, uid: string) => {
      assert.equal(held.get(name)?.metadata.uid, uid);
      deleted.push(name);
      if (!lingering.includes(name)) held.delete(name);
    },
  } as unknown as Pick<KubeApi, 'list' | 'get' | 'apply' | 'remove'>;
  return { api, deleted, names: () => [...held.keys()].sort() };
}

const wanted = (name: string, labels: Record<string, string> = own): Wanted => ({
  metadata: { name, labels },
});

const options = { namespace: 'n', selector, patience_ms: 1_000, print: () => {} };

describe('weft programs', () => {
  it('applies what is wanted, and deletes what is its own beside it', async () => {
    const { api, names } = cluster({ old: own, kept: own, other: { release: 'else' } });
    await reachPrograms(api, { ...options, wanted: [wanted('kept'), wanted('new')] });
    assert.deepEqual(names(), ['kept', 'new', 'other']);
  });

  it('deletes all where none is wanted', async () => {
    const { api, names } = cluster({ a: own, b: own });
    await reachPrograms(api, { ...options, wanted: [] });
    assert.deepEqual(names(), []);
  });

  it('changes nothing where one of a name is somebody else’s', async () => {
    const { api, names, deleted } = cluster({ old: own, taken: { part: 'program' } });
    await assert.rejects(
      reachPrograms(api, { ...options, wanted: [wanted('new'), wanted('taken')] }),
      (error: unknown) => error instanceof UserError && /taken: .*somebody else/.test(error.message),
    );
    assert.deepEqual(names(), ['old', 'taken']);
    assert.deepEqual(deleted, []);
  });

  it('refuses a program that it could not find again', async () => {
    const { api } = cluster({});
    const lost = [wanted('a', { release: 'weft' })];
    await assert.rejects(reachPrograms(api, { ...options, wanted: lost }), UserError);
  });

  it('says which ones are still there, and asks each only once', async () => {
    const { api, deleted } = cluster({ busy: own, idle: own }, ['busy']);
    await assert.rejects(
      reachPrograms(api, { ...options, patience_ms: 300, wanted: [] }),
      (error: unknown) => error instanceof TryAgainError && error.message === 'still there: busy',
    );
    assert.deepEqual(deleted, ['busy', 'idle']);
  });

  it('does not wait where it is told not to', async () => {
    const { api } = cluster({ busy: own }, ['busy']);
    await reachPrograms(api, { ...options, patience_ms: 0, wanted: [] });
  });
});
