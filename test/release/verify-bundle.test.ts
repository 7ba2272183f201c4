// The verification of a release bundle: what it accepts, and each way in which a bundle is refused.
import { generateKeyPairSync, sign } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { verifyBundle } from '../../daemon/offline/bundle/verify-bundle.ts'
import { OfflineCommandError } from '../../daemon/offline/offline-command-error.ts'
import { buildSmallBundle, type SmallBundle, sealAgain, writeReleaseKeys } from '../support/release/build-bundle.ts'

const now = Date.parse('2026-12-01T00:00:00Z')

/** The failures for which the bundle is refused; empty for one that is accepted. */
function listFailures(
  { folder, keys }: Pick<SmallBundle, 'folder' | 'keys'>,
  arch: 'x64' | 'arm64' = 'x64',
): readonly string[] {
  try {
    verifyBundle({ folder, keys, arch, now })
    return []
  } catch (error) {
    if (!(error instanceof OfflineCommandError) || error.exit !== 5) throw error
    return error.details
  }
}

const ed25519_file = 'signatures/manifest.json.ed25519.sig'
const ml_dsa_file = 'signatures/manifest.json.ml-dsa.sig'

test('a bundle is accepted as a folder and as an archive, and its signers are named', () => {
  const bundle = buildSmallBundle()
  for (const folder of [bundle.folder, bundle.archive]) {
    const { manifest, signed_by } = verifyBundle({ folder, keys: bundle.keys, arch: 'x64', now })
    expect(manifest).toMatchObject({ version: '1.2.3', arch: 'x64', commit: 'a'.repeat(40) })
    expect(signed_by.map(({ algorithm, file }) => `${algorithm} ${file}`)).toEqual([
      'Ed25519 ed25519.pem',
      'ML-DSA ml-dsa.pem',
    ])
  }
})

const changes: readonly (readonly [string, (folder: string) => void, readonly string[]])[] = [
  ['a missing file', (at) => rmSync(path.join(at, 'docs/guide.md')), ['docs/guide.md: is missing']],
  [
    'an extra file',
    (at) => writeFileSync(path.join(at, 'docs/extra.md'), ''),
    ['docs/extra.md: is not in the manifest'],
  ],
  ['an extra folder', (at) => mkdirSync(path.join(at, 'more')), ['more: is a folder that is not in the manifest']],
  ['a hidden file', (at) => writeFileSync(path.join(at, '.profile'), ''), ['.profile: is not in the manifest']],
  [
    'a third signature',
    (at) => writeFileSync(path.join(at, 'signatures/a.sig'), ''),
    ['signatures/a.sig: is not in the manifest'],
  ],
  ['a longer file', (at) => appendFileSync(path.join(at, 'docs/guide.md'), 'x'), ['docs/guide.md: has 9 bytes, not 8']],
  [
    'a changed file',
    (at) => writeFileSync(path.join(at, 'docs/guide.md'), '# Guise\n'),
    ['docs/guide.md: has the SHA-256 '],
  ],
  ['a mode', (at) => chmodSync(path.join(at, 'docs/guide.md'), 0o755), ['docs/guide.md: has the mode 0755, not 0644']],
  ['a setuid bit', (at) => chmodSync(path.join(at, 'platform'), 0o4755), ['platform: has the mode 4755, not 0755']],
  ['a writable folder', (at) => chmodSync(path.join(at, 'docs'), 0o777), ['docs: has the mode 0777, not 0755']],
  ['a link for a file', linkGuide, ['docs/guide.md: is a link or a device']],
  ['a link for a folder', linkDocs, ['docs/guide.md: is missing', 'docs: is a link or a device']],
  ['no manifest', (at) => rmSync(path.join(at, 'manifest.json')), ['manifest.json: is missing']],
  [
    'no second signature',
    (at) => rmSync(path.join(at, ml_dsa_file)),
    [`${ml_dsa_file}: the signature by ML-DSA is missing`],
  ],
  [
    'no first signature',
    (at) => rmSync(path.join(at, ed25519_file)),
    [`${ed25519_file}: the signature by Ed25519 is missing`],
  ],
  [
    'one signature in place of the other',
    (at) => cpSync(path.join(at, ed25519_file), path.join(at, ml_dsa_file)),
    [`${ml_dsa_file}: no known key of ML-DSA verifies this signature`],
  ],
]

function linkGuide(folder: string): void {
  renameSync(path.join(folder, 'docs/guide.md'), path.join(folder, '../guide.md'))
  symlinkSync('../../guide.md', path.join(folder, 'docs/guide.md'))
}

function linkDocs(folder: string): void {
  renameSync(path.join(folder, 'docs'), path.join(folder, '../docs'))
  symlinkSync('../docs', path.join(folder, 'docs'))
}

