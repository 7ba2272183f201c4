// The format as others read it: the vectors in docs/ and a medium made now are held to by our own checks and by the
// Python script in docs/, which shares no line with us; what was altered holds for neither.
import { execFile } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importJwks } from '../../adapters/keys/jose/jwks.ts'
import { joseSignatures } from '../../adapters/keys/jose/signatures.ts'
import { readManifest } from '../../adapters/transport/filedrop/courier/manifest.ts'
import { verifyFile } from '../../adapters/transport/filedrop/inspection/verify-file.ts'
import { whenPresent } from '../support/runner/requires.ts'
import { makeCourierMedium } from './make-courier-medium.ts'

const docs = path.resolve(import.meta.dirname, '../../docs')
const vectors = path.join(docs, 'filedrop-vectors')
const python = process.env.PYTHON_CRYPTOGRAPHY ?? ''
const withPython = whenPresent({
  isPresent: python !== '',
  name: 'Python with cryptography',
  hint: 'name the interpreter in PYTHON_CRYPTOGRAPHY (.ci/run installs it)',
})

let dir: string
let fresh: string
beforeAll(async () => {
  dir = fs.mkdtempSync(path.join(tmpdir(), 'format-'))
  fresh = path.join(dir, 'fresh')
  await makeCourierMedium(fresh)
  // To be made anew they are removed first: signatures differ each time, and a change of the vectors is a change of the format.
  if (process.env.ACCEPT === '1' && !fs.existsSync(vectors)) fs.cpSync(fresh, vectors, { recursive: true })
})
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }))

const media = [
  ['the vectors', () => vectors],
  ['a medium made now', () => fresh],
] as const

function findFolder(media: string): string {
  const found = fs.readdirSync(media, { withFileTypes: true }).find((entry) => entry.isDirectory())
  if (!found) throw new Error(`${media} holds no folder`)
  return path.join(media, found.name)
}

const filesIn = (folder: string) =>
  fs
    .readdirSync(folder)
    .sort()
    .filter((name) => !name.includes('.body.'))

test.each(media)('%s: every message and the manifest hold', async (_, place) => {
  const keys = importJwks(JSON.parse(fs.readFileSync(path.join(place(), 'KEYS.json'), 'utf8')))
  const signatures = joseSignatures({ dir: path.join(dir, 'no-keys') })
  const folder = findFolder(place())
  const seen = []
  for (const name of filesIn(folder).filter((each) => each.includes('.env.'))) {
    const { ok, statement, signers } = await verifyFile(path.join(folder, name), { signatures, keys })
    seen.push([ok, statement?.kind, signers.length])
  }
  expect(seen).toEqual([
    [true, 'contribution', 1],
    [true, 'contribution', 1],
    [true, 'contribution', 1],
    [true, 'inventory', 3],
  ])
  const read = await readManifest(path.join(folder, 'MANIFEST.json'), {
    site: 'bravo',
    signatures,
    peer: async (name) => ({ name, keys, threshold: 3 }),
  })
  expect(read).toMatchObject({ is: 'sound', manifest: { files: { length: 8 } } })
})

/** One line of the script's answer for each file, without the folder. */
async function runVerifier(media: string, names?: readonly string[]): Promise<{ exit: number; lines: string[] }> {
  const folder = findFolder(media)
  const files = (names ?? filesIn(folder)).map((name) => path.join(folder, name))
  const words = [path.join(docs, 'verify_filedrop.py'), path.join(media, 'KEYS.json'), ...files]
  const { stdout, exit } = await promisify(execFile)(python, words).then(
    (ended) => ({ stdout: ended.stdout, exit: 0 }),
    (error: { stdout: string; code: number }) => ({ stdout: error.stdout, exit: error.code }),
  )
  const lines = stdout.trimEnd().split('\n')
  return { exit, lines: lines.map((line) => line.replaceAll(`${folder}/`, '')) }
}

