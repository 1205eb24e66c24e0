import type { Database } from '../../services/common/clickhouse/database.js';
import type { Stack } from './stack.js';
import { walkForward } from './walk.js';

/** Asks for every list of NFTs that the tables of a stack have something in; the answers by path. */
export async function everyNftAnswer(
  { url, get }: Stack,
  paths: readonly string[],
): Promise<Map<string, unknown>> {
  const answers = new Map<string, unknown>();
  for (const path of paths) answers.set(path, await get(path));
  // In small pages too, so that positions and not only items are compared.
  for (const path of ['/indexer/nft/v1/collections', ...paths.filter((each) => /by_account/.test(each))])
    answers.set(`${path} in pages`, await walkForward({ url, get } as Stack, `${path}?x=`, 3));
  return answers;
}

/** The path of every list of NFTs that there is something in. @param name the database of their tables. */
export async function everyNftPath(database: Database, name: string): Promise<string[]> {
  const options = { name: 'test.look' };
  const tokens = await database.rows<{ collection: string; id_key: string; owner: string }>(
    `SELECT DISTINCT collection, id_key, owner FROM ${name}.history ORDER BY collection, id_key, owner`,
    {},
    options,
  );
  const names = await database.rows<{ name: string }>(
    `SELECT DISTINCT name FROM ${name}.shown_collections WHERE name != '' ORDER BY name`,
    {},
    options,
  );
  const each = (values: readonly string[]): string[] => [...new Set(values)];
  const collections = each(tokens.map(({ collection }) => `0x${collection}`));
  const owners = each(tokens.map(({ owner }) => owner)).filter((owner) => /^[0-9a-f]+$/.test(owner));
  const base = '/indexer/nft/v1';
  return [
    ...collections.flatMap((collection) => [
      `${base}/tokens/by_collection/${collection}?order_by=token_id`,
      `${base}/tokens/by_collection/${collection}?order_by=height`,
    ]),
    ...owners.flatMap((owner) => [
      `${base}/tokens/by_account/0x${owner}`,
      `${base}/collections/by_account/0x${owner}`,
    ]),
    ...names.map((row) => `${base}/collections/by_name/${encodeURIComponent(row.name)}`),
  ];
}
