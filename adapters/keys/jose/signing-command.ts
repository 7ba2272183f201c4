// Signatures by a command that the operator names, such as one that speaks to a security module; docs/signing-commands.md.
import { lstatSync } from 'node:fs'
import { dirname, isAbsolute, normalize } from 'node:path'
import * as z from 'zod'
import { isCanonicalBase64url } from '../../../daemon/kernel/cryptography/public-jwk.ts'
import type { KeyAlgorithm, PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { SigningCommand } from './command-record.ts'
import { importVerifyingKey } from './crypto-keys.ts'
import { SigningProcess } from './signing-process.ts'

const answer = z.strictObject({ signature: z.string().max(8_192).refine(isCanonicalBase64url) })

const verification_parameters: Readonly<Record<KeyAlgorithm, { readonly name: string; readonly hash?: string }>> = {
  Ed25519: { name: 'Ed25519' },
  ES384: { name: 'ECDSA', hash: 'SHA-384' },
  'ML-DSA-87': { name: 'ML-DSA-87' },
}

/** Requests that wait for one resident command; at some ten signatures a second, these take seconds. */
const max_waiting = 64

type ResidentCommand = { process: SigningProcess | undefined; waiting: number; last: Promise<unknown> }
const residentCommands = new Map<string, ResidentCommand>()

/**
 * The signature of the input, in base64url. Throws `Refusal` (unavailable) with the fault, also for a signature that
 * the public key does not verify: it never leaves.
 */
export async function signByCommand(key: PublicKey, command: SigningCommand, input: string): Promise<string> {
  const fault = findProgramFault(command.program)
  if (fault) throw refuseCommand(key, command, fault)
  const { kid, algorithm } = key
  const line = JSON.stringify({ v: 1, kid, algorithm, input: Buffer.from(input).toString('base64url') })
  try {
    const read = answer.safeParse(parseJson(await requestLine(key, command, line)))
    if (!read.success) throw new Error('answered something else than a signature')
    if (await verifies(key, input, read.data.signature)) return read.data.signature
    throw new Error('answered a signature that the public key of this key does not verify')
  } catch (error) {
    throw refuseCommand(key, command, error instanceof Error ? error.message : String(error))
  }
}

function refuseCommand({ kid }: PublicKey, { program }: SigningCommand, fault: string): Refusal {
  return new Refusal('unavailable', `the signing command ${program} of the key ${kid} ${fault}`)
}

async function requestLine(key: PublicKey, command: SigningCommand, line: string): Promise<string> {
  if (command.resident) return await requestInTurn(key, command, line)
  const process = new SigningProcess(command.program)
  try {
    const text = await process.ask(line, command.time_limit_ms)
    await process.finish(command.time_limit_ms)
    return text
  } finally {
    process.kill()
  }
}

async function requestInTurn({ fingerprint }: PublicKey, command: SigningCommand, line: string): Promise<string> {
  const name = `${command.program}\n${fingerprint}`
  const resident = residentCommands.get(name) ?? { process: undefined, waiting: 0, last: Promise.resolve() }
  residentCommands.set(name, resident)
  if (resident.waiting >= max_waiting) throw new Error(`has ${max_waiting} requests waiting`)
  resident.waiting += 1
  const turn = resident.last.then(() => requestResident(resident, command, line))
  resident.last = turn.catch(() => undefined)
  try {
    return await turn
  } finally {
    resident.waiting -= 1
  }
}

async function requestResident(resident: ResidentCommand, command: SigningCommand, line: string): Promise<string> {
  // Text that nobody requested would be the answer to the next request: such a process is replaced.
  if (!resident.process?.isUsable) {
    resident.process?.kill()
    resident.process = new SigningProcess(command.program)
  }
  return await resident.process.ask(line, command.time_limit_ms)
}

async function verifies(record: PublicKey, input: string, signature: string): Promise<boolean> {
  const key = await importVerifyingKey(record)
  if (!key) return false
  const bytes = Buffer.from(signature, 'base64url')
  return await crypto.subtle.verify(verification_parameters[record.algorithm], key, bytes, Buffer.from(input))
}

/** As sshd requires of its commands: nobody but root and this user can replace the program, or a folder above it. */
function findProgramFault(program: string): string | undefined {
  if (!isAbsolute(program) || normalize(program) !== program) return 'must be an absolute path'
  const stats = lstatSync(program, { throwIfNoEntry: false })
  if (!stats?.isFile()) return 'is not a regular file'
  if ((stats.mode & 0o111) === 0) return 'cannot be executed; run: chmod 700 on it'
  for (let path = program; ; path = dirname(path)) {
    const { uid, mode } = lstatSync(path)
    if (uid !== 0 && uid !== process.geteuid?.()) return `can be replaced by user ${uid}, the owner of ${path}`
    const isSticky = path !== program && (mode & 0o1000) !== 0
    if ((mode & 0o022) !== 0 && !isSticky)
      return `can be replaced by others: ${path} has mode ${(mode & 0o777).toString(8)}`
    if (path === dirname(path)) return undefined
  }
}
