/** A body of an HTTP message that is larger than it may be. */
export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge';

  constructor(readonly max_bytes: number) {
    super(`it is larger than ${max_bytes} bytes`);
  }
}

/**
 * Reads a body while it arrives, and stops reading at the first byte that is too much.
 *
 * @param chunks the body; it is destroyed when it is too large, so that the sender stops.
 * @throws BodyTooLarge
 */
export async function readBody(chunks: AsyncIterable<Buffer>, max_bytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > max_bytes) throw new BodyTooLarge(max_bytes);
    parts.push(chunk);
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, length);
}
