// The refusal of an object that is not there, or that the caller may not see: both read the same.
import { type Refusal, refuse } from './errors.ts'

const prefix = 'there is no such '

/** `kind`: name of the collection. */
export function noSuchObject(kind: string): Refusal {
  return refuse('not_found', `${prefix}${kind}`)
}

/** The kind of object that a refusal of `noSuchObject` names; undefined for any other. */
export function readMissingKind({ code, message }: Pick<Refusal, 'code' | 'message'>): string | undefined {
  return code === 'not_found' && message.startsWith(prefix) ? message.slice(prefix.length) : undefined
}
