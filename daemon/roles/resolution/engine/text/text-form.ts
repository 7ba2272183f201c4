// The normal form of texts: its number, and which stored values it concerns.
import { hasScriptRules } from './normalise-scripts.ts'

/**
 * Rises when the form of any value changes, so that sites which exchange blinded values notice that theirs differ, and stored values
 * are not compared with those of another form: 2 since scripts have rules of their own (0090).
 */
export const text_form = 2

/** Normalised values, and the form they have if it matters; absent for those that an earlier release stored. */
export type FormedValues = {
  readonly values: Readonly<Record<string, string>>
  readonly text_form?: number | undefined
}

/** The field that states the form of values; absent for values that are equal in any form, such as those of Latin letters. */
export function formOf(values: FormedValues['values']): { text_form?: number } {
  return Object.values(values).some(hasScriptRules) ? { text_form } : {}
}

/** Whether values may differ from equal ones that are normalised now. */
export function isOfOtherForm({ values, text_form: form }: FormedValues): boolean {
  return form !== text_form && Object.values(values).some(hasScriptRules)
}
