/** A body of an HTTP message is larger than it may be; the message says in what way, after "it". */
export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge';
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
    if (length > max_bytes) throw new BodyTooLarge(`is larger than ${max_bytes} bytes`);
    parts.push(chunk);
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, length);
}
