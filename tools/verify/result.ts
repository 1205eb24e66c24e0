/** What the node's block_results say of a tx, as far as it is compared. */
export interface Result {
  readonly code: number;
  readonly codespace?: string | null;
  readonly data?: string | null;
  readonly gas_used?: string;
  readonly gas_wanted?: string;
  readonly events?: readonly unknown[] | null;
}

/** Parses one of them. @throws SyntaxError for what is no JSON. */
export const parseResult = (text: string): Result => JSON.parse(text) as Result;
