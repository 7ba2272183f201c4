// An operator of the catalog: what a task of a DAG does, declared by its parameters.
import type * as z from 'zod'
import type { ColumnSet, DerivedColumns } from './column-set.ts'

export type Operator<P extends z.ZodType = z.ZodType> = {
  /** As tasks name it. */
  readonly name: string
  readonly summary: string
  /** Datasets that it takes from the tasks before it. */
  readonly inputs: { readonly min: number; readonly max: number }
  /** Whether it makes a dataset. */
  readonly makes_dataset: boolean
  /** The role of the site that it requests: the job of the run performs it, and no thread or worker. */
  readonly requests?: string
  /** Parameters that the author of a DAG sets. */
  readonly params: P
  /** Finds what is wrong with the parameters, by the tasks before that make datasets. Absent: the schema says all. */
  findInputFault?(params: z.output<P>, inputs: readonly string[]): string | undefined
  /**
   * Derives the columns that it makes from those of its inputs. The check of a deployment calls it with what is known by then, and
   * each try with all columns. Absent: nothing is known before it runs.
   */
  deriveColumns?(params: z.output<P>, inputs: readonly ColumnSet[]): DerivedColumns
}

export function operator<P extends z.ZodType>(declaration: Operator<P>): Operator<P> {
  return declaration
}
