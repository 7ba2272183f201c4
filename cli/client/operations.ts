// Finds an operation by its address, and the allowed values of its input fields. Loads the role of that address alone.
import * as z from 'zod'
import { type AddressedOperation, type AnyOperation, timeLimitOf } from '../../daemon/kernel/operation/operation.ts'
import { operationsOf } from '../../daemon/kernel/role/built-in-operations.ts'
import { roles } from '../../daemon/roles.ts'

/** Throws TypeError for an unknown address: a defect of the command, not of the user's input. */
export async function findOperation(address: string): Promise<AddressedOperation> {
  const operations = await listOperations(address.slice(0, address.indexOf('.')))
  const operation = operations.find((candidate) => candidate.address === address)
  if (!operation) throw new TypeError(`no role has the operation ${address}`)
  return operation
}

/** For the service to answer that its own time limit is over. */
const answer_margin_ms = 5_000

/** The time for which a client waits for the answer of the operation. */
export function answerLimitOf(operation: AnyOperation): number {
  return timeLimitOf(operation) + answer_margin_ms
}

/** The same for a tool of a role; undefined for one that this version does not have. */
export async function answerLimitOfTool(role: string, tool: string): Promise<number | undefined> {
  const found = (await listOperations(role)).find(({ operation }) => operation.tool === tool)
  return found && answerLimitOf(found.operation)
}

/** Allowed values of an input field, as in `state` or `policy.m`. Throws TypeError unless it is an enum: a defect of the command. */
export async function listChoices(address: string, field: string): Promise<readonly string[]> {
  let schema: unknown = (await findOperation(address)).operation.input
  for (const name of field.split('.'))
    schema = schema instanceof z.ZodObject ? unwrapField(schema.shape[name]) : undefined
  if (!(schema instanceof z.ZodEnum)) throw new TypeError(`${address} has no fixed choices for ${field}`)
  return schema.options.map(String)
}

/** Empty for a name that no role has. */
async function listOperations(name: string): Promise<readonly AddressedOperation[]> {
  const role = await roles.find((outline) => outline.name === name)?.load()
  return role === undefined ? [] : operationsOf(role)
}

function unwrapField(field: unknown): unknown {
  return field instanceof z.ZodOptional || field instanceof z.ZodDefault ? unwrapField(field.unwrap()) : field
}
