// Shows what the files of a message claim, for a person who wants to look before anything is verified.
import { sha384 } from '../../../daemon/kernel/canonical.ts'
import { readSpecimen, type Specimen } from './checks/specimen.ts'
import { strictJson } from './checks/strict-json.ts'
import { bothFiles } from './message-files.ts'
import { type Fault, fault } from './reasons.ts'
import { filedropSettings } from './settings.ts'

export type Inspection = {
  readonly envelope: string
  readonly body: string
  /** What the files claim; nothing of it is verified. */
  readonly unverified: {
    readonly key_ids: readonly string[]
    readonly statement?: unknown
    /** SHA-384 of its bytes: what a ledger, a successor and a purge know it by. */
    readonly statement_digest?: string
    readonly body?: unknown
  }
  readonly faults: readonly Fault[]
}

/** Shows what the files say, verifying nothing. */
export function inspectFile(path: string): Inspection {
  const { env, body, name } = bothFiles(path)
  const specimen = readSpecimen(name, { env, body }, filedropSettings.parse({}))
  const faults: Fault[] = []
  const read = (what: string, dropped: Specimen['body']): unknown => {
    if ('gone' in dropped) faults.push(fault('TRUNCATED', `${what}: it is not there`))
    if ('fault' in dropped) faults.push(dropped.fault)
    return 'bytes' in dropped ? parsed(what, dropped.bytes, faults) : undefined
  }
  const envelope = read('the envelope', specimen.envelope)
  const content = read('the body', specimen.body)
  const payload = textOf(envelope, 'payload')
  const signed = payload === undefined ? undefined : fromBase64url(payload)
  const statement = signed && parsed('the statement', signed, faults)
  return {
    envelope: env,
    body,
    unverified: {
      key_ids: keyIds(envelope),
      ...(signed ? { statement_digest: sha384(signed) } : {}),
      ...(statement === undefined ? {} : { statement }),
      ...(content === undefined ? {} : { body: content }),
    },
    faults,
  }
}

function parsed(what: string, bytes: Buffer, faults: Fault[]): unknown {
  const read = strictJson(bytes)
  if (read.outcome === 'value') return read.value
  faults.push(
    read.outcome === 'incomplete'
      ? fault('TRUNCATED', `${what} does not end`)
      : fault(read.outcome, `${what}: ${read.detail}`),
  )
  return undefined
}

function keyIds(envelope: unknown): string[] {
  const signatures = (envelope as { signatures?: unknown } | undefined)?.signatures
  if (!Array.isArray(signatures)) return []
  return signatures.flatMap((each) => {
    const header = textOf(each, 'protected')
    const read = header === undefined ? undefined : strictJson(fromBase64url(header))
    const kid = read?.outcome === 'value' ? textOf(read.value, 'kid') : undefined
    return kid === undefined ? [] : [kid]
  })
}

function textOf(holder: unknown, field: string): string | undefined {
  if (typeof holder !== 'object' || holder === null) return undefined
  const value = (holder as Record<string, unknown>)[field]
  return typeof value === 'string' ? value : undefined
}

function fromBase64url(text: string): Buffer {
  return Buffer.from(text, 'base64url')
}
