// The ids that every store can keep as they are.
import { Refusal } from '../error/errors.ts'

export function requireValidId(id: string): void {
  if (id !== '' && id.isWellFormed()) return
  throw new Refusal('invalid', 'an id is well-formed text of one character or more')
}
