// Warnings before a flight: what operators of an effect need and the site does not have. They block nothing.
import type { Call } from '../../../kernel/operation/call.ts'
import { connections } from '../connection/model.ts'
import { listConnections } from '../connection/task-connection.ts'
import { listUnknownOperators } from './assemble.ts'
import type { StoredEffect } from './model.ts'

/** `announced`: connections that the author expects the operators to use. */
export async function listWarnings(
  call: Call,
  { operators }: Pick<StoredEffect, 'operators'>,
  announced: readonly string[],
): Promise<string[]> {
  const used = listConnections(operators)
  const found = await Promise.all(used.map(async (id) => await call.store(connections).find(id)))
  const missing = used.filter((_, at) => !found[at]).map((id) => `the site has no connection ${id}`)
  const unused = [...new Set(announced)].filter((id) => !used.includes(id))
  return [
    ...missing,
    ...unused.map((id) => `no operator uses the connection ${id}`),
    ...listUnknownOperators(operators).map(({ path, message }) => `${path}: ${message}`),
  ]
}
