// An operator of the catalog: what a task of a DAG does, declared by its parameters.
import type * as z from 'zod'

export type Operator<P extends z.ZodType = z.ZodType> = {
  /** As tasks name it. */
  readonly name: string
  readonly summary: string
  /** Datasets that it takes from the tasks before it. */
  readonly inputs: { readonly min: number; readonly max: number }
  /** Whether it makes a dataset. */
  readonly makes_dataset: boolean
  /** Parameters that the author of a DAG sets. */
  readonly params: P
}

export function operator<P extends z.ZodType>(declaration: Operator<P>): Operator<P> {
  return declaration
}
