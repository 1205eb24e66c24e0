/** How long texts of contracts may be, in bytes of UTF-8; each is a setting of the same name. */
export interface TextLimits {
  /** A longer uri is cut. */
  readonly NFT_URI_BYTES: number;
  /** A longer name of a collection, or text in place of an owner, is cut. */
  readonly NFT_NAME_BYTES: number;
  /** A token whose id is longer is left out. */
  readonly NFT_ID_BYTES: number;
}

/** The limits where nothing else is set. */
export const defaultTextLimits: TextLimits = {
  NFT_URI_BYTES: 16 * 1024,
  NFT_NAME_BYTES: 1024,
  NFT_ID_BYTES: 4 * 1024,
};

/** The longest beginning of a text that has so many bytes of UTF-8 at most, and ends with a whole character. */
export function cutText(text: string, most: number): string {
  // No character has more than three bytes for each unit of a JavaScript string.
  if (text.length * 3 <= most) return text;
  // The beginning is enough to look at: no unit has less than one byte.
  const bytes = Buffer.from(text.slice(0, most + 1));
  if (bytes.length <= most) return text;
  let end = most;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** Whether a text has more bytes of UTF-8 than that. */
export const isLonger = (text: string, most: number): boolean =>
  text.length > most || (text.length * 3 > most && Buffer.byteLength(text) > most);
