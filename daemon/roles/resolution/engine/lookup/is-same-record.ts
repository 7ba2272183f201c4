// Compares the values of two records.
import type { FieldValues } from './keys.ts'

/** Whether two records have the same values. */
export function isSameRecord(left: FieldValues, right: FieldValues): boolean {
  const names = Object.keys(left)
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name])
}
