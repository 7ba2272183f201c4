// Parts: objects that boot supplies to one role beyond the environment that all roles have.

/** A typed name for a part. */
export type PartKey<P> = { readonly name: string; readonly phantom?: P }

export function part<P>(name: string): PartKey<P> {
  return { name }
}
