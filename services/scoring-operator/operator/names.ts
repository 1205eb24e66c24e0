/** A name that Kubernetes takes. @throws Error that says what one is. */
export function asName(text: string): string {
  if (!/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/.test(text))
    throw new Error('must be lower-case letters, digits, - and .');
  return text;
}

/** The same, or nothing. */
export const asOptionalName = (text: string): string => (text === '' ? '' : asName(text));
