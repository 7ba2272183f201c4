// Shows the claims in the files of a message, for inspection before verification.
import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { type MessageExamination, readMessageFiles } from '../checks/message-examination.ts'
import { readMessageJson } from '../checks/message-json.ts'
import { fault, type MessageFault } from '../quarantine-reasons.ts'
import { filedropSettings } from '../settings.ts'
import { findMessageFiles } from './message-files.ts'

export type FileInspection = {
  readonly envelope: string
  readonly body: string
  /** Unverified claims of the files. */
  readonly unverified: {
    readonly key_ids: readonly string[]
    readonly statement?: unknown
    /** SHA-384 of its bytes: what a ledger, a successor and a purge know it by. */
    readonly statement_digest?: string
    readonly body?: unknown
  }
  readonly faults: readonly MessageFault[]
}

/** Shows what the files say, verifying nothing. */
export function inspectFile(path: string): FileInspection {
  const { env, body, name } = findMessageFiles(path)
  const specimen = readMessageFiles(name, { env, body }, filedropSettings.parse({}))
  const faults: MessageFault[] = []
  const read = (what: string, dropped: MessageExamination['body']): unknown => {
    if ('gone' in dropped) faults.push(fault('TRUNCATED', `${what} is missing`))
    if ('fault' in dropped) faults.push(dropped.fault)
    return 'bytes' in dropped ? parseStrict(what, dropped.bytes, faults) : undefined
  }
  const envelope = read('the envelope', specimen.envelope)
  const content = read('the body', specimen.body)
  const payload = textField(envelope, 'payload')
  const signed = payload === undefined ? undefined : decodeBase64url(payload)
  const statement = signed && parseStrict('the statement', signed, faults)
  return {
    envelope: env,
    body,
    unverified: {
      key_ids: readKeyIds(envelope),
      ...(signed ? { statement_digest: sha384(signed) } : {}),
      ...(statement === undefined ? {} : { statement }),
      ...(content === undefined ? {} : { body: content }),
    },
    faults,
  }
}

function parseStrict(what: string, bytes: Buffer, faults: MessageFault[]): unknown {
  const read = readMessageJson(bytes)
  if (read.outcome === 'value') return read.value
  faults.push(
    read.outcome === 'incomplete'
      ? fault('TRUNCATED', `${what} does not end`)
      : fault(read.outcome, `${what}: ${read.detail}`),
  )
  return undefined
}

function readKeyIds(envelope: unknown): string[] {
  const signatures = (envelope as { signatures?: unknown } | undefined)?.signatures
  if (!Array.isArray(signatures)) return []
  return signatures.flatMap((each) => {
    const header = textField(each, 'protected')
    const read = header === undefined ? undefined : readMessageJson(decodeBase64url(header))
    const kid = read?.outcome === 'value' ? textField(read.value, 'kid') : undefined
    return kid === undefined ? [] : [kid]
  })
}

function textField(holder: unknown, field: string): string | undefined {
  if (typeof holder !== 'object' || holder === null) return undefined
  const value = (holder as Record<string, unknown>)[field]
  return typeof value === 'string' ? value : undefined
}

function decodeBase64url(text: string): Buffer {
  return Buffer.from(text, 'base64url')
}
