// A signing command is not trusted: every answer but a signature that verifies is a refusal that names the fault.

import { createPrivateKey, createPublicKey } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectKey } from '../../adapters/keys/jose/connected-key.ts'
import { hasPrivateHalf, readKeyFiles, type StoredKey, storedKey } from '../../adapters/keys/jose/key-files.ts'
import { revokeKey } from '../../adapters/keys/jose/key-lifecycle.ts'
import { joseSignatures, signWithKeys, verifyJws } from '../../adapters/keys/jose/signatures.ts'
import type { KeyAlgorithm, PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'
import { createKey, createKeyFolderPath, noon } from './key-fixture.ts'

const dir = mkdtempSync(join(tmpdir(), 'signing-command-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const payload = Buffer.from('{"message":1}')

function writeProgram(name: string, lines: readonly string[], interpreter = '/bin/sh'): string {
  const program = join(dir, name)
  writeFileSync(program, [`#!${interpreter}`, ...lines, ''].join('\n'))
  chmodSync(program, 0o700)
  return program
}

/** A command that really signs, with Node in the place of a module; it writes its id for each start. */
function writeSigner(name: string, key: StoredKey, change = ''): string {
  const pem = createPrivateKey({ key: key.private_jwk as never, format: 'jwk' }).export({
    type: 'pkcs8',
    format: 'pem',
  })
  return writeProgram(
    name,
    [
      `const { sign, createPrivateKey } = require('node:crypto')`,
      `const key = createPrivateKey(${JSON.stringify(pem)})`,
      `require('node:fs').appendFileSync(${JSON.stringify(join(dir, `${name}.starts`))}, process.pid + ' ' + JSON.stringify([process.argv.slice(2), Object.keys(process.env).sort()]) + '\\n')`,
      `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {`,
      `  const { algorithm, input } = JSON.parse(line)`,
      `  const hash = algorithm === 'ES384' ? 'sha384' : null`,
      `  const signature = sign(hash, Buffer.from(input, 'base64url'), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')`,
      change || `  console.log(JSON.stringify({ signature }))`,
      `})`,
    ],
    process.execPath,
  )
}

const readPem = ({ jwk }: PublicKey) =>
  createPublicKey({ key: jwk as never, format: 'jwk' })
    .export({ type: 'spki', format: 'pem' })
    .toString()

const runBy = (program: string, resident = false, time_limit_ms = 10_000) => ({ program, resident, time_limit_ms })

async function connect(program: string, key: StoredKey, resident = false, use: 'root' | 'message' = 'message') {
  const folder = createKeyFolderPath()
  await connectKey(folder, { use, pem: readPem(key.public_key), command: runBy(program, resident), now: noon })
  return folder
}

const readStarts = (name: string) =>
  readFileSync(join(dir, `${name}.starts`), 'utf8')
    .trim()
    .split('\n')

describe.each<KeyAlgorithm>(['Ed25519', 'ES384'])('a command that signs by %s', (algorithm) => {
  test('signs messages that verify, without arguments and without variables of the site', async () => {
    const key = await createKey(createKeyFolderPath(), 'message', algorithm)
    const folder = await connect(writeSigner(`good-${algorithm}`, key), key)
    const signatures = joseSignatures({ dir: folder, now: () => noon })
    const envelope = await signatures.sign('statement', payload)
    expect(await verifyJws('statement', envelope, [key.public_key])).toMatchObject({ keys: [{ algorithm }] })
    const starts = readStarts(`good-${algorithm}`)
    expect(starts).toHaveLength(2)
    expect(JSON.parse(starts[0]?.replace(/^\d+ /, '') ?? '')).toEqual([[], ['LC_ALL', 'PATH']])
    expect(JSON.stringify(readKeyFiles(folder))).not.toContain('private')
  })
})

test('a resident command is started once, and answers callers in their order', async () => {
  const key = await createKey(createKeyFolderPath(), 'message', 'ES384')
  const folder = await connect(writeSigner('resident', key), key, true)
  const signatures = joseSignatures({ dir: folder, now: () => noon })
  const envelopes = await Promise.all(
    [1, 2, 3, 4].map((number) => signatures.sign('statement', Buffer.from(`${number}`))),
  )
  const read = await Promise.all(envelopes.map((envelope) => verifyJws('statement', envelope, [key.public_key])))
  expect(read.map((one) => (typeof one === 'object' ? Buffer.from(one.payload).toString() : one))).toEqual([
    ...['1', '2', '3', '4'],
  ])
  expect(readStarts('resident')).toHaveLength(1)
})

test('a resident command that dies in the middle is started again for the next request', async () => {
  const key = await createKey(createKeyFolderPath(), 'message', 'Ed25519')
  const dead = join(dir, 'died')
  const change = [
    `  const fs = require('node:fs')`,
    `  if (fs.existsSync('${dead}.now')) { fs.rmSync('${dead}.now'); process.stdout.write('{"signa', () => process.exit(1)) }`,
    `  else console.log(JSON.stringify({ signature }))`,
  ].join('\n')
  const folder = await connect(writeSigner('mortal', key, change), key, true)
  writeFileSync(`${dead}.now`, '')
  const signatures = joseSignatures({ dir: folder, now: () => noon })
  await expect(signatures.sign('statement', payload)).rejects.toThrow('failed with exit code 1')
  expect(await verifyJws('statement', await signatures.sign('statement', payload), [key.public_key])).toBeTypeOf(
    'object',
  )
  expect(readStarts('mortal')).toHaveLength(2)
})

test('a message is signed by a classical key in a module and a key of ML-DSA-87 in a file', async () => {
  const classical = await createKey(createKeyFolderPath(), 'message', 'ES384')
  const folder = await connect(writeSigner('hybrid', classical), classical)
  const { public_key } = await createKey(folder, 'message', 'ML-DSA-87')
  const envelope = await joseSignatures({ dir: folder, now: () => noon }).sign('statement', payload)
  const read = await verifyJws('statement', envelope, [classical.public_key, public_key])
  expect(typeof read === 'object' && read.keys.map(({ algorithm }) => algorithm).sort()).toEqual(['ES384', 'ML-DSA-87'])
})

describe('no signature comes of a command', () => {
  let key: StoredKey
  let other: StoredKey
  beforeAll(async () => {
    key = await createKey(join(dir, 'key'), 'root', 'Ed25519')
    other = await createKey(join(dir, 'other-key'), 'root', 'Ed25519')
  })

  test.each<[string, () => string, string]>([
    ['that hangs, with a child', () => writeProgram('hangs', ['sleep 600 & wait']), 'did not answer within 300 ms'],
    ['that answers text', () => writeProgram('text', ['echo hello']), 'answered something else than a signature'],
    ['that answers nothing', () => writeProgram('nothing', ['exit 0']), 'ended without an answer'],
    ['that fails', () => writeProgram('fails', ['echo PIN 1234 >&2', 'exit 3']), 'failed with exit code 3'],
    ['that answers without end', () => writeProgram('huge', ['exec cat /dev/zero']), 'answered more than 16384 bytes'],
    [
      'that answers a long line',
      () => writeProgram('long', ['printf "%020000d\\n" 1']),
      'answered more than 16384 bytes',
    ],
    [
      'that dies in the middle',
      () => writeProgram('dies', [`printf '{"signature":"AAA'`, 'kill -9 $$']),
      'ended without an answer',
    ],
    [
      'that answers twice',
      () => writeSigner('twice', key, `console.log(JSON.stringify({ signature }) + '\\n{}')`),
      'answered more than one line',
    ],
    [
      'that fails after its answer',
      () => writeSigner('late', key, `console.log(JSON.stringify({ signature })); process.exitCode = 4`),
      'failed with exit code 4',
    ],
    [
      'that stays after its answer',
      () => writeSigner('stays', key, `console.log(JSON.stringify({ signature })); setInterval(() => 0, 1e6)`),
      'did not end within',
    ],
    ['that signs with another key', () => writeSigner('other', other), 'does not verify'],
    [
      'that signs something else',
      () =>
        writeSigner(
          'else',
          key,
          `console.log(JSON.stringify({ signature: sign(null, Buffer.from('x'), key).toString('base64url') }))`,
        ),
      'does not verify',
    ],
    [
      'that adds a member',
      () => writeSigner('adds', key, `console.log(JSON.stringify({ signature, kid: 'x' }))`),
      'answered something else',
    ],
    ['that does not exist', () => join(dir, 'missing'), 'is not a regular file'],
    ['that is named by a relative path', () => 'sign', 'must be an absolute path'],
    ['that others can change', () => open(writeProgram('open', ['exit 0'])), 'can be replaced by others'],
    ['in a folder that others can change', () => writeInOpenFolder(), 'can be replaced by others'],
    ['without an interpreter', () => writeProgram('broken', [], '/missing/interpreter'), 'could not be started'],
  ])('%s', async (_, create, fault) => {
    const limit_ms = fault.includes('300 ms') ? 300 : fault.includes('did not end') ? 1_000 : 5_000
    const stored: StoredKey = { public_key: key.public_key, signing_command: runBy(create(), false, limit_ms) }
    const error = await signWithKeys([stored], 'keyset', payload).catch((thrown: Error) => thrown)
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining(fault) })
    expect(String(error)).not.toContain('1234')
  })
})

function open(program: string): string {
  chmodSync(program, 0o722)
  return program
}

function writeInOpenFolder(): string {
  mkdirSync(join(dir, 'shared'))
  chmodSync(join(dir, 'shared'), 0o777)
  return writeProgram('shared/sign', ['exit 0'])
}

test('a key is connected only after a signature, once, and never from a private key', async () => {
  const key = await createKey(createKeyFolderPath(), 'message', 'ES384')
  const other = await createKey(createKeyFolderPath(), 'message', 'ES384')
  const folder = createKeyFolderPath()
  const pem = readPem(key.public_key)
  const connectBy = (program: string, text = pem) =>
    connectKey(folder, { use: 'message', pem: text, command: runBy(program), now: noon })
  await expect(connectBy(writeSigner('wrong', other))).rejects.toThrow('does not verify')
  expect(existsSync(folder)).toBe(false)
  const program = writeSigner('right', key)
  const private_pem = createPrivateKey({ key: key.private_jwk as never, format: 'jwk' })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString()
  await expect(connectBy(program, private_pem)).rejects.toThrow('must be a PEM file')
  const { kid } = await connectBy(program)
  await expect(connectBy(program)).rejects.toThrow('is in the folder already')
  revokeKey(folder, kid)
  expect(readKeyFiles(folder).map(hasPrivateHalf)).toEqual([false])
})

test('a key file has one private half, and a command is for root and message keys', async () => {
  const { public_key, private_jwk } = await createKey(createKeyFolderPath(), 'message')
  const signing_command = runBy('/bin/sign')
  expect(storedKey.safeParse({ public_key, signing_command }).success).toBe(true)
  expect(storedKey.safeParse({ public_key, private_jwk, signing_command }).success).toBe(false)
  expect(storedKey.safeParse({ public_key: { ...public_key, use: 'token' }, signing_command }).success).toBe(false)
})
