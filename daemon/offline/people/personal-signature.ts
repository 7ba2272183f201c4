// A person's own signature, made here with the key file on their medium; no daemon ever reads the key.
import { resolve } from 'node:path'
import { readKeyAt } from '../../../adapters/keys/jose/key-files.ts'
import { signWithKeys } from '../../../adapters/keys/jose/signatures.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import type { Jws } from '../../kernel/cryptography/signatures.ts'
import { sha384 } from '../../kernel/encoding/canonical-json.ts'
import { type PersonalDecision, releasePayload } from '../../kernel/messaging/release.ts'
import type { ContributorSignature } from '../../roles/consensus/session/contribution/proof/model.ts'
import { contributionPayload } from '../../roles/consensus/session/contribution/proof/signed-contribution.ts'
import {
  type AcceptanceApproval,
  type AcceptanceRequest,
  acceptanceRequest,
  decisionPayload,
  parseDecision,
  type SetDecision,
} from '../../roles/gateway/guide/set/decision.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** Whether the key of this file is encrypted. Throws `OfflineCommandError` if the file does not exist. */
export function isKeyFileWrapped(file: string): boolean {
  return runAsInvoker(() => readPersonalKey(resolve(file))).private_jwe !== undefined
}

/**
 * Signs with the key. Throws `OfflineCommandError` for a file that is not an active personal key, and `KeyLockedError`.
 * `file`: as typed.
 */
export async function signRelease(
  file: string,
  decision: PersonalDecision,
  passphrase: string | undefined,
): Promise<Jws> {
  const signed = { created: decision.created, payload: releasePayload(decision) }
  return await signAsPerson(file, 'release', signed, passphrase)
}

/** The same over a contribution, as the signature that `consensus.session.contribute` takes. */
export async function signContribution(
  file: string,
  contribution: Omit<Parameters<typeof contributionPayload>[0], 'created'>,
  created: string,
  passphrase: string | undefined,
): Promise<ContributorSignature> {
  const payload = contributionPayload({ ...contribution, created })
  const { signatures } = await signAsPerson(file, 'contribution', { created, payload }, passphrase)
  const [{ protected: header, signature } = { protected: '', signature: '' }] = signatures
  return { created, protected: header, signature }
}

/** The same over the request to accept artifacts of a set. */
export async function signAcceptanceRequest(
  file: string,
  decision: Omit<AcceptanceRequest, 'v' | 'type' | 'step'>,
  passphrase: string | undefined,
): Promise<Jws> {
  const request = { ...decision, v: 1, type: 'platform.guidance-acceptance', step: 'request' } as const
  return await signSetDecision(file, request, passphrase)
}

/**
 * The same over its approval: of the request as it was signed, not as the service shows it. Throws `OfflineCommandError` (3) where
 * that names another set, digest or choice than the person has seen.
 */
export async function signAcceptanceApproval(
  file: string,
  { signature, ...seen }: Pick<AcceptanceApproval, 'set' | 'digest' | 'artifacts'> & { readonly signature: Jws },
  own: Pick<AcceptanceApproval, 'subject' | 'created'> & { readonly reason: string | undefined },
  passphrase: string | undefined,
): Promise<Jws> {
  const request = parseDecision(acceptanceRequest, signature)
  if (request?.set !== seen.set || request.digest !== seen.digest || request.artifacts.join() !== seen.artifacts.join())
    throw new OfflineCommandError(3, 'the signed request is for another set, or for other artifacts')
  const { reason = request.reason, subject, created } = own
  const digest = sha384(decisionPayload(request))
  const approval = { ...request, step: 'approval', reason, subject, created, request: digest } as const
  return await signSetDecision(file, approval, passphrase)
}

async function signSetDecision(file: string, decision: SetDecision, passphrase: string | undefined): Promise<Jws> {
  const signed = { created: decision.created, payload: decisionPayload(decision) }
  return await signAsPerson(file, 'guidance-decision', signed, passphrase)
}

type SignedText = { readonly created: string; readonly payload: string }

async function signAsPerson(
  file: string,
  type: 'release' | 'contribution' | 'guidance-decision',
  { created, payload }: SignedText,
  passphrase: string | undefined,
): Promise<Jws> {
  const key = runAsInvoker(() => readPersonalKey(resolve(file)))
  const { use, status, not_after, kid } = key.public_key
  if (use !== 'personal') throw new OfflineCommandError(2, `${kid} is a ${use} key; a person signs with their own`)
  if (status !== 'active') throw new OfflineCommandError(3, `${kid} is ${status}; it signs nothing`)
  if (not_after !== undefined && created > not_after) throw new OfflineCommandError(3, `${kid} ended on ${not_after}`)
  return await signWithKeys([key], type, Buffer.from(payload), () => passphrase)
}

function readPersonalKey(file: string): ReturnType<typeof readKeyAt> {
  try {
    return readKeyAt(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new OfflineCommandError(1, `the file ${file} does not exist`)
    throw error
  }
}
