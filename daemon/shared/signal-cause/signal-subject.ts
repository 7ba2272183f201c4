// Subject and severity of a signal, for every role that reports its cause.
import * as z from 'zod'
import { requiredText } from '../../kernel/operation/required-text.ts'

const shortText = requiredText(256)

export const severity = z.enum(['critical', 'high', 'medium', 'low', 'info'])

export const subjectType = z.enum([
  'entity',
  'location',
  'asset',
  'event',
  'organization',
  'person',
  'document',
  'dataset',
  'sensor',
  'other',
])

export const subject = z
  .strictObject({ type: subjectType, id: shortText, name: shortText })
  .meta({ id: 'SignalSubject', description: 'Subject of the signal' })
export type SignalSubject = z.infer<typeof subject>
