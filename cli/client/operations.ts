// Finds an operation by its address, including those of every role, and the allowed values of its input fields.
import * as z from 'zod'
import { everyOperation } from '../../daemon/every-role.ts'
import { type AddressedOperation, type AnyOperation, timeLimitOf } from '../../daemon/kernel/operation/operation.ts'

/** Throws TypeError for an unknown address: a defect of the command, not of the user's input. */
export function findOperation(address: string): AddressedOperation {
  const operation = everyOperation.find((candidate) => candidate.address === address)
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
export function answerLimitOfTool(role: string, tool: string): number | undefined {
  const found = everyOperation.find((each) => each.role === role && each.operation.tool === tool)
  return found && answerLimitOf(found.operation)
}

/** Allowed values of an input field, as in `state` or `policy.m`. Throws TypeError unless it is an enum: a defect of the command. */
export function listChoices(address: string, field: string): readonly string[] {
  let schema: unknown = findOperation(address).operation.input
  for (const name of field.split('.'))
    schema = schema instanceof z.ZodObject ? unwrapField(schema.shape[name]) : undefined
  if (!(schema instanceof z.ZodEnum)) throw new TypeError(`${address} has no fixed choices for ${field}`)
  return schema.options.map(String)
}

function unwrapField(field: unknown): unknown {
  return field instanceof z.ZodOptional || field instanceof z.ZodDefault ? unwrapField(field.unwrap()) : field
}
