// Which label holds which: whether a thing may be told where others of another label read it.
import { join, type Label, type LabelPolicy, labelKey } from '../../kernel/label.ts'

/** Whether whoever sees the second sees the first. */
export function isWithin(inner: Label, outer: Label, policy: LabelPolicy): boolean {
  const joined = join(outer, inner, policy)
  return joined !== undefined && labelKey(joined) === labelKey(outer)
}
