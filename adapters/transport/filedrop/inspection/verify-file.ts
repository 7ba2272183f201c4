// Verifies a message offline with public keys alone: without a site, a journal or a clock.
import type { PublicKey, Signatures } from '../../../../daemon/kernel/cryptography/signatures.ts'
import type { MessageKinds } from '../../../../daemon/kernel/messaging/message-kind.ts'
import { statementFormatsFor, type UnlabelledStatement } from '../../../../daemon/kernel/messaging/statement-format.ts'
import { runToEnd } from '../../../../daemon/kernel/role/run-to-end.ts'
import type { PinnedKeySet } from '../../../../daemon/shared/key-set/key-succession.ts'
import { type MessageCheck, messageChecks } from '../checks/message-checks.ts'
import { type MessageExamination, readMessageFiles } from '../checks/message-examination.ts'
import type { MessageFault } from '../quarantine-reasons.ts'
import { filedropSettings } from '../settings.ts'
import { controlChecks, faultOfRefusal, type OfflineTrust } from './control-checks.ts'
import { findMessageFiles } from './message-files.ts'
import { senderChecks } from './sender-checks.ts'
import { readSignedDocument, type SignedDocument } from './verify-document.ts'

export type CheckReport = {
  readonly check: string
  /** `not_made`: it needs the site that the message was for, or comes after one that failed. */
  readonly outcome: 'passed' | 'failed' | 'not_made'
  readonly reason?: MessageFault['reason']
  readonly detail?: string
  /** The problem code, where the reason is REFUSED. */
  readonly code?: string
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
  /** Kinds of messages that are known; one of another kind does not pass. */
  readonly kinds: MessageKinds
  readonly signatures: Pick<Signatures, 'verify'>
  readonly keys: readonly PublicKey[]
  /** Distinct keys that must have signed (default: 1). */
  readonly threshold?: number | undefined
  /** Distinct root keys that must have signed an epoch, or the next key set (default: 1). */
  readonly root_threshold?: number | undefined
  /** The sender's key set as it is pinned; undefined where only keys are known. */
  readonly key_set?: PinnedKeySet | undefined
}

/**
 * `path`: the envelope or the body, whose other half must lie beside it; or one of the other signed documents. Names in quarantine work too. Never throws on
 * what the files hold; throws when the disk fails.
 */
export async function verifyFile(path: string, options: FileVerificationOptions): Promise<FileVerification> {
  const document = readSignedDocument(path)
  if (document) return await verifyDocument(path, document, options)
  const { env, body, name } = findMessageFiles(path)
  const specimen = readMessageFiles(name, { env, body }, filedropSettings.parse({}))
  const trust = trustOf(options)
  const made: CheckReport[] = []
  for (const check of messageChecks) made.push(await reportCheck(check, specimen, trust, made))
  for (const check of controlChecks.filter(({ kind }) => kind === specimen.statement?.kind))
    made.push(await reportOutcome(check.name, () => check.run(specimen, trust), made))
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

function trustOf({
  kinds,
  signatures,
  keys,
  threshold = 1,
  root_threshold = 1,
  key_set,
}: FileVerificationOptions): OfflineTrust {
  return { signatures, pinned: keys, threshold, root_threshold, formats: statementFormatsFor(kinds), key_set }
}

async function verifyDocument(
  path: string,
  { name, verify }: SignedDocument,
  options: FileVerificationOptions,
): Promise<FileVerification> {
  const run = async () => {
    const refusal = await verify(trustOf(options))
    return refusal && faultOfRefusal(refusal)
  }
  const report = await reportOutcome(name, run, [])
  return { ok: report.outcome === 'passed', envelope: path, body: path, signers: [], checks: [report] }
}

async function reportCheck(
  check: MessageCheck,
  examination: MessageExamination,
  trust: OfflineTrust,
  before: readonly CheckReport[],
): Promise<CheckReport> {
  if (check.at === 'destination') return await reportPart(check.name, examination, trust, before)
  const run = async () => (check.at === 'body' ? runToEnd(check.run(examination)) : await check.run(examination, trust))
  return await reportOutcome(check.name, run, before)
}

/** A check of a destination is not made without one, and yet fails where its part that needs none does. */
async function reportPart(
  check: string,
  examination: MessageExamination,
  trust: OfflineTrust,
  before: readonly CheckReport[],
): Promise<CheckReport> {
  const report = await reportOutcome(check, async () => senderChecks[check]?.(examination, trust), before)
  return report.outcome === 'failed' ? report : { check, outcome: 'not_made' }
}

async function reportOutcome(
  check: string,
  run: () => Promise<MessageFault | undefined>,
  before: readonly CheckReport[],
): Promise<CheckReport> {
  if (before.some(({ outcome }) => outcome === 'failed')) return { check, outcome: 'not_made' }
  const found = await run()
  return found ? { check, outcome: 'failed', ...found } : { check, outcome: 'passed' }
}