test.for(changes)('refused for %s', ([, change, expected]) => {
  const bundle = buildSmallBundle()
  change(bundle.folder)
  const failures = listFailures(bundle)
  expect(failures).toHaveLength(expected.length)
  for (const [at, text] of expected.entries()) expect(failures[at]).toContain(text)
})

test('a manifest that was changed after it was signed is refused by both signatures', () => {
  const bundle = buildSmallBundle()
  const file = path.join(bundle.folder, 'manifest.json')
  writeFileSync(file, readFileSync(file, 'utf8').replace('1.2.3', '1.2.4'))
  expect(listFailures(bundle)).toEqual([
    `${ed25519_file}: no known key of Ed25519 verifies this signature`,
    `${ml_dsa_file}: no known key of ML-DSA verifies this signature`,
  ])
})

test.each([
  ['a path outside', (text: string) => text.replace('docs/guide.md', '../guide.md12')],
  ['a field twice', (text: string) => text.replace('{', '{"arch":"x64",')],
  ['another layout', (text: string) => `${text}\n`],
])('a signed manifest with %s is refused', (_, change) => {
  const bundle = buildSmallBundle()
  const file = path.join(bundle.folder, 'manifest.json')
  const text = change(readFileSync(file, 'utf8'))
  writeFileSync(file, text)
  for (const [key, signature] of [
    ['ed25519', ed25519_file],
    ['ml-dsa', ml_dsa_file],
  ] as const) {
    const secret = readFileSync(path.join(bundle.signing, `${key}.pem`))
    writeFileSync(path.join(bundle.folder, signature), sign(null, Buffer.from(text), secret))
  }
  expect(listFailures(bundle)).toEqual(['manifest.json: is not a manifest of a release in canonical JSON'])
})

test('another architecture is refused, by what the manifest says and by what the executable is', () => {
  const bundle = buildSmallBundle()
  expect(listFailures(bundle, 'arm64')).toEqual(['the bundle is for x64, not for arm64'])
  sealAgain(bundle, 'arm64')
  expect(listFailures(bundle, 'arm64')).toEqual(['platform: is not an executable for arm64'])
})

/** Writes lines above the key. */
function writeAbove(file: string, lines: string): void {
  writeFileSync(file, `${lines}\n${readFileSync(file, 'utf8')}`)
}

test.each([
  ['Not-After: 2026-11-15', ['the key ml-dsa.pem expired at 2026-11-15T00:00:00.000Z']],
  ['Not-After: 2026-10-15T12:00:00Z', ['the key ml-dsa.pem expired at 2026-10-15T12:00:00.000Z']],
  ['Not-Before: 2026-11-15', ['the key ml-dsa.pem is valid only from 2026-11-15T00:00:00.000Z']],
  ['Revoked: 2026-11-20, lost', ['the key ml-dsa.pem is revoked']],
  ['Not-Before: 2026-01-01\nNot-After: 2028-12-31', []],
])('a key with the line %s', (lines, expected) => {
  const bundle = buildSmallBundle()
  writeAbove(path.join(bundle.keys, 'ml-dsa.pem'), lines)
  expect(listFailures(bundle)).toEqual(expected.map((fault) => `${ml_dsa_file}: ${fault}`))
})

test('keys that are unknown, missing or of a weaker parameter set verify nothing', () => {
  const bundle = buildSmallBundle()
  const others = writeReleaseKeys(path.join(bundle.work, 'others'))
  expect(listFailures({ ...bundle, keys: others.keys })).toHaveLength(2)
  rmSync(path.join(bundle.keys, 'ml-dsa.pem'))
  expect(listFailures(bundle)).toEqual([`${ml_dsa_file}: no known key of ML-DSA verifies this signature`])
  const weak = generateKeyPairSync('ml-dsa-44').publicKey.export({ format: 'pem', type: 'spki' })
  writeFileSync(path.join(bundle.keys, 'weak.pem'), weak)
  expect(() => listFailures(bundle)).toThrow('weak.pem is not the public key of a release')
})

test('keys of the bundle itself, private keys and times that cannot be read are refused', () => {
  const bundle = buildSmallBundle()
  cpSync(bundle.keys, path.join(bundle.folder, 'keys'), { recursive: true })
  expect(() => listFailures({ ...bundle, keys: path.join(bundle.folder, 'keys') })).toThrow('are inside the bundle')
  expect(() => listFailures({ ...bundle, keys: bundle.signing })).toThrow('is not the public key of a release')
  writeAbove(path.join(bundle.keys, 'ed25519.pem'), 'Not-After: next year')
  expect(() => listFailures(bundle)).toThrow('Not-After next year is not a time')
})
