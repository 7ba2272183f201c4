// Waits for the check of the content of a pipeline or an effect.
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { CommandFailure } from '../program/command.ts'
import type { ServiceClient } from './client.ts'

const max_looks = 3_000
const poll_interval_ms = 200

const checkedObject = z.looseObject({
  ...{ dag_id: z.string(), status: z.string(), name: z.string().optional() },
  fault: z.looseObject({ reason: z.string(), path: z.string().optional(), line: z.int().optional() }).optional(),
})
type CheckedObject = z.output<typeof checkedObject>

/** `operation` reads the object. The check goes on in the service if the command is interrupted. Throws `CommandFailure` (1) after ten minutes. */
export async function waitForCheck(
  api: ServiceClient,
  operation: string,
  uid: string,
  onWait: (line: string) => void = () => undefined,
): Promise<CheckedObject> {
  try {
    for (let look = 0; look < max_looks; look++) {
      const object = checkedObject.parse(await api.call(operation, { uid }))
      if (object.status !== 'pending_validation') return object
      onWait(`the content of ${object.name ?? object.dag_id} is checked`)
      await pause(poll_interval_ms)
    }
  } finally {
    onWait('')
  }
  throw new CommandFailure(1, 'the check has not ended within 10 minutes', 'look again: platform ingest pipelines')
}

/** The failure of a command whose content was not made live. */
export function findCheckFailure({ dag_id, name, status, fault }: CheckedObject): CommandFailure | undefined {
  if (!fault || (status !== 'rejected' && status !== 'error')) return undefined
  const place = fault.path ?? (fault.line === undefined ? undefined : `line ${fault.line}`)
  const where = place === undefined ? '' : `${place}: `
  return new CommandFailure(1, `${name ?? dag_id} is ${status}: ${where}${fault.reason}`)
}
