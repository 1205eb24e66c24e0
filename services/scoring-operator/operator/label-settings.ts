import { type Schema, text } from '../../common/json-schema.js';
import { asJson } from './json-setting.js';
import { labels as own } from './resource.js';

export type Json = Readonly<Record<string, unknown>>;
export type Texts = Readonly<Record<string, string>>;

const name = '[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?';
const part = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
/** Values by names that may begin with the domain of whoever has given them, as Kubernetes has it. */
const named = (domainPart: string, value: Schema): Schema => ({
  type: 'object',
  propertyNames: { pattern: `^(${domainPart}(\\.${domainPart})*/)?${name}$`, maxLength: 317 },
  additionalProperties: value,
});

/** Labels. */
export const labelsSchema = named(part, text({ pattern: `^(${name})?$` }));

/** Annotations: other than those of labels, their domains may have upper-case letters. */
export const annotationsSchema = named(part.replaceAll('a-z', 'A-Za-z'), text());

/** Labels with their values. */
export const asLabelValues = asJson<Texts>(labelsSchema, 'labels');

/** Labels that are not the operator's own, by which it finds its children. */
export function asFreeLabels(given: string): Texts | undefined {
  const labels = asLabelValues(given);
  const taken = Object.values(own).filter((name) => labels?.[name] !== undefined);
  if (taken.length > 0) throw new Error(`must not have ${taken.join(', ')}: the operator sets that itself`);
  return labels;
}

/** Annotations with their values. */
export const asAnnotations = asJson<Texts>(annotationsSchema, 'annotations');
