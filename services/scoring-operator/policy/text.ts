import { isScalar, parseDocument, visit } from 'yaml';

/** A text that is neither YAML nor JSON, with where it goes wrong. */
export class PolicyTextError extends Error {
  override name = 'PolicyTextError';

  constructor(
    message: string,
    /** The same without a word of the text, which may be a secret in the wrong place. */
    readonly place = '',
  ) {
    super(message);
  }
}

/**
 * The value of a YAML or JSON text. Numbers keep what is written: a whole one below 2^53 is
 * a number, any other its own text, so that neither 0.1 nor 10^18 nor an address without
 * quotes is changed by a float on its way.
 *
 * @throws PolicyTextError
 */
export function readPolicyText(text: string): unknown {
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: true });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined)
    throw new PolicyTextError(
      problem.message.split('\n')[0] ?? problem.message,
      ` at line ${problem.linePos?.[0].line ?? '?'} (${problem.code})`,
    );
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value !== 'number' && typeof scalar.value !== 'bigint') return;
      const written = scalar.source ?? String(scalar.value);
      const isPlain = /^(0|-?[1-9]\d*)$/.test(written) && Number.isSafeInteger(Number(written));
      scalar.value = isPlain ? Number(written) : written;
    },
  });
  if (document.contents === null || isScalar(document.contents)) return document.contents?.value ?? null;
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new PolicyTextError(error instanceof Error ? error.message : String(error));
  }
}
