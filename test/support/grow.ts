/** Adds so many blocks to those of a made-up chain. Returns the new ones. */
export function grow<B>(chain: { next(last: B | undefined): B }, blocks: B[], count: number): readonly B[] {
  const before = blocks.length;
  while (blocks.length < before + count) blocks.push(chain.next(blocks.at(-1)));
  return blocks.slice(before);
}
