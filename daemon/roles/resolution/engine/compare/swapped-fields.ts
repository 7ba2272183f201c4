// The two name fields that people write in either order.
import type { Lens } from '../../lens/model.ts'

/** Numbers of the swapped fields among `fields`; undefined unless the data has both. */
export function findSwappedFields(
  { swapped }: Pick<Lens, 'swapped'>,
  fields: readonly { readonly name: string }[],
): readonly [number, number] | undefined {
  const [one = -1, other = -1] = (swapped ?? []).map((name) => fields.findIndex((field) => field.name === name))
  return one >= 0 && other >= 0 ? [one, other] : undefined
}
