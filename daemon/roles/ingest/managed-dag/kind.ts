// A kind of object that manages a DAG: what operations and the job need to serve each kind by the same code.
import type * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Collection, Doc } from '../../../kernel/store/store.ts'
import type { ManagedDag } from './model.ts'

export type ManagedKind<
  T extends ManagedDag = ManagedDag,
  V extends z.ZodType = z.ZodType,
  S extends z.ZodType = z.ZodType,
> = {
  /** As paths and tools name it. */
  readonly object: 'datapipeline' | 'effect'
  /** As sentences name it, with its article, and as they name many. */
  readonly noun: 'a pipeline' | 'an effect'
  readonly nouns: 'pipelines' | 'effects'
  readonly collection: Collection<T>
  /** The whole object, the state of it alone, and pages of each. */
  readonly view: V
  readonly state: S
  readonly show: (call: Call, doc: Doc<T>) => Promise<z.output<V>>
  readonly showState: (call: Call, doc: Doc<T>) => Promise<z.output<S>>
}

/** As sentences name one that is known. */
export function theNoun({ noun }: Pick<ManagedKind, 'noun'>): string {
  return noun.replace(/^an? /, 'the ')
}
