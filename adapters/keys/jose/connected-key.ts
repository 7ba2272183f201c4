// Connects a key whose private half is elsewhere: the folder holds its public half and the command that signs with it.
import { createPublicKey, randomUUID } from 'node:crypto'
import { computeThumbprint, detectAlgorithm, parsePublicJwk } from '../../../daemon/kernel/cryptography/public-jwk.ts'
import type { PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { SigningCommand } from './command-record.ts'
import { readKeyFiles, writeKeyFile } from './key-files.ts'
import { signByCommand } from './signing-command.ts'

export type ConnectedKeyOptions = {
  readonly use: 'root' | 'message'
  /** Public key as PEM (SPKI). */
  readonly pem: string
  readonly command: SigningCommand
  /** Epoch milliseconds. */
  readonly now: number
  readonly not_after?: string | undefined
}

/** Throws `Refusal` for a key of another kind. */
function readConnectedKey({ use, pem, now, not_after }: ConnectedKeyOptions): PublicKey {
  const material = readPem(pem)
  const algorithm = detectAlgorithm(material)
  const jwk = algorithm && parsePublicJwk(algorithm, material)
  if (!algorithm || !jwk)
    throw new Refusal('invalid', 'the public key must be a PEM file with a key of Ed25519, P-384 or ML-DSA-87')
  const fingerprint = computeThumbprint(jwk)
  return {
    ...{ kid: `${use}-${fingerprint.slice(0, 16)}`, algorithm, fingerprint, use, status: 'active' },
    created: new Date(now).toISOString(),
    ...(not_after === undefined ? {} : { not_after }),
    jwk: { ...jwk },
  }
}

/** Writes the key to the folder after a signature on trial. Throws `Refusal` if the command does not sign with it. */
export async function connectKey(dir: string, options: ConnectedKeyOptions): Promise<PublicKey> {
  const public_key = readConnectedKey(options)
  if (readKeyFiles(dir).some((key) => key.public_key.fingerprint === public_key.fingerprint))
    throw new Refusal('conflict', `the key ${public_key.kid} is in the folder already`)
  // Without a dot, so that it is never the input of a JWS.
  await signByCommand(public_key, options.command, `platform signing command trial ${randomUUID()}`)
  writeKeyFile(dir, { public_key, signing_command: options.command })
  return public_key
}

function readPem(pem: string): unknown {
  try {
    // The text of a private key would be turned into its public half, and stay on this machine unnoticed.
    if (pem.includes('PRIVATE KEY')) return undefined
    return createPublicKey(pem).export({ format: 'jwk' })
  } catch {
    return undefined
  }
}
