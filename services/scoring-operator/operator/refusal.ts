import { ApiError } from '../kubernetes/api.js';

/** A field that the API server does not know is an inner error to it where an object is applied. */
const unknownField = /field not declared in schema/;

/** What the API server says of a body that is wrong, that it may not take, or that a policy of the cluster refuses. */
const statuses: readonly number[] = [400, 403, 413, 422];

/** Values that are shorter than this hold no secret, and stand in other words too. */
const least = 6;

/**
 * That the API server refused an object for what is in it, for its size, or for want of a right; undefined where it was something else.
 * The message has no value of the variables: it is shown to more people than the object.
 */
export function asRefusal(
  error: unknown,
  variables: readonly Readonly<Record<string, unknown>>[] = [],
): ApiError | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { status, message } = error;
  if (!statuses.includes(status) && !unknownField.test(message)) return undefined;
  const values = variables.map(({ value }) => value).filter((value) => typeof value === 'string');
  const longestFirst = values.filter((value) => value.length >= least).sort((a, b) => b.length - a.length);
  const shown = longestFirst.reduce((text, value) => text.replaceAll(value, '(not shown)'), message);
  return new ApiError(status, shown);
}
