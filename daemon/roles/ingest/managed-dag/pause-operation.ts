// Declares an operation that pauses the DAG of an object, or resumes it.
import type * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import type { ManagedKind } from './kind.ts'
import type { ManagedDag } from './model.ts'
import { setPaused } from './set-paused.ts'

export function pauseOperation<T extends ManagedDag, V extends z.ZodType>(kind: ManagedKind<T, V>, isPaused: boolean) {
  const { object, noun, view } = kind
  return operation({
    summary: `${isPaused ? 'Pause' : 'Resume'} the DAG of ${noun}`,
    method: 'POST',
    tool: `${object}_${isPaused ? 'pause' : 'unpause'}`,
    input: uidInput,
    output: view,
    errors: ['not_found', 'not_your_tenant', 'wrong_state'],
    allow: 'ingest:run',

    async run(call, { uid }) {
      const doc = await setPaused(call, kind, uid, isPaused)
      return isRefusal(doc) ? doc : await kind.show(call, doc)
    },
  })
}
