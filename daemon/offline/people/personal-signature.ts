// A person's own signature, made here with the key file on their medium; no daemon ever reads the key.
import { resolve } from 'node:path'
import { readKeyAt } from '../../../adapters/keys/jose/key-files.ts'
import { signWithKeys } from '../../../adapters/keys/jose/signatures.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import type { Jws } from '../../kernel/cryptography/signatures.ts'
import { type PersonalDecision, releasePayload } from '../../kernel/messaging/release.ts'
import type { ContributorSignature } from '../../roles/consensus/session/contribution/proof/model.ts'
import { contributionPayload } from '../../roles/consensus/session/contribution/proof/signed-contribution.ts'
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

type SignedText = { readonly created: string; readonly payload: string }

async function signAsPerson(
  file: string,
  type: 'release' | 'contribution',
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
