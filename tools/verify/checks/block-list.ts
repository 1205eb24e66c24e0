import { ApiUnavailable } from '../api.js';
import { differencesOf, type HeightCheck } from '../check.js';

interface Header {
  readonly height: string;
}

/** The list of blocks has each height once. */
export const blockList: HeightCheck = {
  name: 'block list',
  appliesTo: () => true,
  async run({ api }, height) {
    const last = await api.get<{ blocks: Header[] }>('/indexer/block/v1/blocks?pagination.limit=1');
    const tip = Number(last?.blocks[0]?.height ?? 0);
    if (tip < height) return { compared: 0, differences: [] };
    // The list may grow meanwhile, by some blocks at its beginning.
    const page = await api
      .get<{ blocks: Header[] }>(
        `/indexer/block/v1/blocks?pagination.limit=20&pagination.offset=${Math.max(0, tip - height - 5)}`,
      )
      .catch((error: unknown) => {
        // A page of damaged tables may not be there at all: the check of blocks tells why.
        if (error instanceof ApiUnavailable && error.isAnswered) return undefined;
        throw error;
      });
    // One that is missing is told by the check of blocks.
    const times = page?.blocks.filter((block) => Number(block.height) === height).length ?? 0;
    return {
      compared: 1,
      differences: times > 1 ? differencesOf(`block ${height}`, { 'times in the list': [times, 1] }) : [],
    };
  },
};
