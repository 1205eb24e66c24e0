import { type Schema, text } from '../../common/json-schema.js';
import { asJson } from './json-setting.js';
import { labels as own } from './resource.js';

export type Json = Readonly<Record<string, unknown>>;
export type Texts = Readonly<Record<string, string>>;

/** A name with, or without, the domain of whoever has given it, as keys of labels and annotations are. */
const key = /^([a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const labelValue = '^([A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?)?$';
const named = (value: Schema): Schema => ({
  type: 'object',
  propertyNames: { pattern: key.source },
  additionalProperties: value,
});

/** Labels with their values. */
export const asLabelValues = asJson<Texts>(named(text({ pattern: labelValue })), 'labels');

/** Labels that are not the operator's own, by which it finds its children. */
export function asFreeLabels(given: string): Texts | undefined {
  const labels = asLabelValues(given);
  const taken = Object.values(own).filter((name) => labels?.[name] !== undefined);
  if (taken.length > 0) throw new Error(`must not have ${taken.join(', ')}: the operator sets that itself`);
  return labels;
}

/** Annotations with their values. */
export const asAnnotations = asJson<Texts>(named(text()), 'annotations');
