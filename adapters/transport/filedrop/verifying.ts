// Examines a message where it lies, with public keys and nothing else: no site, no journal, no clock.
import type { PublicKey, Signatures } from '../../../daemon/kernel/keys.ts'
import { statementFormats, type UnlabelledStatement } from '../../../daemon/kernel/statement-format.ts'
import { type Check, checks, type Trust } from './checks/checks.ts'
import { readSpecimen, type Specimen } from './checks/specimen.ts'
import { bothFiles } from './message-files.ts'
import type { Fault } from './reasons.ts'
import { filedropSettings } from './settings.ts'

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
    signatures: given.signatures,
    pinned: given.keys,
    threshold: given.threshold ?? 1,
    formats: statementFormats,
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
  const found = await (check.at === 'body' ? check.run(specimen) : check.run(specimen, trust))
  if (!found) return { check: check.name, outcome: 'passed' }
  return { check: check.name, outcome: 'failed', ...found }
}
