// Reads the subject of a signal from either of the two fields that senders use.
import * as z from 'zod'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { type SignalSubject, subject } from '../../../shared/signal-cause/signal-subject.ts'

export const subjectInput = z
  .strictObject({
    type: subject.shape.type,
    id: subject.shape.id,
    name: subject.shape.name.optional(),
    display_name: subject.shape.name.optional(),
  })
  .meta({ id: 'SubjectGiven', description: 'Subject of the signal; its name is in name or display_name' })
type SubjectInput = z.infer<typeof subjectInput>

/** Refuses `invalid` if the subject or its name is missing, or if both fields are given and differ. */
export function resolveSubject(
  subject: SubjectInput | undefined,
  subject_ref: SubjectInput | undefined,
): SignalSubject | Refusal {
  const subjects = [subject, subject_ref].filter((each) => each !== undefined)
  const [first, second] = subjects.map(({ type, id, name, display_name }) => ({ type, id, name: name ?? display_name }))
  const refuseSubject = (path: string, message: string) =>
    refuse('invalid', 'give exactly one subject, with type, id and name', [{ path, message }])
  if (!first) return refuseSubject('subject', 'is required')
  const names = new Set(
    subjects.flatMap(({ name, display_name }) => [name, display_name]).filter((each) => each !== undefined),
  )
  const [name] = names
  if (name === undefined) return refuseSubject('subject.name', 'is required')
  if (names.size > 1 || (second && (second.type !== first.type || second.id !== first.id)))
    return refuseSubject('subject', 'differs between subject and subject_ref; send one of them')
  return { type: first.type, id: first.id, name }
}
