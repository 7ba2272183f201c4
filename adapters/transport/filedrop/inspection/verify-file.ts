// Verifies a message offline with public keys alone: without a site, a journal or a clock.
import type { PublicKey, Signatures } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { statementFormats, type UnlabelledStatement } from '../../../../daemon/kernel/messaging/statement-format.ts'
import { type MessageCheck, messageChecks, type SenderTrust } from '../checks/message-checks.ts'
import { type MessageExamination, readMessageFiles } from '../checks/message-examination.ts'
import type { MessageFault } from '../quarantine-reasons.ts'
import { filedropSettings } from '../settings.ts'
import { findMessageFiles } from './message-files.ts'

export type CheckReport = {
  readonly check: string
  /** `not_made`: it needs the site that the message was for, or comes after one that failed. */
  readonly outcome: 'passed' | 'failed' | 'not_made'
  readonly reason?: MessageFault['reason']
  readonly detail?: string
}

export type FileVerification = {
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

export type FileVerificationOptions = {
  readonly signatures: Pick<Signatures, 'verify'>
  readonly keys: readonly PublicKey[]
  /** Distinct keys that must have signed (default: 1). */
  readonly threshold?: number
}

/**
 * `path`: the envelope or the body; its other half must lie beside it. Names in quarantine work too. Never throws on
 * what the files hold; throws when the disk fails.
 */
export async function verifyFile(path: string, options: FileVerificationOptions): Promise<FileVerification> {
  const { env, body, name } = findMessageFiles(path)
  const specimen = readMessageFiles(name, { env, body }, filedropSettings.parse({}))
  const trust: SenderTrust = {
    signatures: options.signatures,
    pinned: options.keys,
    threshold: options.threshold ?? 1,
    formats: statementFormats,
  }
  const made: CheckReport[] = []
  for (const check of messageChecks) made.push(await reportCheck(check, specimen, trust, made))
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

async function reportCheck(
  check: MessageCheck,
  examination: MessageExamination,
  trust: SenderTrust,
  before: readonly CheckReport[],
): Promise<CheckReport> {
  const hasFailed = before.some(({ outcome }) => outcome === 'failed')
  if (hasFailed || check.at === 'destination') return { check: check.name, outcome: 'not_made' }
  const found = await (check.at === 'body' ? check.run(examination) : check.run(examination, trust))
  if (!found) return { check: check.name, outcome: 'passed' }
  return { check: check.name, outcome: 'failed', ...found }
}
