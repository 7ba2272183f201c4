// Checks the files themselves before any of their content is trusted.
import type * as z from 'zod'
import { jws } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { parseMessageName } from '../files/message-name.ts'
import { fault, type MessageFault } from '../quarantine-reasons.ts'
import { fileBytes, type MessageExamination } from './message-examination.ts'
import { readMessageJson } from './message-json.ts'

export function nameCheck({ name }: MessageExamination): MessageFault | undefined {
  return parseMessageName(name)?.part === 'env' ? undefined : fault('NAME', 'the file name is not that of a message')
}

export function kindCheck({ envelope, body }: MessageExamination): MessageFault | undefined {
  if ('gone' in envelope || 'gone' in body) return fault('TRUNCATED', 'one of the two files is missing')
  for (const file of [envelope, body]) {
    if ('fault' in file && file.fault.reason !== 'TOO_LARGE') return file.fault
  }
  return undefined
}

export function sizeCheck({ envelope, body }: MessageExamination): MessageFault | undefined {
  for (const file of [envelope, body]) if ('fault' in file) return file.fault
  return undefined
}

export function jsonCheck(examination: MessageExamination): MessageFault | undefined {
  const read = examination.claims?.envelope_json ?? readMessageJson(fileBytes(examination.envelope))
  if (read.outcome === 'incomplete') return fault('TRUNCATED', 'the envelope does not end')
  if (read.outcome !== 'value') return fault(read.outcome, `the envelope: ${read.detail}`)
  const parsed = jws.safeParse(read.value)
  if (!parsed.success) return shapeFault('the envelope', parsed.error, 'BAD_JSON')
  examination.jws = parsed.data
  return undefined
}

/** Names the path of the first problem, never a value. */
export function shapeFault(what: string, error: z.core.$ZodError, otherwise: 'BAD_JSON' | 'SCHEMA'): MessageFault {
  const unknown = error.issues.find((issue) => issue.code === 'unrecognized_keys')
  if (unknown) return fault('UNKNOWN_FIELD', `${what} has a field that the format does not know`)
  const path = error.issues[0]?.path.map(String).join('.') ?? ''
  return fault(otherwise, path === '' ? `${what} has the wrong shape` : `${what} has the wrong shape at ${path}`)
}
