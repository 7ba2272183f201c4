// Finds the two name fields of a lens that may be written in either order.
import type { Lens } from '../../lens/model.ts'

/** Returns the positions of the two fields among `fields`; undefined unless the data has both. */
export function findSwappedFields(
  { swapped }: Pick<Lens, 'swapped'>,
  fields: readonly { readonly name: string }[],
): readonly [number, number] | undefined {
  const [first = -1, second = -1] = (swapped ?? []).map((name) => fields.findIndex((field) => field.name === name))
  return first >= 0 && second >= 0 ? [first, second] : undefined
}
