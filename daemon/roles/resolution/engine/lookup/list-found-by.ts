// Names the keys by which a lookup or an arrival found a pair; apart from the comparison, which only the matching thread loads.
import type { Lens } from '../../lens/model.ts'
import { unblocked } from '../block/rule-names.ts'
import { describeLookupKey, type FieldValues } from './keys.ts'
import type { LookupIndex } from './lookup-index.ts'

/** Lists the keys by which a pair was found; a pair without a shared key was compared for its clusters. */
export function listFoundBy(
  { lens, index }: { readonly lens: Lens; readonly index: Pick<LookupIndex, 'listSharedKeys'> },
  left: FieldValues,
  right: FieldValues,
): string[] {
  const keys = index.listSharedKeys(left, right).map((key) => describeLookupKey(lens, key))
  return keys.length > 0 ? [...new Set(keys)] : [unblocked]
}
