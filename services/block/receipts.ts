/** Events that only an EVM execution leaves. */
const evmEvents = new Set(['call', 'create', 'evm']);

/** Sign mode of txs that were signed as Ethereum ones, as the node's REST API writes it. */
const ethereumSignMode = /"mode_info":\{"single":\{"mode":9999\}\}/;

/** What of a tx result tells. */
interface Execution {
  readonly code?: number;
  readonly events?:
    | readonly { readonly type: string; readonly attributes?: readonly { readonly key: string }[] | null }[]
    | null;
}

/**
 * Whether a tx must have a receipt, by what the block itself says: every successful one
 * that ran in the EVM, or was signed as an Ethereum tx, has one. Failed ones may or may not.
 *
 * @param result the tx's execution as the RPC wrote it.
 * @param decoded the tx as the REST API wrote it.
 */
export function mustHaveReceipt(result: string, decoded: string): boolean {
  const { code, events } = JSON.parse(result) as Execution;
  if (code !== 0) return false;
  const ran = (events ?? []).some(
    (event) =>
      evmEvents.has(event.type) &&
      (event.attributes ?? []).some((attribute) => attribute.key === 'msg_index'),
  );
  return ran || ethereumSignMode.test(decoded);
}
