// Examines a message where it lies, with public keys and nothing else: no site, no journal, no clock.
import { basename, dirname, join } from 'node:path'
import type { PublicKey, Signatures } from '../../../daemon/kernel/keys.ts'
import { type Check, checks, type Trust } from './checks.ts'
import { fileOf, parseName } from './names.ts'
import { type Fault, fault } from './reasons.ts'
import { filedropSettings } from './settings.ts'
import { readSpecimen, type Specimen, type UnlabelledStatement } from './specimen.ts'
import { strictJson } from './strict-json.ts'

export type CheckReport = {
  readonly check: string
  /** `not_made`: it needs the site that the message was for, or comes after one that failed. */
  readonly outcome: 'passed' | 'failed' | 'not_made'
  readonly reason?: Fault['reason']
  readonly detail?: string
}

export type Verification = {
  /** Every check that can be made here passed. */
  readonly ok: boolean
  readonly envelope: string
  readonly body: string
  /** Key ids of the pinned keys whose signatures hold. */
  readonly signers: readonly string[]
  readonly statement_digest?: string
  readonly statement?: UnlabelledStatement
  readonly checks: readonly CheckReport[]
}

export type Verifying = {
  readonly signatures: Pick<Signatures, 'verify'>
  readonly keys: readonly PublicKey[]
  /** Distinct keys that must have signed; 1 unless said. */
  readonly threshold?: number
}

/**
 * `path`: the envelope or the body; its other half must lie beside it. Names in quarantine work too. Never throws on
 * what the files hold; throws when the disk fails.
 */
export async function verifyFile(path: string, given: Verifying): Promise<Verification> {
  const { env, body, name } = bothFiles(path)
  const specimen = readSpecimen(name, { env, body }, filedropSettings.parse({}))
  const trust: Trust = {
    signatures: { ...given.signatures } as Signatures,
    pinned: given.keys,
    threshold: given.threshold ?? 1,
  }
  const made: CheckReport[] = []
  for (const check of checks) made.push(await report(check, specimen, trust, made))
  return {
    ok: made.every(({ outcome }) => outcome !== 'failed'),
    envelope: env,
    body,
    signers: (specimen.signers ?? []).map(({ kid }) => kid),
    ...(specimen.digest === undefined ? {} : { statement_digest: specimen.digest }),
    ...(specimen.statement ? { statement: specimen.statement } : {}),
    checks: made,
  }
}

async function report(
  check: Check,
  specimen: Specimen,
  trust: Trust,
  before: readonly CheckReport[],
): Promise<CheckReport> {
  const hasFailed = before.some(({ outcome }) => outcome === 'failed')
  if (hasFailed || check.at === 'place') return { check: check.name, outcome: 'not_made' }
  const found = await check.run(specimen, trust)
  if (!found) return { check: check.name, outcome: 'passed' }
  return { check: check.name, outcome: 'failed', ...found }
}

export type Inspection = {
  readonly envelope: string
  readonly body: string
  /** What the files claim; nothing of it is verified. */
  readonly unverified: {
    readonly key_ids: readonly string[]
    readonly statement?: unknown
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
    return 'bytes' in dropped ? valueOf(what, dropped.bytes, faults) : undefined
  }
  const envelope = read('the envelope', specimen.envelope)
  const content = read('the body', specimen.body)
  const payload = textOf(envelope, 'payload')
  const statement = payload === undefined ? undefined : valueOf('the statement', fromBase64url(payload), faults)
  return {
    envelope: env,
    body,
    unverified: {
      key_ids: keyIds(envelope),
      ...(statement === undefined ? {} : { statement }),
      ...(content === undefined ? {} : { body: content }),
    },
    faults,
  }
}

function valueOf(what: string, bytes: Buffer, faults: Fault[]): unknown {
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

/** `name`: the envelope's as it was published; in quarantine the id has a mark of eight digits behind it. */
function bothFiles(path: string): { env: string; body: string; name: string } {
  const file = basename(path)
  const stem = /^(.+)\.(env|body)\.json$/.exec(file)?.[1]
  if (stem === undefined) return { env: path, body: path, name: file }
  const published = stem.replace(/^(\d{8}-\d{16})-[0-9a-f]{8}$/, '$1')
  const beside = (part: 'env' | 'body') => join(dirname(path), fileOf(stem, part))
  const name = fileOf(published, 'env')
  return { env: beside('env'), body: beside('body'), name: parseName(name) ? name : file }
}
