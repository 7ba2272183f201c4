// Brings stored values into the present form of texts, where nobody has the values they were made from.
import type { Lens } from '../../lens/model.ts'
import { hasScriptRules } from '../text/normalise-scripts.ts'
import { type FormedValues, formOf, isOfOtherForm } from '../text/text-form.ts'
import type { FieldValues } from './keys.ts'
import { normaliseRecord } from './normalise-record.ts'

/**
 * Normalises the stored values themselves. What an earlier form had dropped is not in them, such as the vowel marks of Devanagari
 * in form 1: such a value is like a new one of the same name, and not equal. Returns values of the present form as they are.
 */
export function reformValues<V extends FormedValues>(lens: Lens, formed: V): V {
  if (!isOfOtherForm(formed)) return formed
  const normalised = normaliseRecord(readingStoredValues(lens, Object.keys(formed.values)), formed.values) ?? {}
  const values: FieldValues = Object.fromEntries(
    Object.entries(formed.values).flatMap(([name, value]) => {
      const next = hasScriptRules(value) ? normalised[name] : value
      return next === undefined ? [] : [[name, next] as const]
    }),
  )
  const { text_form: _form, ...rest } = formed
  return { ...rest, values, ...formOf(values) } as V
}

/** The lens with these fields alone, each in the column of its own name. */
export function readingStoredValues({ swapped: _swapped, ...lens }: Lens, names: readonly string[]): Lens {
  const fields = lens.fields.flatMap(({ columns: _columns, join: _join, ...field }) =>
    names.includes(field.name) ? [field as Lens['fields'][number]] : [],
  )
  return { ...lens, fields }
}