withPython.each(media)('%s: the Python script says the same', async (_, place) => {
  const { exit, lines } = await runVerifier(place())
  expect(exit, lines.join('\n')).toBe(0)
  const kid = 'message-[\\w-]{16}'
  const number = (seq: number) => `00000001-${String(seq).padStart(16, '0')}\\.env\\.json`
  const wanted = [
    ...[1, 2, 3].map((seq) => `^${number(seq)}: contribution 1/${seq} of alpha, digest \\w{96}, signed by ${kid}$`),
    `^${number(4)}: inventory 1/4 of alpha, digest \\w{96}, signed by ${kid}, ${kid}, ${kid}$`,
    `^MANIFEST\\.json: manifest of 8 files from alpha, digest \\w{96}, signed by ${kid}, ${kid}, ${kid}$`,
  ]
  expect(lines).toEqual(wanted.map((line) => expect.stringMatching(line)))
})

const first = '00000001-0000000000000001'
const [env, body] = [`${first}.env.json`, `${first}.body.json`]

/** The same bytes but for one place, so that lengths stay. */
function replaceText(text: string, from: string | RegExp, to: string): string {
  const changed = text.replace(from, to)
  if (changed === text) throw new Error('nothing was altered')
  return changed
}

const attacks: readonly (readonly [string, string, (text: string) => string, file: string, says: string])[] = [
  ['another body', body, (text) => replaceText(text, '"number":', '"numbex":'), env, 'the body is not the signed one'],
  [
    'another body beside the manifest',
    body,
    (text) => replaceText(text, '"number":', '"numbex":'),
    'MANIFEST.json',
    'is not the listed file',
  ],
  [
    'another payload',
    env,
    (text) => replaceText(text, /"payload":"(.{40})./, '"payload":"$1_'),
    env,
    'InvalidSignature',
  ],
  [
    'another signature',
    env,
    (text) => replaceText(text, /"signature":"../, '"signature":"__'),
    env,
    'InvalidSignature',
  ],
  [
    'a key that is not pinned',
    env,
    (text) => replaceHeader(text, { kid: 'message-0000000000000000' }),
    env,
    'no signature of a pinned key',
  ],
  [
    'a header that says more',
    env,
    (text) => replaceHeader(text, { crit: ['b64'], b64: false }),
    env,
    'signed for another purpose',
  ],
  [
    'another algorithm',
    env,
    (text) => replaceHeader(text, { alg: 'ES384' }),
    env,
    'the pinned key has another algorithm',
  ],
  ['a key twice', env, (text) => replaceText(text, '{', '{"payload":"",'), env, 'duplicate key'],
]

function replaceHeader(text: string, change: Record<string, unknown>): string {
  const jws = JSON.parse(text)
  const header = JSON.parse(Buffer.from(jws.signatures[0].protected, 'base64url').toString())
  jws.signatures[0].protected = Buffer.from(JSON.stringify({ ...header, ...change })).toString('base64url')
  return JSON.stringify(jws)
}

withPython.each(attacks)('%s does not hold', async (name, file, change, asks, says) => {
  const media = path.join(dir, name.replaceAll(' ', '-'))
  fs.cpSync(vectors, media, { recursive: true })
  const target = path.join(findFolder(media), file)
  fs.writeFileSync(target, change(fs.readFileSync(target, 'utf8')))
  const { exit, lines } = await runVerifier(media, [asks])
  expect([exit, lines]).toEqual([5, [expect.stringContaining('DOES NOT HOLD: ')]])
  expect(lines[0]).toContain(says)
})

withPython('a message under the number of another does not hold', async () => {
  const media = path.join(dir, 'renumbered')
  fs.cpSync(vectors, media, { recursive: true })
  const at = (name: string) => path.join(findFolder(media), name)
  const ninth = '00000001-0000000000000009'
  for (const part of ['env', 'body']) fs.renameSync(at(`${first}.${part}.json`), at(`${ninth}.${part}.json`))
  const { exit, lines } = await runVerifier(media, [`${ninth}.env.json`])
  expect([exit, lines[0]]).toEqual([5, expect.stringContaining('the file name has another number')])
})
